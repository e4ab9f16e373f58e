/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kill -9 at moments that nobody chose. Whatever it leaves, the next start goes on from there, and
 * no client is let in once more for it. STILE_FAULT_ROUNDS and STILE_FAULT_SEED set how often, and
 * repeat what was found.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "faults.h"
#include "random.h"
#include "util.h"

#define HIGHEST 30 /* of the limits below */

static const char *const limiters[] = {
	"algorithm: token_bucket, window: 1h, limit: 30",
	"algorithm: token_bucket, window: 1h, limit: 12",
	"algorithm: token_bucket, window: 1h, limit: 20, max_keys: 300",
	"algorithm: token_bucket, window: 1h, limit: 20, max_keys: 300, action: drop",
	"algorithm: token_bucket, window: 1h, limit: 30, max_keys: 200000",
};

static const struct live_storm storm = {
	.from = CLIENT_ONE "," CLIENT_TWO,
	.connections = 10000000,
	.concurrency = 8,
	.timeout_ms = 200,
};

static bool write_config(const struct live *live, const char *limiter, const char *interfaces)
{
	char config[512];

	snprintf(config, sizeof(config),
		 "interfaces: {srv0: {}%s}\n"
		 "rate_limiters: {per-client: {%s}}\n"
		 "listeners: {web: {ports: [80], rate_limiter_name: per-client}}\n"
		 "metrics: {listen: \"127.0.0.1:9466\"}\n",
		 interfaces, limiter);
	return live_write(live, "stile.yaml", config);
}

/* Tokens of one client that have come back, at the most: some rounds take minutes. */
static unsigned int come_back(double seconds)
{
	return (unsigned int)((seconds + 1) * HIGHEST / 3600);
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	(void)ppoll(NULL, 0, &time, NULL); /* no signal comes; and a shorter one would do */
}

/* What a start takes here and now, in ns; 0: it failed. */
static uint64_t measure_start(struct live *live)
{
	uint64_t before = sample_now();

	return live_start_again(live) ? sample_now() - before : 0;
}

/* Another limit, or another size of the table, and perhaps another interface. */
static bool write_next(struct live *live, uint64_t *random)
{
	const char *limiter = limiters[random_below(random, ARRAY_SIZE(limiters))];

	return write_config(live, limiter, random_chance(random, 50) ? ", lo: {}" : "");
}

/* Kills the daemon while it starts, or reloads, and starts it again. False: it did not start. */
static bool fault(struct live *live, uint64_t *random, uint64_t duration)
{
	uint64_t moment = random_below(random, duration);

	if (!write_next(live, random))
		return false;
	if (random_chance(random, 50)) {
		live_stop(live, SIGKILL);
		if (!live_launch(live))
			return false;
	} else {
		(void)kill(live->daemon, SIGHUP);
	}
	sleep_ns(moment);
	live_stop(live, SIGKILL);
	return write_next(live, random) && live_start_again(live);
}

static void test_start_and_reload(void)
{
	uint64_t random = faults_seed(), duration;
	unsigned int rounds = faults_rounds(50);
	struct live_background background;
	struct engine_result result = {};
	autolive struct live live;

	if (!live_begin(&live, "kill-start") || !live_start_web(&live) ||
	    !write_config(&live, limiters[0], ""))
		return;
	duration = measure_start(&live);
	if (!duration || !live_storm_begin(&live, &storm, &background))
		return;
	CHECK("the storm is under way", live_wait_refused(&live, 100));
	for (unsigned int round = 0; round < rounds; round++) {
		if (!CHECK("the next start adopts it", fault(&live, &random, duration)))
			break;
	}
	if (!live_storm_end(&background, &result))
		return;
	CHECK("both clients were let in as often as the highest limit says",
	      result.outcomes[ENGINE_SUCCEEDED] >= 2 * HIGHEST);
	CHECK("and not once more",
	      result.outcomes[ENGINE_SUCCEEDED] <= 2 * (HIGHEST + come_back(result.seconds)));
	printf("%s: %u rounds, %llu connections\n", live.name, rounds,
	       (unsigned long long)result.attempts);
}

/* The first start of all, or the end, is killed; the limit holds after the next start. */
static bool fault_at_the_ends(struct live *live, uint64_t *random, uint64_t duration)
{
	bool at_start = random_chance(random, 50);

	if (at_start) {
		if (!CHECK_EQ("the end is a good one", live_stop(live, SIGTERM), 0) ||
		    !CHECK("and leaves nothing", !live_pinned(live)) || !live_launch(live))
			return false;
	} else {
		(void)kill(live->daemon, SIGTERM);
	}
	sleep_ns(random_below(random, at_start ? duration : duration / 4));
	live_stop(live, SIGKILL);
	return live_start_again(live);
}

/*
 * Protection may have been taken away in between, and what was spent with it; never half of it.
 * What came back is added to *@more.
 */
static void check_limit(struct live *live, unsigned int *more)
{
	static const char *const clients[] = { CLIENT_ONE, CLIENT_TWO };

	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		unsigned int first = live_count_served(live, clients[i], HIGHEST + 5);

		*more += first % HIGHEST + live_count_served(live, clients[i], 3);
	}
	CHECK_EQ("what counts, counts them all",
		 live_metric_now(live, "stile_attached", "interface=\"srv0\""), 1);
}

static void test_first_and_last(void)
{
	uint64_t random = faults_seed(), duration;
	unsigned int rounds = faults_rounds(35), more = 0;
	uint64_t begun = sample_now();
	autolive struct live live;

	if (!live_begin(&live, "kill-ends") || !live_start_web(&live) ||
	    !write_config(&live, limiters[0], ", lo: {}"))
		return;
	duration = measure_start(&live);
	for (unsigned int round = 0; duration && round < rounds; round++) {
		check_limit(&live, &more);
		if (!CHECK("the next start goes", fault_at_the_ends(&live, &random, duration)))
			return;
	}
	check_limit(&live, &more);
	CHECK("the whole limit was let in every time, or nothing of it",
	      more <= 2 * come_back((double)(sample_now() - begun) / 1e9));
	CHECK_EQ("the end is a good one", live_stop(&live, SIGTERM), 0);
	CHECK("and leaves nothing", !live_pinned(&live));
}

CHECK_SUITE(kill, { "while it starts and reloads, in a storm", test_start_and_reload },
	    { "at the very first start, and at the end", test_first_and_last });
