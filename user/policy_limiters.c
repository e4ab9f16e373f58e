/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a limiter is to the kernel side: times in its units, the size of its table, the clock that
 * is good enough for it, and whether the table it had goes on. Bounds here are those of the state
 * words in bpf/bucket.h and bpf/meta.h.
 */
#include <inttypes.h>
#include <string.h>

#include "../bpf/meta.h"
#include "policy_build.h"

#define NSEC_PER_SEC 1000000000ULL
#define TOKEN_DEPTH_MAX (1ULL << 61) /* 1/64 ns: with the clock's part it stays below 2^63 */
#define TICKS_PER_GRAIN 8 /* a grain of so many ticks is told apart well enough by them */
#define COUNT_TEXT_SIZE 32
#define WAYS_PER_10_CLIENTS 22 /* so full, hardly a set overflows while others have room */

/* The highest limit that @in's algorithm can keep in @in's window. */
static uint64_t limit_max(const struct config_limiter *in)
{
	if (in->algorithm != STILE_ALGORITHM_TOKEN_BUCKET)
		return STILE_WINDOW_LIMIT_MAX;
	return (uint64_t)((unsigned __int128)STILE_TOKEN_RATE_MAX * in->window / NSEC_PER_SEC);
}

/* Too large a number as it was written, or how large it was at least. */
static const char *count_text(uint64_t count, char text[COUNT_TEXT_SIZE])
{
	if (count >= CONFIG_COUNT_OVER)
		snprintf(text, COUNT_TEXT_SIZE, "over %" PRIu64, CONFIG_COUNT_OVER - 1);
	else
		snprintf(text, COUNT_TEXT_SIZE, "%" PRIu64, count);
	return text;
}

static bool check_limit(struct diag *diag, const struct config_limiter *in)
{
	const char *algorithm = policy_algorithm_names[in->algorithm];
	bool tokens = in->algorithm == STILE_ALGORITHM_TOKEN_BUCKET;
	bool unsure = in->unsure & (CONFIG_ALGORITHM | (tokens ? CONFIG_WINDOW : 0));
	uint64_t max = unsure ? CONFIG_COUNT_OVER - 1 : limit_max(in);
	char limit[COUNT_TEXT_SIZE];

	if (in->unsure & CONFIG_LIMIT)
		return false;
	if (in->limit == 0) {
		diag_error(diag, in->name.place, "rate limiter '%s' has no limit", in->name.text);
		return false;
	}
	if (in->limit <= max)
		return !unsure;
	count_text(in->limit, limit);
	if (unsure)
		diag_error(diag, in->limit_place,
			   "limit %s of '%s' is too high: no algorithm takes it in any window",
			   limit, in->name.text);
	else if (in->algorithm == STILE_ALGORITHM_CONCURRENCY)
		diag_error(diag, in->limit_place,
			   "limit %s of '%s' is too high: concurrency counts at most %" PRIu64
			   " connections",
			   limit, in->name.text, max);
	else if (tokens)
		diag_error(diag, in->limit_place,
			   "limit %s of '%s' is too high: %s takes at most %" PRIu64
			   " in this window, %llu a second",
			   limit, in->name.text, algorithm, max, STILE_TOKEN_RATE_MAX);
	else
		diag_error(diag, in->limit_place,
			   "limit %s of '%s' is too high: %s takes at most %" PRIu64
			   ", expected that or algorithm: token_bucket",
			   limit, in->name.text, algorithm, max);
	return false;
}

/* The times of a token bucket, in 1/64 ns. */
static void compile_tokens(struct diag *diag, const struct config_limiter *in,
			   struct stile_limiter *out)
{
	uint64_t window = in->window << STILE_TOKEN_SHIFT; /* an hour takes 48 bits */
	uint64_t burst = in->burst ? in->burst : in->limit;
	uint64_t token = (window + in->limit - 1) / in->limit;
	uint64_t burst_max = TOKEN_DEPTH_MAX / token;
	char text[COUNT_TEXT_SIZE];

	if (in->unsure & CONFIG_BURST)
		return;
	if (burst_max >= CONFIG_COUNT_OVER)
		burst_max = CONFIG_COUNT_OVER - 1;
	if (burst <= burst_max) {
		out->burst = burst;
		out->token = token;
		out->depth = burst * token;
		return;
	}
	diag_error(diag, in->burst_place,
		   "burst %s of '%s' is too large: expected at most %" PRIu64
		   " with this limit and window",
		   count_text(burst, text), in->name.text, burst_max);
}

/* ns that pass until a bucket which was used up is as good as new; for a window, at most. */
static uint64_t lifetime(const struct stile_limiter *limiter)
{
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return limiter->depth >> STILE_TOKEN_SHIFT;
	return 2 * limiter->window;
}

/* While a bucket lives, the time it was last seen must not be taken for another one. */
static uint8_t seen_shift(const struct stile_limiter *limiter)
{
	uint8_t shift = 0;

	while (lifetime(limiter) >> shift >= META_SEEN_MASK)
		shift++;
	return shift;
}

