/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bucket of algorithm: concurrency: places that connections hold, which are given back instead
 * of being used up. Pure. The state is one word, as in bucket.h:
 *
 *   63..54  number of the slice, modulo 2^10
 *   53..44  waiting: SYNs that are dropped until a place is free (queue)
 *   43..32  handshakes in flight that took their place in the slice before
 *   31..20  handshakes in flight that took it in this slice
 *   19..0   connections open
 *
 * A slice (limiter->window) is longer than a handshake can live in the kernel. So one of the slice
 * before the last is dead, whoever forgot to give its place back: it is gone when the slices turn,
 * and no daemon is needed for that.
 */
#ifndef STILE_BPF_PLACES_H
#define STILE_BPF_PLACES_H

#include <stile/abi.h>

#include "compiler.h"

#define PLACES_SLICES (1U << 10)
#define PLACES_WAITING_MAX ((1U << 10) - 1)
#define PLACES_FLIGHT_MAX ((1U << 12) - 1)
#define PLACES_OPEN_MAX ((1U << 20) - 1)

_Static_assert(STILE_QUEUE_MAX <= PLACES_WAITING_MAX, "all who wait are counted");
_Static_assert(STILE_WINDOW_LIMIT_MAX <= PLACES_OPEN_MAX, "open connections up to any limit");

struct places {
	__u32 slice;
	__u32 waiting;
	__u32 older, current; /* in flight */
	__u32 open;
};

static __always_inline __u32 places_slice(const struct stile_limiter *limiter, __u64 now)
{
	return now / limiter->window & (PLACES_SLICES - 1);
}

/* What @state says at @now. */
static __always_inline struct places places_read(const struct stile_limiter *limiter, __u64 state,
						 __u64 now)
{
	struct places places = {
		.slice = places_slice(limiter, now),
		.waiting = state >> 44 & PLACES_WAITING_MAX,
		.older = state >> 32 & PLACES_FLIGHT_MAX,
		.current = state >> 20 & PLACES_FLIGHT_MAX,
		.open = state & PLACES_OPEN_MAX,
	};
	__u32 age = (places.slice - (__u32)(state >> 54)) & (PLACES_SLICES - 1);

	if (age == 0)
		return places;
	if (age == PLACES_SLICES - 1 && places.older + places.current + places.waiting) {
		places.slice = state >> 54; /* of a CPU whose clock is ahead of ours */
		return places;
	}
	/* Who still waits asks again, and is counted again. */
	places.waiting = 0;
	places.older = age == 1 ? places.current : 0;
	places.current = 0;
	return places;
}

static __always_inline __u64 places_pack(const struct places *places)
{
	return (__u64)places->slice << 54 | (__u64)places->waiting << 44 |
	       (__u64)places->older << 32 | (__u64)places->current << 20 | places->open;
}

static __always_inline __u32 places_held(const struct places *places)
{
	return places->open + places->older + places->current;
}

/*
 * Whether one more handshake may begin. Who has waited has a place before it: a new one needs a
 * place that nobody waits for.
 */
static __always_inline bool places_admit(const struct stile_limiter *limiter,
					 const struct places *places, bool waited)
{
	return places_held(places) + (waited ? 0 : places->waiting) < limiter->limit &&
	       places->current < PLACES_FLIGHT_MAX;
}

/*
 * Whether a handshake that begins at @now finds a place. *ret_taken is the state where it has one,
 * whether it found it or not (action count lets it in).
 */
static __always_inline bool places_take(const struct stile_limiter *limiter, __u64 state, __u64 now,
					bool waited, __u64 *ret_taken)
{
	struct places places = places_read(limiter, state, now);
	bool admit = places_admit(limiter, &places, waited);

	if (places.current < PLACES_FLIGHT_MAX)
		places.current++;
	if (waited && places.waiting)
		places.waiting--;
	*ret_taken = places_pack(&places);
	return admit;
}

/* What becomes of places, but that a handshake takes one. */
enum places_change {
	/* of a handshake that began in some slice */
	PLACES_END_FREE,  /* nobody holds it any more */
	PLACES_END_OPEN,  /* a connection does */
	PLACES_END_RENEW, /* it begins anew */
	/* of a connection */
	PLACES_OPEN, /* which began no handshake here */
	PLACES_CLOSE,
	/* of a SYN that waits, and has since some slice */
	PLACES_JOIN,
	PLACES_LEAVE,
};

static __always_inline __u64 places_end(const struct stile_limiter *limiter, __u64 state, __u64 now,
					__u32 slice, enum places_change end)
{
	struct places places = places_read(limiter, state, now);

	if (slice == places.slice && places.current)
		places.current--;
	else if (slice == ((places.slice - 1) & (PLACES_SLICES - 1)) && places.older)
		places.older--;
	if (end == PLACES_END_OPEN && places.open < PLACES_OPEN_MAX)
		places.open++;
	if (end == PLACES_END_RENEW && places.current < PLACES_FLIGHT_MAX)
		places.current++;
	return places_pack(&places);
}

/* The state without the latest handshake that took a place. */
static __always_inline __u64 places_refund(const struct stile_limiter *limiter, __u64 state)
{
	struct places places = places_read(limiter, state, (state >> 54) * limiter->window);

	if (places.current)
		places.current--;
	else if (places.older)
		places.older--;
	return places_pack(&places);
}

/* With a connection more, which began no handshake here. */
static __always_inline __u64 places_open(__u64 state)
{
	return (state & PLACES_OPEN_MAX) < PLACES_OPEN_MAX ? state + 1 : state;
}

static __always_inline __u64 places_close(__u64 state)
{
	return state & PLACES_OPEN_MAX ? state - 1 : state;
}

/* With one more that waits; the state as it is where there are as many as may. */
static __always_inline __u64 places_join(const struct stile_limiter *limiter, __u64 state,
					 __u64 now)
{
	struct places places = places_read(limiter, state, now);

	if (places.waiting >= limiter->queue)
		return state;
	places.waiting++;
	return places_pack(&places);
}

/* Without one that waited since @slice. */
static __always_inline __u64 places_leave(const struct stile_limiter *limiter, __u64 state,
					  __u64 now, __u32 slice)
{
	struct places places = places_read(limiter, state, now);

	if (slice == places.slice && places.waiting)
		places.waiting--;
	return places_pack(&places);
}

static __always_inline __u64 places_change(const struct stile_limiter *limiter, __u64 state,
					   __u64 now, __u32 slice, enum places_change change)
{
	switch (change) {
	case PLACES_OPEN:
		return places_open(state);
	case PLACES_CLOSE:
		return places_close(state);
	case PLACES_JOIN:
		return places_join(limiter, state, now);
	case PLACES_LEAVE:
		return places_leave(limiter, state, now, slice);
	default:
		return places_end(limiter, state, now, slice, change);
	}
}

/* 0: as good as new. The more worth keeping, the more; open connections before all else. */
static __always_inline __u64 places_debt(const struct stile_limiter *limiter, __u64 state,
					 __u64 now)
{
	struct places places = places_read(limiter, state, now);

	return places_held(&places) + places.waiting;
}

#endif /* STILE_BPF_PLACES_H */
