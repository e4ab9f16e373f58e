/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One bucket: what its state says at a moment, and what it becomes. Pure; nothing here changes
 * memory. A state is one 64-bit word, so that a table can change it by compare-and-swap; 0 is a
 * new bucket. By algorithm it is
 *
 *   sliding_window, fixed_window   63..40 number of the window, modulo 2^24
 *                                  39..20 events in the window before (sliding_window)
 *                                  19..0  events in this window
 *   concurrency                    see places.h
 *   token_bucket                   GCRA's theoretical arrival time (ITU-T I.371, A.1),
 *                                  1/64 ns of CLOCK_MONOTONIC, modulo 2^64 (nine years)
 */
#ifndef STILE_BPF_BUCKET_H
#define STILE_BPF_BUCKET_H

#include <stile/abi.h>

#include "compiler.h"
#include "places.h"

/* The program says whether any limiter of its policy is one of concurrency: see maps.h. */
#ifndef BUCKET_MAY_HOLD
#define BUCKET_MAY_HOLD true
#define BUCKET_PURE
#endif

#define BUCKET_HOLD_WAIT 1000000000ULL /* ns: when a place will be free is not known */

#define BUCKET_COUNT_BITS 20
#define BUCKET_COUNT_MAX ((1ULL << BUCKET_COUNT_BITS) - 1)
#define BUCKET_NUMBER_MASK ((1ULL << 24) - 1)

/* How many windows another CPU's clock may be ahead of ours; further off is long ago instead. */
#define BUCKET_AHEAD_MAX 16

/* How far ahead of now an arrival time may be, 1/64 ns; further off it is long ago instead. */
#define BUCKET_ARRIVAL_MAX (1ULL << 62)

_Static_assert(STILE_WINDOW_LIMIT_MAX <= BUCKET_COUNT_MAX, "a count must hold any limit");

/* Whether events hold places, instead of using a rate up. */
static __always_inline bool bucket_holds(const struct stile_limiter *limiter)
{
	return BUCKET_MAY_HOLD && limiter->algorithm == STILE_ALGORITHM_CONCURRENCY;
}

/* A window's counters, seen at some moment. */
struct bucket_window {
	__u64 number;
	__u64 elapsed; /* ns */
	__u64 early;   /* ns until it begins; 0 but where another CPU's clock was ahead of ours */
	__u64 previous, current;
};

static __always_inline struct bucket_window bucket_window(const struct stile_limiter *limiter,
							  __u64 state, __u64 now)
{
	__u64 stored = state >> (2 * BUCKET_COUNT_BITS);
	__u64 number = now / limiter->window;
	struct bucket_window window = {
		.elapsed = now - number * limiter->window,
		.previous = state >> BUCKET_COUNT_BITS & BUCKET_COUNT_MAX,
		.current = state & BUCKET_COUNT_MAX,
	};
	__u64 age;

	window.number = number & BUCKET_NUMBER_MASK;
	age = (window.number - stored) & BUCKET_NUMBER_MASK;
	if (age == 0)
		return window;
	if (age > BUCKET_NUMBER_MASK - BUCKET_AHEAD_MAX && window.previous + window.current) {
		/* A CPU whose clock is ahead of ours was here: this is the start of its window. */
		window.early = (BUCKET_NUMBER_MASK + 1 - age) * limiter->window - window.elapsed;
		window.number = stored;
		window.elapsed = 0;
		return window;
	}
	window.previous = age == 1 ? window.current : 0;
	window.current = 0;
	return window;
}

static __always_inline __u64 bucket_pack(const struct bucket_window *window)
{
	return window->number << (2 * BUCKET_COUNT_BITS) | window->previous << BUCKET_COUNT_BITS |
	       window->current;
}

/*
 * Whether one more event keeps within @limit. The estimate previous * (1 - elapsed / window) +
 * current is compared times the window, so that no fraction is lost: every product stays below
 * 2^20 * 2^42.
 */
static __always_inline bool bucket_window_admits(const struct stile_limiter *limiter,
						 const struct bucket_window *window, __u64 limit)
{
	if (window->current + 1 > limit)
		return false;
	if (limiter->algorithm == STILE_ALGORITHM_FIXED_WINDOW)
		return true;
	return window->previous * (limiter->window - window->elapsed) <=
	       (limit - window->current - 1) * limiter->window;
}

/*
 * What the token bucket lacks to be full at @moment, in time, 1/64 ns. Nothing where it is new, or
 * its arrival time has passed. Without a branch: of many clients it cannot be predicted.
 */
static __always_inline __u64 bucket_lack(__u64 state, __u64 moment)
{
	__u64 lack = state - moment;

	return lack & mask_of(state) & ~mask_of((lack - 1) / BUCKET_ARRIVAL_MAX);
}

