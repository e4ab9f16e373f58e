/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * on_limit: evict-idle. What is asked for is done at once, but no more than so many times a second:
 * each is a look at the sockets of this host. Whoever is left out asks again when its client does.
 */
#include <errno.h>
#include <string.h>

#include <event2/event.h>

#include "apply_evictions.h"
#include "cmd_run_service.h"
#include "evict.h"
#include "log.h"
#include "snapshot.h"
#include "util.h"

#define PER_SECOND 100

struct run_evict {
	struct run *run;
	struct apply_evictions *asked;
	struct event *event;
	struct sockdiag *diag;
	struct snapshot_places *places;
	struct stile_policy policy;
	unsigned int left; /* of this second */
	int error;	   /* of the last one, told once */
};

void run_evict_free(struct run *run)
{
	struct run_evict *evict = run->evict;

	if (!evict)
		return;
	if (evict->event)
		event_free(evict->event);
	apply_evictions_close(evict->asked);
	sockdiag_close(evict->diag);
	snapshot_places_free(evict->places);
	free(evict);
	run->evict = NULL;
}

static void tell(struct run_evict *evict, int error)
{
	if (error && error != -ENOENT && error != evict->error)
		log_warning("on_limit: evict-idle: close an idle connection: %s", strerror(-error));
	if (error != -ENOENT)
		evict->error = error;
}

/* What the limiter takes for a client; without keys, the address. */
static struct prefix client_of(const struct stile_limiter *limiter, const uint8_t address[16])
{
	struct prefix client = { .bits = 128 };

	memcpy(client.address, address, sizeof(client.address));
	if (!limiter->keyed)
		return client;
	client.bits = prefix_is_ipv4(address) ? (uint8_t)(96 + limiter->ipv4_prefix)
					      : limiter->ipv6_prefix;
	prefix_mask(client.address, client.bits);
	return client;
}

static void on_asked(const struct stile_eviction *eviction, void *context)
{
	struct run_evict *evict = context;
	uint32_t listener = eviction->listener;
	struct prefix client;
	int error;

	if (evict->left == 0 || listener >= STILE_LISTENERS_MAX ||
	    eviction->limiter >= STILE_LIMITERS_MAX)
		return;
	evict->left--;
	client = client_of(&evict->policy.limiters[eviction->limiter], eviction->address);
	error = evict_longest_idle(evict->diag, evict->places, &client, listener);
	if (error == 0)
		evict->run->counts.evicted[listener]++;
	tell(evict, error);
}

static void on_readable(evutil_socket_t fd, short what, void *context)
{
	struct run_evict *evict = context;

	(void)fd;
	(void)what; /* something is asked */
	tell(evict, apply_evictions_read(evict->asked));
}

static int follow(struct run_evict *evict)
{
	evict->event = event_new(evict->run->base, apply_evictions_fd(evict->asked),
				 EV_READ | EV_PERSIST, on_readable, evict);
	return evict->event && event_add(evict->event, NULL) == 0 ? 0 : -ENOMEM;
}

static int prepare(struct run *run, const struct stile_policy *policy)
{
	struct run_evict *evict = calloc(1, sizeof(*evict));
	int error;

	if (!evict)
		return -ENOMEM;
	run->evict = evict;
	evict->run = run;
	evict->policy = *policy;
	evict->left = PER_SECOND;
	error = sockdiag_open(&evict->diag);
	if (error == 0)
		error = snapshot_places_read(run->pins, policy, &evict->places);
	if (error == 0)
		error = apply_evictions_open(run->pins, on_asked, evict, &evict->asked);
	return error ? error : follow(evict);
}

static bool is_wanted(const struct stile_policy *policy)
{
	for (size_t i = 1; i < STILE_LISTENERS_MAX; i++)
		if (policy->listeners[i].places & STILE_PLACES_EVICTED)
			return true;
	return false;
}

void run_evict_load(struct run *run)
{
	struct snapshot *snapshot = NULL;
	int error = snapshot_take_load(run->pins, &snapshot);

	run_evict_free(run);
	if (error == 0 && is_wanted(&snapshot->policy))
		error = prepare(run, &snapshot->policy);
	snapshot_free(snapshot);
	if (error == 0)
		return;
	log_warning("on_limit: evict-idle: %s: nothing is evicted", strerror(-error));
	run_evict_free(run);
}

void run_evict_second(struct run *run)
{
	if (run->evict)
		run->evict->left = PER_SECOND;
}
