/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One bucket at chosen moments: edges of windows, clocks that differ, the highest limits, and every
 * packed field as it wraps. test_model.c walks at random between them.
 */
#include <stdint.h>

#include "bucket.h"
#include "check.h"
#include "random.h"
#include "util.h"

#define S 1000000000ULL
#define STATE(number, previous, current)                                                           \
	((__u64)(number) << 40 | (__u64)(previous) << 20 | (__u64)(current))
#define NUMBERS (BUCKET_NUMBER_MASK + 1)

static struct stile_limiter windows_of(enum stile_algorithm algorithm, __u64 limit)
{
	return (struct stile_limiter){ .algorithm = algorithm, .limit = limit, .window = 10 * S };
}

static struct stile_limiter tokens_of(__u64 limit, __u64 window, __u64 burst)
{
	const __u64 token = ((window << STILE_TOKEN_SHIFT) + limit - 1) / limit;

	return (struct stile_limiter){ .algorithm = STILE_ALGORITHM_TOKEN_BUCKET,
				       .limit = limit,
				       .window = window,
				       .burst = burst,
				       .token = token,
				       .depth = burst * token };
}

/* How many events in a row are admitted at @now; *state is charged with them. */
static __u64 admits_at(const struct stile_limiter *limiter, __u64 *state, __u64 now)
{
	__u64 charged, n = 0;

	while (n < 2 * limiter->limit + limiter->burst &&
	       bucket_charge(limiter, *state, now, &charged)) {
		*state = charged;
		n++;
	}
	return n;
}

static void test_sliding_window(void)
{
	static const struct {
		const char *what;
		__u64 limit, state, at, want;
	} rows[] = {
		{ "a new bucket has room for the limit", 20, 0, 35 * S, 20 },
		{ "what is counted is not admitted again", 20, STATE(3, 0, 15), 35 * S, 5 },
		{ "a full window is full to its end", 20, STATE(3, 0, 20), 40 * S - 1, 0 },
		{ "at the edge the window before weighs as much", 20, STATE(3, 0, 20), 40 * S, 0 },
		{ "1 of 20 is gone after a twentieth", 20, STATE(3, 0, 20), 40 * S + S / 2, 1 },
		{ "and not 1 ns before", 20, STATE(3, 0, 20), 40 * S + S / 2 - 1, 0 },
		{ "half after half a window", 20, STATE(3, 0, 20), 45 * S, 10 },
		{ "all but one just before the end", 20, STATE(3, 0, 20), 50 * S - 1, 19 },
		{ "two edges later nothing weighs", 20, STATE(3, 0, 20), 50 * S, 20 },
		{ "both windows weigh", 20, STATE(4, 20, 5), 45 * S, 5 },
		{ "one event of the window before, and a limit of one", 1, STATE(3, 0, 1), 40 * S,
		  0 },
		{ "its fraction is not lost: nothing comes early", 1, STATE(3, 0, 1), 50 * S - 1,
		  0 },
		{ "but when it weighs nothing", 1, STATE(3, 0, 1), 50 * S, 1 },
		{ "more than the limit was counted", 20, STATE(3, 0, 40), 45 * S, 0 },
		{ "and weighs as much as it was", 20, STATE(3, 0, 40), 45 * S + S / 4, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct stile_limiter limiter =
			windows_of(STILE_ALGORITHM_SLIDING_WINDOW, rows[i].limit);
		__u64 state = rows[i].state;

		CHECK_EQ(rows[i].what, admits_at(&limiter, &state, rows[i].at), rows[i].want);
	}
}

static void test_fixed_window(void)
{
	static const struct {
		const char *what;
		__u64 state, at, want;
	} rows[] = {
		{ "a new bucket has room for the limit", 0, 35 * S, 20 },
		{ "a full window is full to its end", STATE(3, 0, 20), 40 * S - 1, 0 },
		{ "the next one is new", STATE(3, 0, 20), 40 * S, 20 },
		{ "whatever came before", STATE(4, 20, 7), 45 * S, 13 },
	};
	const struct stile_limiter limiter = windows_of(STILE_ALGORITHM_FIXED_WINDOW, 20);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		__u64 state = rows[i].state;

		CHECK_EQ(rows[i].what, admits_at(&limiter, &state, rows[i].at), rows[i].want);
	}
}