static enum stile_clock clock_for(const struct stile_limiter *limiter, uint64_t tick)
{
	uint64_t grain = limiter->window;

	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		grain = limiter->depth >> STILE_TOKEN_SHIFT;
	return tick && grain / tick >= TICKS_PER_GRAIN ? STILE_CLOCK_TICK : STILE_CLOCK_PRECISE;
}

static void compile_table(const struct config_limiter *in, struct stile_limiter *out)
{
	uint64_t ways;

	out->keyed = in->keyed;
	out->max_keys = 1;
	out->sets = 1;
	if (!in->keyed)
		return;
	out->ipv4_prefix = in->ipv4_prefix;
	out->ipv6_prefix = in->ipv6_prefix;
	out->wide = in->ipv6_prefix > 64;
	out->max_keys = in->max_keys;
	ways = out->wide ? STILE_SET_WAYS_WIDE : STILE_SET_WAYS;
	out->sets = (uint32_t)(((uint64_t)in->max_keys * WAYS_PER_10_CLIENTS + 10 * ways - 1) /
			       (10 * ways));
}

/* Whether buckets mean the same: clients, and what is counted of them. */
static bool has_history(const struct stile_limiter *before, const struct stile_limiter *now)
{
	return strcmp(before->name, now->name) == 0 && before->keyed == now->keyed &&
	       before->wide == now->wide && before->ipv4_prefix == now->ipv4_prefix &&
	       before->ipv6_prefix == now->ipv6_prefix && before->algorithm == now->algorithm &&
	       before->window == now->window &&
	       (before->unit == STILE_UNIT_ESTABLISHMENTS) ==
		       (now->unit == STILE_UNIT_ESTABLISHMENTS) &&
	       (before->unit == STILE_UNIT_DATAGRAMS) == (now->unit == STILE_UNIT_DATAGRAMS);
}

/*
 * Windows hold events, and events they stay. Time stamps of tokens mean something else once a token
 * takes another time; whether there may be more of them or fewer does not matter.
 */
static enum policy_table table_for(const struct stile_limiter *before,
				   const struct stile_limiter *now)
{
	if (!has_history(before, now))
		return POLICY_TABLE_NEW;
	if (before->sets == now->sets && before->hash == now->hash && before->token == now->token &&
	    before->seen_shift >= now->seen_shift)
		return POLICY_TABLE_KEPT;
	return POLICY_TABLE_COPIED;
}

static void compile_history(struct policy_build *build, uint16_t slot)
{
	const struct stile_limiter *before = &build->previous->limiters[slot];
	struct stile_limiter *now = &build->policy->kernel.limiters[slot];
	enum policy_table table = table_for(before, now);

	build->policy->tables[slot] = table;
	now->since = before->since;
	if (table == POLICY_TABLE_NEW) {
		now->since = build->policy->kernel.generation;
		now->seed[0] = build->machine->random(build->machine->context);
		now->seed[1] = build->machine->random(build->machine->context) | 1;
		return;
	}
	memcpy(now->seed, before->seed, sizeof(now->seed));
	/* Coarser ticks than it needs do no harm; other ticks than are in it would. */
	if (table == POLICY_TABLE_KEPT)
		now->seen_shift = before->seen_shift;
}

static void compile_limiter(struct policy_build *build, size_t index)
{
	const struct config_limiter *in = &build->config->limiters[index];
	struct stile_limiter *out = &build->policy->kernel.limiters[build->limiters[index]];
	bool bounded = check_limit(build->diag, in);

	if (in->burst_place.line && in->algorithm != STILE_ALGORITHM_TOKEN_BUCKET &&
	    !(in->unsure & CONFIG_ALGORITHM))
		diag_error(build->diag, in->burst_place,
			   "burst is for algorithm: token_bucket only, and '%s' has %s",
			   in->name.text, policy_algorithm_names[in->algorithm]);
	out->limit = in->limit;
	out->window = in->window;
	out->algorithm = (uint8_t)in->algorithm;
	out->action = (uint8_t)in->action;
	out->unit = (uint8_t)(in->has_unit ? in->unit : STILE_UNIT_UNSET);
	out->full = (uint8_t)in->full;
	out->hash = (uint8_t)in->hash;
	policy_build_places(build, index);
	if (bounded && in->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		compile_tokens(build->diag, in, out);
	out->clock = (uint8_t)clock_for(out, build->machine->tick);
	out->seen_shift = seen_shift(out);
	compile_table(in, out);
	compile_history(build, build->limiters[index]);
}

void policy_build_limiters(struct policy_build *build)
{
	for (size_t i = 0; i < build->config->n_limiters; i++)
		compile_limiter(build, i);
}

uint64_t policy_table_bytes(const struct stile_limiter *limiter)
{
	return (uint64_t)limiter->sets * sizeof(struct stile_set);
}
