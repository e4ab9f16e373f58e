/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places: what each step makes of a state, what the turn of a slice forgets, and a long random walk
 * beside a list of connections that knows each of them.
 */
#include <stdint.h>

#include "bucket.h"
#include "check.h"
#include "random.h"
#include "util.h"

#define S 1000000000ULL
#define SLICE (70 * S)
#define AT(slice) ((slice)*SLICE + S)
#define STATE(slice, waiting, older, current, open)                                                \
	((__u64)(slice) << 54 | (__u64)(waiting) << 44 | (__u64)(older) << 32 |                    \
	 (__u64)(current) << 20 | (__u64)(open))

static struct stile_limiter make_limiter(__u64 limit, __u16 queue)
{
	return (struct stile_limiter){ .algorithm = STILE_ALGORITHM_CONCURRENCY,
				       .limit = limit,
				       .window = SLICE,
				       .queue = queue };
}

static void test_take(void)
{
	static const struct {
		const char *what;
		__u64 state, at;
		bool waited, admits;
		__u64 taken;
	} rows[] = {
		{ "a new bucket has a place", 0, AT(5), false, true, STATE(5, 0, 0, 1, 0) },
		{ "open connections hold places", STATE(5, 0, 0, 0, 20), AT(5), false, false,
		  STATE(5, 0, 0, 1, 20) },
		{ "handshakes do", STATE(5, 0, 0, 20, 0), AT(5), false, false,
		  STATE(5, 0, 0, 21, 0) },
		{ "those of the slice before do", STATE(4, 0, 0, 20, 0), AT(5), false, false,
		  STATE(5, 0, 20, 1, 0) },
		{ "all together do", STATE(5, 0, 6, 7, 7), AT(5), false, false,
		  STATE(5, 0, 6, 8, 7) },
		{ "one less, and there is room", STATE(5, 0, 6, 6, 7), AT(5), false, true,
		  STATE(5, 0, 6, 7, 7) },
		{ "who waits is before a new one", STATE(5, 1, 0, 0, 19), AT(5), false, false,
		  STATE(5, 1, 0, 1, 19) },
		{ "and gets the place", STATE(5, 1, 0, 0, 19), AT(5), true, true,
		  STATE(5, 0, 0, 1, 19) },
		{ "of two that wait, too", STATE(5, 2, 0, 0, 19), AT(5), true, true,
		  STATE(5, 1, 0, 1, 19) },
		{ "who waited finds no place where there is none", STATE(5, 1, 0, 0, 20), AT(5),
		  true, false, STATE(5, 0, 0, 1, 20) },
		{ "a new one gets the place that nobody waits for", STATE(5, 1, 0, 0, 18), AT(5),
		  false, true, STATE(5, 1, 0, 1, 18) },
		{ "a handshake lives into the next slice", STATE(3, 0, 0, 20, 0), AT(4), false,
		  false, STATE(4, 0, 20, 1, 0) },
		{ "and is dead in the one after", STATE(3, 0, 20, 20, 0), AT(5), false, true,
		  STATE(5, 0, 0, 1, 0) },
		{ "connections live", STATE(3, 9, 20, 20, 19), AT(1000), false, true,
		  STATE(1000, 0, 0, 1, 19) },
		{ "slices wrap", STATE(1023, 0, 0, 20, 0), AT(1024), false, false,
		  STATE(0, 0, 20, 1, 0) },
		{ "a CPU ahead of ours has turned the slice", STATE(6, 0, 3, 3, 0), AT(5), false,
		  true, STATE(6, 0, 3, 4, 0) },
		{ "no more handshakes than are counted", STATE(5, 0, 0, 4095, 0), AT(5), false,
		  false, STATE(5, 0, 0, 4095, 0) },
	};
	const struct stile_limiter limiter = make_limiter(20, 0);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		__u64 taken;

		CHECK_EQ(rows[i].what,
			 places_take(&limiter, rows[i].state, rows[i].at, rows[i].waited, &taken),
			 rows[i].admits);
		CHECK_EQ(rows[i].what, taken, rows[i].taken);
	}
}