static void test_token_bucket(void)
{
	const struct stile_limiter limiter = tokens_of(10, S, 20);
	const struct stile_limiter odd = tokens_of(3, S, 1);
	__u64 state = 0, n = 0;

	CHECK_EQ("a new bucket is full", admits_at(&limiter, &state, 5 * S), 20);
	CHECK_EQ("nothing trickles in before its time",
		 admits_at(&limiter, &state, 5 * S + S / 10 - 1), 0);
	CHECK_EQ("a tenth of a second brings one", admits_at(&limiter, &state, 5 * S + S / 10), 1);
	CHECK_EQ("a second brings ten", admits_at(&limiter, &state, 6 * S + S / 10), 10);
	CHECK_EQ("a minute no more than the burst", admits_at(&limiter, &state, 66 * S), 20);
	/* A third of a second is no whole number of 1/64 ns: each token is late, never early. */
	state = 0;
	for (__u64 now = S; now <= 1000 * S; now += S / 300)
		n += admits_at(&odd, &state, now);
	CHECK("three a second and no more", n <= 1 + 3 * 999);
	CHECK("nor a hundredth less, by the steps of time", n >= 1 + 3 * 999 * 99 / 100);
}

/* What one token takes, rounded up to 1/64 ns, is as good as exact at every rate. */
static void test_token_rounding(void)
{
	static const __u64 limits[] = { 1, 3, 7, 999, 65537, STILE_TOKEN_RATE_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct stile_limiter limiter = tokens_of(limits[i], S, 1);
		/* Tokens that the exact rate brings in an hour, and those of the rounded one. */
		const __u64 exact = 3600 * limits[i];
		const __u64 rounded = (3600 * S << STILE_TOKEN_SHIFT) / limiter.token;

		CHECK("never more than the rate", rounded <= exact);
		CHECK("less by two in ten thousand at most", exact - rounded <= exact / 5000);
	}
}

/* The highest limit that a count holds, and what is counted beyond it. */
static void test_highest(void)
{
	struct stile_limiter limiter =
		windows_of(STILE_ALGORITHM_SLIDING_WINDOW, STILE_WINDOW_LIMIT_MAX);
	__u64 state = 0, charged;

	limiter.window = STILE_WINDOW_NS_MAX;
	CHECK_EQ("as many as the limit says", admits_at(&limiter, &state, 0),
		 STILE_WINDOW_LIMIT_MAX);
	CHECK("and no more", !bucket_charge(&limiter, state, 0, &charged));
	CHECK_EQ("counted beyond, the count stays at its top", charged, state);
	CHECK_EQ("and does not run into the window before", charged >> 20, 0);
	CHECK_EQ("half of the next window later", bucket_wait(&limiter, state, 0),
		 STILE_WINDOW_NS_MAX + STILE_WINDOW_NS_MAX / STILE_WINDOW_LIMIT_MAX + 1);
	CHECK_EQ("the weight of the highest count is exact",
		 admits_at(&limiter, &state, STILE_WINDOW_NS_MAX + STILE_WINDOW_NS_MAX / 2),
		 STILE_WINDOW_LIMIT_MAX / 2);

	limiter = tokens_of(STILE_TOKEN_RATE_MAX * 3600, STILE_WINDOW_NS_MAX, 2000000);
	state = 0;
	CHECK_EQ("the highest rate: its burst", admits_at(&limiter, &state, S), 2000000);
	CHECK_EQ("and ten million a second", admits_at(&limiter, &state, S + S / 10), 1000000);
}

/* CPUs read their clocks one after the other, and a virtual one may be behind. */
static void test_clocks_apart(void)
{
	const struct stile_limiter sliding = windows_of(STILE_ALGORITHM_SLIDING_WINDOW, 20);
	const struct stile_limiter fixed = windows_of(STILE_ALGORITHM_FIXED_WINDOW, 20);
	const struct stile_limiter tokens = tokens_of(10, S, 20);
	__u64 state = STATE(4, 10, 5), charged;

	CHECK_EQ("a clock in the window before counts in the newer one",
		 admits_at(&sliding, &state, 40 * S - 1), 5);
	CHECK_EQ("as at its start", state, STATE(4, 10, 10));
	CHECK_EQ("and waits until the window begins, and on", bucket_wait(&sliding, state, 39 * S),
		 1 * S + S);
	state = STATE(100, 20, 20);
	CHECK_EQ("as many windows behind as is allowed for",
		 admits_at(&fixed, &state, (100 - BUCKET_AHEAD_MAX) * 10 * S), 0);
	CHECK_EQ("further behind it is long ago: new",
		 admits_at(&fixed, &state, (100 - BUCKET_AHEAD_MAX - 1) * 10 * S), 20);
	state = 0;
	CHECK_EQ("tokens: all taken", admits_at(&tokens, &state, 100 * S), 20);
	CHECK("a clock that is behind gets none", !bucket_charge(&tokens, state, 90 * S, &charged));
	CHECK_EQ("and takes nothing away", charged, state);
}

