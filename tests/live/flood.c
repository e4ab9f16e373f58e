/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SYNs from forged sources, as fast as one process can send them. Sources come in groups: each
 * sends a few dozen SYNs and is never heard of again, so that at any moment some clients are new,
 * some are spending, and some are refused.
 */
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "faults.h"
#include "traffic/forged.h"
#include "util.h"

#define FIRST_SOURCE 0x0a4e0001U /* 10.78.0.1 */
#define FORGED_MAX (1U << 17)	 /* 10.78.0.0/15 */

static volatile sig_atomic_t stop;

static void on_stop(int number)
{
	(void)number;
	stop = 1;
}

struct flood {
	struct forged syns;
	uint32_t sources;
	int fd;
	struct live_flooded flooded;
};

static void send_group(struct flood *flood, uint32_t source, uint32_t number)
{
	flood->flooded.syns += forged_send(flood->fd, &flood->syns, source, number);
}

/*
 * Ends between two groups, so that every source has sent all its SYNs. Where all have, the last
 * group goes on: one that came back later may have had to make room, and begin anew.
 */
static void run_flood(struct flood *flood)
{
	uint32_t first = 0;

	while (!stop) {
		for (uint32_t number = 0; number < LIVE_FLOOD_SYNS; number++)
			send_group(flood, first, number);
		flood->flooded.sources = first + FORGED_GROUP;
		if (flood->flooded.sources < FORGED_MAX)
			first += FORGED_GROUP;
	}
}

/* All sources in turn, again and again. */
static void run_turns(struct flood *flood)
{
	flood->flooded.sources = flood->sources;
	for (uint32_t number = 0; !stop; number++) {
		for (uint32_t first = 0; first < flood->sources; first += FORGED_GROUP)
			send_group(flood, first, number);
	}
}

__attribute__((noreturn)) static void flood_child(int netns, const struct live_forged *forged,
						  int out)
{
	struct flood flood = { .syns = { .port = forged->port, .first = forged->first },
			       .sources = forged->sources };

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGTERM, on_stop);
	(void)setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE); /* only the test takes longer */
	if (setns(netns, CLONE_NEWNET) < 0)
		_exit(1);
	(void)inet_pton(AF_INET, SERVER_IPV4, &flood.syns.to); /* it is an address */
	flood.fd = forged_socket();
	if (flood.fd < 0)
		_exit(1);
	if (forged->sources)
		run_turns(&flood);
	else
		run_flood(&flood);
	_exit(write(out, &flood.flooded, sizeof(flood.flooded)) != sizeof(flood.flooded));
}

bool live_forge_begin(const struct live *live, const struct live_forged *forged,
		      struct live_background *ret_background)
{
	int ends[2];
	pid_t pid;

	if (!CHECK("the flood gets a pipe", pipe(ends) == 0))
		return false;
	pid = fork();
	if (pid == 0)
		flood_child(live->netns[LIVE_CLIENT], forged, ends[1]);
	close(ends[1]);
	*ret_background = (struct live_background){ .pid = pid, .result = ends[0] };
	return CHECK("the flood begins", pid > 0);
}

/* Answers to the sources go to the client's side, where they end. */
bool live_flood_begin(const struct live *live, struct live_background *ret_background)
{
	const struct live_forged forged = { .first = FIRST_SOURCE, .port = PORT_FLOOD };

	live_shell(live, LIVE_SERVER, "ip route add 10.78.0.0/15 via " CLIENT_ONE);
	return live_forge_begin(live, &forged, ret_background);
}

bool live_flood_end(struct live_background *background, struct live_flooded *ret_flooded)
{
	int status = process_end(background->pid, SIGTERM);
	ssize_t n = read(background->result, ret_flooded, sizeof(*ret_flooded));

	close(background->result);
	background->pid = 0;
	return CHECK("the flood says what it sent",
		     WIFEXITED(status) && WEXITSTATUS(status) == 0 && n == sizeof(*ret_flooded));
}
