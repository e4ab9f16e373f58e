/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packets of clients and abusers come at random moments, so many in every period of their rate;
 * those of the flood evenly between them, each source in one place of the stream or scattered.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abuser.h"
#include "config.h"
#include "diag.h"
#include "host_table.h"
#include "model.h"
#include "policy.h"
#include "random.h"
#include "util.h"

#define NSEC_PER_SEC 1000000000ULL
#define UPTIME (100000 * NSEC_PER_SEC) /* when the flood begins */
#define MIX 0x9e3779b97f4a7c15ULL      /* as in bpf/charge.h */

/* One packet of a client or an abuser. */
struct arrival {
	uint64_t at;
	uint32_t who; /* abusers come first */
};

struct storm {
	const struct abuser_plan *plan;
	struct host_table table;
	struct model_bucket *buckets; /* of abusers and clients */
	struct arrival *arrivals;
	size_t n_arrivals;
	uint64_t random;
	struct abuser_result result;
};

static uint64_t next_word(void *context)
{
	return random_next(context);
}

static bool compile(const struct config *config, uint64_t tick, struct diag *diag,
		    struct stile_limiter *ret_limiter)
{
	uint64_t seed = 1;
	const struct policy_machine machine = { .tick = tick,
						.random = next_word,
						.context = &seed };
	struct policy policy;

	if (policy_compile(config, NULL, &machine, diag, &policy))
		return false;
	*ret_limiter = policy.kernel.limiters[1];
	policy_release(&policy);
	return true;
}

bool abuser_limiter(const char *settings, uint64_t tick, struct stile_limiter *ret_limiter)
{
	struct config config;
	struct diag diag;
	char text[1024];
	bool good = false;

	snprintf(text, sizeof(text),
		 "rate_limiters: {storm: {%s}}\n"
		 "listeners: {web: {protocol: tcp, ports: [80], rate_limiter_name: storm}}\n"
		 "interfaces: {lo: {}}\n",
		 settings);
	diag_init(&diag, "storm");
	if (config_parse(text, strlen(text), &diag, &config) == 0) {
		good = compile(&config, tick, &diag, ret_limiter);
		config_release(&config);
	}
	if (!good)
		diag_print(&diag, stdout);
	diag_release(&diag);
	return good;
}

static int by_time(const void *left, const void *right)
{
	const struct arrival *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->who < b->who ? -1 : a->who > b->who;
}

/* One packet at a random moment of each period. */
static void arrive(struct storm *storm, uint32_t who, unsigned int rate)
{
	const uint64_t period = NSEC_PER_SEC / rate;

	for (uint64_t start = 0; start + period <= storm->plan->duration; start += period)
		storm->arrivals[storm->n_arrivals++] = (struct arrival){
			.at = UPTIME + start + random_below(&storm->random, period),
			.who = who,
		};
}

static bool schedule(struct storm *storm)
{
	const struct abuser_plan *plan = storm->plan;
	const uint64_t seconds = plan->duration / NSEC_PER_SEC + 1;
	const size_t n = seconds * ((size_t)plan->abusers * plan->abuser_rate +
				    (size_t)plan->clients * plan->client_rate);

	storm->arrivals = calloc(n, sizeof(*storm->arrivals));
	storm->buckets = calloc(plan->abusers + plan->clients, sizeof(*storm->buckets));
	if (!storm->arrivals || !storm->buckets)
		return false;
	for (uint32_t who = 0; who < plan->abusers + plan->clients; who++)
		arrive(storm, who, who < plan->abusers ? plan->abuser_rate : plan->client_rate);
	qsort(storm->arrivals, storm->n_arrivals, sizeof(*storm->arrivals), by_time);
	return true;
}

/* Whether the table lets a packet from @address in, at @now by the limiter's clock. */
static bool send_packet(struct storm *storm, uint32_t address, uint64_t now)
{
	const struct address source = { { 0, swap64(KEY_MAPPED << 32 | address) } };
	const struct table_event event = {
		.key = key_of(storm->table.limiter, &source),
		.now = now,
		.random = (uint32_t)(random_next(&storm->random) * MIX >> 32),
	};
	struct host_work work = {};
	enum table_answer answer = host_table_charge(&storm->table, &event, &work);

	storm->result.evictions += work.evictions;
	return answer == TABLE_ALLOWED;
}

static uint64_t clock_at(const struct abuser_plan *plan, uint64_t time)
{
	return plan->tick ? time - time % plan->tick : time;
}

static void send_known(struct storm *storm, const struct arrival *arrival)
{
	const struct abuser_plan *plan = storm->plan;
	const uint64_t now = clock_at(plan, arrival->at);
	struct model_bucket *bucket = &storm->buckets[arrival->who];
	bool exact = model_admits(plan->limiter, bucket, now);
	bool admitted = send_packet(storm, 0x0a000000 + arrival->who, now);

	if (exact)
		model_charge(plan->limiter, bucket, now);
	if (arrival->who < plan->abusers) {
		storm->result.abuser_sent++;
		storm->result.abuser_exact += exact;
		storm->result.abuser_admitted += admitted;
	} else {
		storm->result.client_sent++;
		storm->result.client_refused += exact && !admitted;
	}
}

/* The n-th packet of the flood. */
static void send_forged(struct storm *storm, uint64_t n)
{
	const struct abuser_plan *plan = storm->plan;
	const uint64_t lanes = plan->between + 1;
	const uint64_t block = n / (lanes * plan->packets);
	const uint64_t source = block * lanes + n % lanes;
	/* 2^31 addresses in a scattered order, none of them a client's. */
	const uint32_t address = (uint32_t)(source * 2654435761U) | 0x80000000;
	const uint64_t time =
		UPTIME + (uint64_t)((unsigned __int128)n * NSEC_PER_SEC / plan->flood);

	storm->result.flood_sent++;
	storm->result.flood_admitted += send_packet(storm, address, clock_at(plan, time));
}

static void run(struct storm *storm)
{
	const struct abuser_plan *plan = storm->plan;
	const uint64_t n_forged =
		(uint64_t)((unsigned __int128)plan->duration * plan->flood / NSEC_PER_SEC);
	uint64_t forged = 0;

	for (size_t i = 0; i < storm->n_arrivals; i++) {
		const uint64_t since = storm->arrivals[i].at - UPTIME;
		const uint64_t before =
			(uint64_t)((unsigned __int128)since * plan->flood / NSEC_PER_SEC);

		while (forged < before && forged < n_forged)
			send_forged(storm, forged++);
		send_known(storm, &storm->arrivals[i]);
	}
}

bool abuser_run(const struct abuser_plan *plan, struct abuser_result *ret_result)
{
	const size_t bytes = plan->limiter->sets * sizeof(union host_set);
	struct storm storm = { .plan = plan, .random = plan->seed };
	bool good;

	storm.table.limiter = plan->limiter;
	storm.table.sets = aligned_alloc(sizeof(union host_set), bytes);
	good = storm.table.sets && schedule(&storm);
	if (good) {
		memset(storm.table.sets, 0, bytes);
		run(&storm);
		*ret_result = storm.result;
	}
	free(storm.table.sets);
	free(storm.arrivals);
	free(storm.buckets);
	return good;
}