static void test_end(void)
{
	static const struct {
		const char *what;
		__u64 state;
		__u32 slice;
		enum places_change end;
		__u64 want;
	} rows[] = {
		{ "a handshake that died gives its place back", STATE(5, 0, 0, 2, 3), 5,
		  PLACES_END_FREE, STATE(5, 0, 0, 1, 3) },
		{ "so does one of the slice before", STATE(5, 0, 2, 2, 3), 4, PLACES_END_FREE,
		  STATE(5, 0, 1, 2, 3) },
		{ "which has turned unseen", STATE(4, 0, 0, 2, 3), 4, PLACES_END_FREE,
		  STATE(5, 0, 1, 0, 3) },
		{ "the place of an older one is gone already", STATE(5, 0, 2, 2, 3), 3,
		  PLACES_END_FREE, STATE(5, 0, 2, 2, 3) },
		{ "it takes nobody else's", STATE(5, 0, 0, 2, 3), 4, PLACES_END_FREE,
		  STATE(5, 0, 0, 2, 3) },
		{ "nor more than there are", STATE(5, 0, 2, 0, 3), 5, PLACES_END_FREE,
		  STATE(5, 0, 2, 0, 3) },
		{ "one that succeeded holds it as a connection", STATE(5, 0, 0, 2, 3), 5,
		  PLACES_END_OPEN, STATE(5, 0, 0, 1, 4) },
		{ "however late", STATE(5, 0, 0, 2, 3), 3, PLACES_END_OPEN, STATE(5, 0, 0, 2, 4) },
		{ "one that is asked for again lives on", STATE(5, 0, 2, 2, 3), 4, PLACES_END_RENEW,
		  STATE(5, 0, 1, 3, 3) },
	};
	const struct stile_limiter limiter = make_limiter(20, 0);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what,
			 places_end(&limiter, rows[i].state, AT(5), rows[i].slice, rows[i].end),
			 rows[i].want);
}

static void test_queue(void)
{
	const struct stile_limiter limiter = make_limiter(20, 2);
	__u64 state = STATE(5, 0, 0, 0, 20), full;

	state = places_join(&limiter, state, AT(5));
	CHECK_EQ("one waits", state, STATE(5, 1, 0, 0, 20));
	full = places_join(&limiter, state, AT(5));
	CHECK_EQ("two wait", full, STATE(5, 2, 0, 0, 20));
	CHECK_EQ("and no more", places_join(&limiter, full, AT(5)), full);
	CHECK_EQ("one goes", places_leave(&limiter, full, AT(5), 5), STATE(5, 1, 0, 0, 20));
	CHECK_EQ("one that is not counted any more takes nobody's turn",
		 places_leave(&limiter, full, AT(5), 4), full);
	CHECK_EQ("nobody goes twice", places_leave(&limiter, STATE(5, 0, 0, 0, 20), AT(5), 5),
		 STATE(5, 0, 0, 0, 20));
	CHECK_EQ("a turn of the slice forgets who waits", places_join(&limiter, full, AT(6)),
		 STATE(6, 1, 0, 0, 20));
}

static void test_bounds(void)
{
	const struct stile_limiter limiter = make_limiter(STILE_WINDOW_LIMIT_MAX, STILE_QUEUE_MAX);
	__u64 state =
		STATE(5, PLACES_WAITING_MAX, PLACES_FLIGHT_MAX, PLACES_FLIGHT_MAX, PLACES_OPEN_MAX);

	CHECK_EQ("no count grows into the next: waiting", places_join(&limiter, state, AT(5)),
		 state);
	CHECK_EQ("open", places_open(state), state);
	CHECK_EQ("from a handshake", places_end(&limiter, state, AT(5), 9, PLACES_END_OPEN), state);
	CHECK_EQ("renewed", places_end(&limiter, state, AT(5), 9, PLACES_END_RENEW), state);
	CHECK_EQ("nor shrinks below none", places_close(STATE(5, 1, 1, 1, 0)),
		 STATE(5, 1, 1, 1, 0));
	CHECK_EQ("a connection closes", places_close(STATE(5, 1, 1, 1, 1)), STATE(5, 1, 1, 1, 0));
	CHECK_EQ("the highest limit is reached",
		 bucket_charge(&limiter, STATE(5, 0, 0, 0, PLACES_OPEN_MAX), AT(5), &state), false);
	CHECK_EQ("and there is one below it",
		 bucket_charge(&limiter, STATE(5, 0, 0, 0, PLACES_OPEN_MAX - 1), AT(5), &state),
		 true);
}