static void test_wraps(void)
{
	struct stile_limiter sliding = windows_of(STILE_ALGORITHM_SLIDING_WINDOW, 20);
	const struct stile_limiter tokens = tokens_of(10, S, 20);
	const __u64 wrap = NUMBERS * 10 * S, nine_years = 1ULL << 58;
	__u64 state = 0, now;

	CHECK_EQ("the last window before the number wraps", admits_at(&sliding, &state, wrap - 1),
		 20);
	CHECK_EQ("has the highest number", state, STATE(NUMBERS - 1, 0, 20));
	CHECK_EQ("weighs in the first one after", admits_at(&sliding, &state, wrap), 0);
	CHECK_EQ("half", admits_at(&sliding, &state, wrap + 5 * S), 10);
	CHECK_EQ("and no longer in the second", admits_at(&sliding, &state, wrap + 10 * S), 10);
	/* State 0 carries number 0; near the wrap that looks like a window to come. */
	for (__u64 before = 1; before <= 20; before++) {
		state = 0;
		CHECK_EQ("a new bucket before the wrap",
			 admits_at(&sliding, &state, wrap - before * 10 * S), 20);
		CHECK_EQ("counts in its own window", state, STATE(NUMBERS - before, 0, 20));
	}
	state = STATE(5, 0, 20);
	CHECK_EQ("idle for all numbers but 17: new",
		 admits_at(&sliding, &state, wrap + (5 - 17) * 10 * S), 20);
	/* What the 24 bits cost: seven months of 1s windows later, 17 windows as if of now. */
	state = STATE(5, 0, 20);
	CHECK_EQ("idle for all numbers but 16: never more than the limit",
		 admits_at(&sliding, &state, wrap + (5 - 16) * 10 * S), 0);
	CHECK_EQ("until it is over", admits_at(&sliding, &state, wrap + 7 * 10 * S), 20);

	state = 0;
	now = nine_years - S - 1;
	CHECK_EQ("a burst before nine years are over", admits_at(&tokens, &state, now), 20);
	CHECK_EQ("the clock wraps: what trickled in", admits_at(&tokens, &state, now + S), 10);
	CHECK_EQ("one second on", admits_at(&tokens, &state, now + 2 * S), 10);
	CHECK_EQ("as new two seconds on", bucket_debt(&tokens, state, now + 4 * S), 0);
	state = 0;
	CHECK_EQ("an arrival time of 0 is not taken for a new bucket: 1/64 ns is lost",
		 admits_at(&tokens, &state, now + 1), 19);
	state = 0;
	CHECK_EQ("a new bucket after seven years", admits_at(&tokens, &state, nine_years / 4 * 3),
		 20);
	CHECK_EQ("idle for years", admits_at(&tokens, &state, nine_years + nine_years / 4), 20);
}