/*
 * Whether the bucket admits an event at @now (ns of CLOCK_MONOTONIC). *ret_charged is the state
 * with the event charged, whether it is admitted or not (action count charges both).
 */
static __always_inline bool bucket_charge(const struct stile_limiter *limiter, __u64 state,
					  __u64 now, __u64 *ret_charged)
{
	struct bucket_window window;
	__u64 moment, lack;
	bool admits;

	if (bucket_holds(limiter))
		return places_take(limiter, state, now, false, ret_charged);
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET) {
		moment = now << STILE_TOKEN_SHIFT;
		lack = bucket_lack(state, moment);
		admits = lack + limiter->token <= limiter->depth;
		if (admits)
			lack += limiter->token;
		else if (lack < limiter->depth)
			lack = limiter->depth; /* a bucket cannot be emptier than empty */
		*ret_charged = moment + lack ? moment + lack : 1; /* 0 is a new bucket */
		return admits;
	}
	window = bucket_window(limiter, state, now);
	admits = bucket_window_admits(limiter, &window, limiter->limit);
	if (window.current < BUCKET_COUNT_MAX)
		window.current++;
	*ret_charged = bucket_pack(&window);
	return admits;
}

/* The state without one event that was charged to it a moment ago. */
static __always_inline __u64 bucket_refund(const struct stile_limiter *limiter, __u64 state)
{
	if (bucket_holds(limiter))
		return places_refund(limiter, state);
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return state ? state - limiter->token : 0;
	if (state & BUCKET_COUNT_MAX)
		return state - 1;
	/* The window has turned since. */
	if (state >> BUCKET_COUNT_BITS & BUCKET_COUNT_MAX)
		return state - (1ULL << BUCKET_COUNT_BITS);
	return state;
}

/*
 * What the bucket owes: 0 where it is as good as new, so that another client may have its place.
 * Otherwise a measure to compare buckets of one limiter by.
 */
static __always_inline __u64 bucket_debt(const struct stile_limiter *limiter, __u64 state,
					 __u64 now)
{
	struct bucket_window window;

	if (bucket_holds(limiter))
		return places_debt(limiter, state, now);
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return bucket_lack(state, now << STILE_TOKEN_SHIFT);
	window = bucket_window(limiter, state, now);
	if (limiter->algorithm == STILE_ALGORITHM_FIXED_WINDOW)
		return window.current;
	return window.current + window.previous;
}

/* How many events there is room for at a time. */
static __always_inline __u64 bucket_room(const struct stile_limiter *limiter)
{
	return limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET ? limiter->burst : limiter->limit;
}

static __always_inline __u64 bucket_hold_wait(const struct stile_limiter *limiter, __u64 state,
					      __u64 now, __u64 ahead)
{
	struct places places = places_read(limiter, state, now);

	return places_admit(limiter, &places, false) &&
			       places_held(&places) + places.waiting + ahead < limiter->limit
		       ? 0
		       : BUCKET_HOLD_WAIT;
}

/*
 * ns from @now until an event would be admitted that is charged @ahead times before, if none came
 * meanwhile; 0: now. There is room for that many. A limiter that reads the tick clock may be up to
 * one tick later than that: whoever promises adds one.
 */
static __always_inline __u64 bucket_wait_behind(const struct stile_limiter *limiter, __u64 state,
						__u64 now, __u64 ahead)
{
	__u64 limit = limiter->limit - ahead, depth = limiter->depth - ahead * limiter->token;
	struct bucket_window window;
	__u64 rest;

	if (bucket_holds(limiter))
		return bucket_hold_wait(limiter, state, now, ahead);
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET) {
		rest = bucket_lack(state, now << STILE_TOKEN_SHIFT) + limiter->token;
		if (rest <= depth)
			return 0;
		rest -= depth;
		return (rest + (1ULL << STILE_TOKEN_SHIFT) - 1) >> STILE_TOKEN_SHIFT;
	}
	window = bucket_window(limiter, state, now);
	if (bucket_window_admits(limiter, &window, limit))
		return 0;
	rest = window.early + limiter->window - window.elapsed;
	if (limiter->algorithm == STILE_ALGORITHM_FIXED_WINDOW)
		return rest;
	/* previous weighs little enough when at most (limit - current - 1) / previous is left. */
	if (window.current + 1 <= limit)
		return rest - (limit - window.current - 1) * limiter->window / window.previous;
	if (!window.current) /* a limit of 0, which no policy has */
		return rest;
	/* Not in this window; in the next one, current is what weighs. */
	return rest + limiter->window - (limit - 1) * limiter->window / window.current;
}

static __always_inline __u64 bucket_wait(const struct stile_limiter *limiter, __u64 state,
					 __u64 now)
{
	return bucket_wait_behind(limiter, state, now, 0);
}

#endif /* STILE_BPF_BUCKET_H */