static void test_bucket(void)
{
	const struct stile_limiter limiter = make_limiter(20, 0);

	CHECK_EQ("a place is taken back", bucket_refund(&limiter, STATE(5, 0, 1, 2, 3)),
		 STATE(5, 0, 1, 1, 3));
	CHECK_EQ("the slice has turned since", bucket_refund(&limiter, STATE(5, 0, 1, 0, 3)),
		 STATE(5, 0, 0, 0, 3));
	CHECK_EQ("a bucket that nobody holds a place of is as good as new",
		 bucket_debt(&limiter, STATE(5, 0, 0, 9, 0), AT(7)), 0);
	CHECK_EQ("one where somebody waits is not",
		 bucket_debt(&limiter, STATE(5, 1, 0, 0, 0), AT(5)), 1);
	CHECK_EQ("every place is owed", bucket_debt(&limiter, STATE(5, 1, 2, 3, 4), AT(5)), 10);
	CHECK_EQ("room: no wait", bucket_wait(&limiter, STATE(5, 0, 0, 0, 19), AT(5)), 0);
	CHECK_EQ("no room: a second", bucket_wait(&limiter, STATE(5, 0, 0, 0, 20), AT(5)), S);
}

/* What a bucket must say, by a list of everybody who holds a place. */
#define MOST 64

struct holder {
	enum { GONE, IN_FLIGHT, OPEN } is;
	__u64 slice;
};

struct walk {
	uint64_t random;
	__u64 now, state;
	struct stile_limiter limiter;
	struct holder holders[MOST];
};

static unsigned int held(const struct walk *walk)
{
	__u64 slice = walk->now / SLICE;
	unsigned int n = 0;

	for (int i = 0; i < MOST; i++)
		n += walk->holders[i].is == OPEN ||
		     (walk->holders[i].is == IN_FLIGHT && walk->holders[i].slice + 1 >= slice);
	return n;
}

static void begin(struct walk *walk, struct holder *holder)
{
	__u64 taken;

	if (!bucket_charge(&walk->limiter, walk->state, walk->now, &taken))
		return;
	CHECK_EQ("never more than the limit", held(walk) < walk->limiter.limit, true);
	walk->state = taken;
	*holder = (struct holder){ IN_FLIGHT, walk->now / SLICE };
}

static void go_on(struct walk *walk, struct holder *holder)
{
	enum places_change end = random_below(&walk->random, 3);

	walk->state = places_end(&walk->limiter, walk->state, walk->now,
				 holder->slice & (PLACES_SLICES - 1), end);
	holder->is = end == PLACES_END_FREE ? GONE : end == PLACES_END_OPEN ? OPEN : IN_FLIGHT;
	holder->slice = walk->now / SLICE;
}

static void step(struct walk *walk)
{
	struct holder *holder = &walk->holders[random_below(&walk->random, MOST)];

	if (random_chance(&walk->random, 5))
		walk->now += random_below(&walk->random, SLICE);
	switch (holder->is) {
	case GONE:
		begin(walk, holder);
		break;
	case IN_FLIGHT:
		if (random_chance(&walk->random, 10))
			holder->is = GONE; /* forgotten: nobody gives its place back */
		else
			go_on(walk, holder);
		break;
	default:
		walk->state = places_close(walk->state);
		holder->is = GONE;
	}
}

static void test_walk(void)
{
	for (__u64 seed = 0; seed < 50; seed++) {
		struct walk walk = { .random = seed, .now = AT(1020) };
		struct places places;
		unsigned int open = 0;

		walk.limiter = make_limiter(1 + seed, 0);
		for (int i = 0; i < 5000; i++)
			step(&walk);
		places = places_read(&walk.limiter, walk.state, walk.now);
		for (int i = 0; i < MOST; i++)
			open += walk.holders[i].is == OPEN;
		CHECK_EQ("connections are counted exactly", places.open, open);
		CHECK_EQ("handshakes that live hold their places",
			 places_held(&places) >= held(&walk), true);
		walk.now += 2 * SLICE;
		places = places_read(&walk.limiter, walk.state, walk.now);
		CHECK_EQ("what was forgotten is free two slices later", places_held(&places), open);
	}
}

CHECK_SUITE(places, { "a handshake takes a place", test_take }, { "a handshake ends", test_end },
	    { "SYNs that wait", test_queue }, { "counts keep within their bits", test_bounds },
	    { "a bucket as the table sees it", test_bucket },
	    { "a random walk, and a list of who holds places", test_walk });
