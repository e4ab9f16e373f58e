/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What takes long, and holds until the next boot, is taken over from the policy in force. */
#include <sys/random.h>
#include <time.h>

#include "apply.h"
#include "apply_machine.h"
#include "loader.h"

static uint64_t random_word(void *context)
{
	uint64_t word = 0;

	(void)context; /* the kernel's own source needs none */
	while (getrandom(&word, sizeof(word), 0) != sizeof(word))
		continue; /* a signal, before the source was ready */
	return word;
}

/* It takes tens of milliseconds. */
static void find_queue(const struct config *config, const struct stile_policy *before,
		       struct policy_machine *machine)
{
	bool wanted = false;

	for (size_t i = 0; i < config->n_listeners; i++)
		wanted = wanted || config->listeners[i].queue.limit ||
			 config->listeners[i].proves != STILE_PROVE_NEVER;
	if (before && before->queue_backlog) {
		machine->queue_length = before->queue_length;
		machine->queue_backlog = before->queue_backlog;
		machine->queue_young = before->queue_young;
	} else if (wanted) {
		/* What it could not find stays 0, and is warned of by the policy. */
		(void)loader_find_queue(machine);
	}
}

static int find_latest(uint64_t generation, void *context)
{
	uint64_t *latest = context;

	*latest = generation > *latest ? generation : *latest;
	return 0;
}

/* Why sources cannot be proven here; NULL: they can, or nobody asks for it. */
static const char *find_proofs(const struct config *config, const struct stile_policy *before)
{
	bool wanted = before && before->proves;

	for (size_t i = 0; i < config->n_listeners; i++)
		wanted = wanted || config->listeners[i].proves != STILE_PROVE_NEVER;
	if (wanted && !loader_can_admit())
		return "this kernel cannot make connections of proofs (Linux 6.9 can)";
	if (wanted && !apply_takes_cookies())
		return "net.ipv4.tcp_syncookies is 0, and the kernel takes no cookie then: set it "
		       "to 1";
	return NULL;
}

int apply_machine_ask(const struct pins *pins, const struct config *config,
		      const struct stile_policy *before, struct policy_machine *ret_machine)
{
	struct policy_machine machine = { .random = random_word };
	struct timespec since;
	int error;

	error = loader_measure_clock(&machine.tick, &machine.tick_base);
	if (error)
		return error;
	(void)clock_gettime(CLOCK_BOOTTIME, &since); /* cannot fail: the clock exists */
	find_queue(config, before, &machine);
	(void)pins_each_generation(pins, find_latest, &machine.generation); /* none: none begun */
	machine.handshake = apply_handshake_life();
	machine.offer = apply_offer();
	machine.proofs_reason = find_proofs(config, before);
	machine.since = (uint64_t)since.tv_sec * 1000000000 + (uint64_t)since.tv_nsec;
	*ret_machine = machine;
	return 0;
}
