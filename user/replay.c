/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * It happens in a network namespace of its own: the program asks for sockets, and those of this
 * host have nothing to do with yesterday's packets.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "../bpf/parse.h"
#include "loader.h"
#include "loader_replay.h"
#include "replay.h"
#include "snapshot_maps.h"
#include "util.h"

#define REPLAY_LOOPBACK 1	       /* ifindex in a new namespace, where test runs arrive */
#define REPLAY_DAY 86400000000000ULL   /* ns: buckets that are new must not look like old ones */
#define REPLAY_PLACES_FIRST (1U << 12) /* of the table of clients, a power of two */
#define REPLAY_PROGRESS_EVERY 0x3fffU  /* packets */

static int fail(struct replay *replay, const char *what, int error)
{
	snprintf(replay->reason, sizeof(replay->reason), "%s: %s", what, strerror(-error));
	return -1;
}

static size_t hash_client(const uint8_t address[16], uint32_t listener)
{
	uint64_t words[2];

	memcpy(words, address, sizeof(words));
	words[0] = (words[0] ^ words[1] * 0x9e3779b97f4a7c15ULL ^ listener) * 0xff51afd7ed558ccdULL;
	return words[0] >> 32;
}

/* The place of a client; the table always has one that is free. */
static struct replay_client *find_place(struct replay_client *clients, size_t n_places,
					const uint8_t address[16], uint32_t listener)
{
	size_t at = hash_client(address, listener) & (n_places - 1);

	while (clients[at].listener &&
	       (clients[at].listener != listener || memcmp(clients[at].address, address, 16) != 0))
		at = (at + 1) & (n_places - 1);
	return &clients[at];
}

static int grow(struct replay *replay)
{
	size_t n_places = replay->n_places ? replay->n_places * 2 : REPLAY_PLACES_FIRST;
	struct replay_client *clients = calloc(n_places, sizeof(*clients));

	if (!clients)
		return -ENOMEM;
	for (size_t i = 0; i < replay->n_places; i++) {
		const struct replay_client *client = &replay->clients[i];

		if (client->listener)
			*find_place(clients, n_places, client->address, client->listener) = *client;
	}
	free(replay->clients);
	replay->clients = clients;
	replay->n_places = n_places;
	return 0;
}

static struct replay_client *find_client(struct replay *replay, const struct stile_replay *ruling)
{
	struct replay_client *client;

	if (replay->n_clients * 2 >= replay->n_places && grow(replay) < 0)
		return NULL;
	client = find_place(replay->clients, replay->n_places, ruling->source, ruling->listener);
	if (client->listener)
		return client;
	if (replay->n_clients == REPLAY_CLIENTS_MAX)
		return NULL;
	replay->n_clients++;
	client->listener = ruling->listener;
	memcpy(client->address, ruling->source, sizeof(client->address));
	return client;
}

/* What a ruling adds to: NULL where it is not of an event that limiters are asked about. */
static uint64_t *find_count(struct replay_client *client, const struct stile_replay *ruling)
{
	switch (ruling->reason) {
	case STILE_REASON_ALLOWED:
	case STILE_REASON_EXEMPT:
	case STILE_REASON_UNLIMITED:
		return &client->admitted;
	case STILE_REASON_COUNTED:
		return &client->counted;
	case STILE_REASON_LIMITED:
		return &client->refused;
	case STILE_REASON_FULL:
		return ruling->verdict == STILE_VERDICT_PASS ? &client->admitted : &client->refused;
	default:
		return NULL;
	}
}

static void count(struct replay *replay, const struct stile_replay *ruling)
{
	struct replay_client none, *client;

	replay->judged++;
	if (ruling->verdict < _STILE_VERDICT_MAX && ruling->reason < _STILE_REASON_MAX)
		replay->verdicts.count[ruling->verdict][ruling->reason]++;
	if (!ruling->listener || !find_count(&none, ruling))
		return;
	client = find_client(replay, ruling);
	if (client)
		(*find_count(client, ruling))++;
	else
		replay->untold++;
}

/* Whether @packet goes to one of the servers; what cannot be read is the program's to tell. */
static bool goes_to_server(const struct replay *replay, const struct capture_packet *packet)
{
	struct pkt pkt = {};

	if (!replay->n_servers ||
	    parse(packet->frame, packet->frame + packet->size, &pkt) != PARSE_OK)
		return true;
	for (size_t i = 0; i < replay->n_servers; i++) {
		if (prefix_contains(&replay->servers[i], (const uint8_t *)&pkt.destination))
			return true;
	}
	return false;
}