static void test_wait(void)
{
	static const struct {
		const char *what;
		enum stile_algorithm algorithm;
		__u64 limit, state, at, want;
	} rows[] = {
		{ "a new bucket: now", STILE_ALGORITHM_SLIDING_WINDOW, 20, 0, 35 * S, 0 },
		{ "full in this window: until the next has gone on", STILE_ALGORITHM_SLIDING_WINDOW,
		  20, STATE(3, 0, 20), 35 * S, 5 * S + S / 2 },
		{ "the window before weighs too much", STILE_ALGORITHM_SLIDING_WINDOW, 20,
		  STATE(3, 20, 15), 30 * S, 8 * S },
		{ "rounded up", STILE_ALGORITHM_SLIDING_WINDOW, 3, STATE(3, 0, 3), 40 * S,
		  (10 * S + 2) / 3 },
		{ "a limit of one: all of the next window", STILE_ALGORITHM_SLIDING_WINDOW, 1,
		  STATE(3, 0, 1), 35 * S, 15 * S },
		{ "a limit of one in a fixed window", STILE_ALGORITHM_FIXED_WINDOW, 1,
		  STATE(3, 0, 1), 35 * S, 5 * S },
		{ "far over the limit", STILE_ALGORITHM_SLIDING_WINDOW, 20, STATE(3, 0, 190),
		  39 * S, S + 9 * S },
	};
	const struct stile_limiter tokens = tokens_of(3, S, 1);
	__u64 state = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct stile_limiter limiter = windows_of(rows[i].algorithm, rows[i].limit);

		CHECK_EQ(rows[i].what, bucket_wait(&limiter, rows[i].state, rows[i].at),
			 rows[i].want);
	}
	CHECK_EQ("one token", admits_at(&tokens, &state, S), 1);
	CHECK_EQ("a third of a second, rounded up", bucket_wait(&tokens, state, S), S / 3 + 1);
}

static void test_refund(void)
{
	const struct stile_limiter sliding = windows_of(STILE_ALGORITHM_SLIDING_WINDOW, 20);
	const struct stile_limiter tokens = tokens_of(10, S, 20);
	__u64 state = 0, charged;

	CHECK_EQ("one event less", bucket_refund(&sliding, STATE(3, 7, 9)), STATE(3, 7, 8));
	CHECK_EQ("the window has turned since", bucket_refund(&sliding, STATE(4, 9, 0)),
		 STATE(4, 8, 0));
	CHECK_EQ("nothing to give back", bucket_refund(&sliding, STATE(4, 0, 0)), STATE(4, 0, 0));
	CHECK_EQ("tokens: a new bucket stays new", bucket_refund(&tokens, 0), 0);
	(void)bucket_charge(&tokens, state, 9 * S, &charged);
	CHECK_EQ("a charge that was given back",
		 bucket_debt(&tokens, bucket_refund(&tokens, charged), 9 * S), 0);
	state = 0;
	CHECK_EQ("an empty one", admits_at(&tokens, &state, 9 * S), 20);
	state = bucket_refund(&tokens, state);
	CHECK_EQ("has one again", admits_at(&tokens, &state, 9 * S), 1);
}

/* A bucket without debt and a new one are told the same for ever after. */
static void test_debt(void)
{
	const struct stile_limiter limiters[] = {
		windows_of(STILE_ALGORITHM_SLIDING_WINDOW, 3),
		windows_of(STILE_ALGORITHM_FIXED_WINDOW, 3),
		tokens_of(3, 10 * S, 2),
	};
	uint64_t random = 1;
	unsigned int differ = 0, old_enough = 0;

	for (int round = 0; round < 60000; round++) {
		const struct stile_limiter *limiter = &limiters[round % ARRAY_SIZE(limiters)];
		__u64 now = random_below(&random, 1ULL << 58), old = 0, new = 0;

		for (int i = 0; i < 4; i++)
			(void)bucket_charge(limiter, old, now + random_below(&random, 5 * S), &old);
		now += random_below(&random, 40 * S);
		if (bucket_debt(limiter, old, now))
			continue;
		old_enough++;
		for (int i = 0; i < 8; i++) {
			__u64 old_next, new_next;
			bool admits = bucket_charge(limiter, old, now, &old_next);

			differ += admits != bucket_charge(limiter, new, now, &new_next);
			old = admits ? old_next : old;
			new = admits ? new_next : new;
			now += random_below(&random, 6 * S);
		}
	}
	CHECK("many buckets grew old enough", old_enough > 20000);
	CHECK_EQ("and none of them was told from a new one", differ, 0);
}

CHECK_SUITE(bucket, { "sliding window", test_sliding_window },
	    { "fixed window", test_fixed_window }, { "token bucket", test_token_bucket },
	    { "rounding of tokens", test_token_rounding }, { "the highest limits", test_highest },
	    { "clocks that differ", test_clocks_apart }, { "fields that wrap", test_wraps },
	    { "waits", test_wait }, { "refunds", test_refund },
	    { "without debt is as good as new", test_debt });