/* The program's time: it never goes back, and windows begin where the wall clock's do. */
static int keep_time(struct replay *replay, const struct capture_packet *packet)
{
	if (replay->packets == 1)
		replay->first = replay->last = packet->time;
	if (packet->time >= replay->last) {
		replay->last = packet->time;
		return 0;
	}
	replay->reordered++;
	if (replay->last - packet->time <= REPLAY_STEP_BACK_MAX)
		return 0;
	snprintf(replay->reason, sizeof(replay->reason),
		 "packet %llu: its time is %.3f s before that of an earlier one; "
		 "reordercap sorts a capture by time",
		 (unsigned long long)replay->packets, (double)(replay->last - packet->time) / 1e9);
	return -1;
}

static int judge(struct replay *replay, const struct loader *loader,
		 const struct capture_packet *packet)
{
	struct stile_replay ruling;
	uint64_t begin;
	char what[48];
	int error;

	replay->packets++;
	if (keep_time(replay, packet) < 0)
		return -1;
	begin = replay->first - replay->first % STILE_WINDOW_NS_MAX;
	replay->cut += packet->is_cut;
	replay->outgoing += packet->is_outgoing;
	if (packet->is_outgoing)
		return 0;
	if (!goes_to_server(replay, packet)) {
		replay->elsewhere++;
		return 0;
	}
	if (packet->size < ETH_HLEN)
		return 0;
	error = loader_replay_frame(loader, packet->frame, packet->size,
				    REPLAY_DAY + replay->last - begin, &ruling);
	if (error) {
		snprintf(what, sizeof(what), "packet %llu", (unsigned long long)replay->packets);
		return fail(replay, what, error);
	}
	count(replay, &ruling);
	return 0;
}

static int judge_all(struct replay *replay, const struct loader *loader, struct capture *capture)
{
	char reason[CAPTURE_REASON_SIZE];
	struct capture_packet packet;
	int more;

	while ((more = capture_next(capture, &packet, reason)) == 1) {
		if (judge(replay, loader, &packet) < 0)
			return -1;
		if (replay->progress && (replay->packets & REPLAY_PROGRESS_EVERY) == 0)
			replay->progress(replay, packet.position);
	}
	if (more < 0)
		snprintf(replay->reason, sizeof(replay->reason), "packet %llu: %s",
			 (unsigned long long)replay->packets + 1, reason);
	return more;
}

static int read_decisions(struct replay *replay, const struct policy *policy,
			  const struct loader *loader)
{
	int fd = loader_map(loader, "decisions"), error;

	for (uint32_t slot = 1; slot < STILE_ATTACHMENTS_MAX; slot++) {
		if (!policy->kernel.attachments[slot].limiter)
			continue;
		error = snapshot_maps_sum(fd, slot, &replay->decisions[slot],
					  sizeof(replay->decisions[slot]));
		if (error < 0)
			return fail(replay, "read what was decided", error);
	}
	return 0;
}

/* Connections end without the program being told: whoever counts places would refuse too many. */
static void prepare(struct policy *policy)
{
	struct stile_policy *kernel = &policy->kernel;

	kernel->replays = 1;
	kernel->watchdog = STILE_WATCHDOG_KEEP;
	kernel->connections = 0;
	kernel->accept_limits = 0;
	kernel->proves = 0;
	if (*kernel->interfaces[0].name)
		kernel->interfaces[0].ifindex = REPLAY_LOOPBACK;
	for (size_t slot = 0; slot < STILE_LIMITERS_MAX; slot++) {
		if (kernel->limiters[slot].algorithm == STILE_ALGORITHM_CONCURRENCY)
			kernel->limiters[slot].action = STILE_ACTION_COUNT;
	}
}

int replay_run(struct replay *replay, struct policy *policy, struct capture *capture)
{
	struct loader_kept kept;
	struct loader *loader;
	size_t n = 0;
	int result;

	memset(&kept, -1, sizeof(kept));
	prepare(policy);
	if (unshare(CLONE_NEWNET) < 0)
		return fail(replay, "make a network namespace (it takes root)", -errno);
	result = loader_load(policy, &kept, &loader);
	if (result < 0)
		return fail(replay, "load the program (it takes root)", result);
	result = judge_all(replay, loader, capture);
	if (result == 0)
		result = read_decisions(replay, policy, loader);
	loader_free(loader);
	for (size_t i = 0; i < replay->n_places; i++) {
		if (replay->clients[i].listener)
			replay->clients[n++] = replay->clients[i];
	}
	return result;
}

void replay_release(struct replay *replay)
{
	free(replay->clients);
	replay->clients = NULL;
}
