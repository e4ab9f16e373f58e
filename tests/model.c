/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clocks of several CPUs differ a little, so @now may be earlier than the last event's. Windows:
 * an event that comes before the newest window counts at its very start. Tokens: the level is what
 * it was then, less what has trickled in since.
 */
#include <stddef.h>

#include "model.h"

/* Events of the window before an event's, and of its own, and how much of its own is over. */
struct view {
	uint64_t number, elapsed;
	uint64_t previous, current;
};

static uint64_t events_in(const struct model_bucket *bucket, uint64_t number)
{
	for (int i = 0; i < MODEL_WINDOWS; i++)
		if (bucket->windows[i].events && bucket->windows[i].number == number)
			return bucket->windows[i].events;
	return 0;
}

/* The window before the first has no events. */
static uint64_t events_before(const struct model_bucket *bucket, uint64_t number)
{
	return number == 0 ? 0 : events_in(bucket, number - 1);
}

static struct view view_at(const struct stile_limiter *limiter, const struct model_bucket *bucket,
			   uint64_t now)
{
	struct view view = { .number = now / limiter->window, .elapsed = now % limiter->window };
	bool weighs = events_in(bucket, bucket->newest) || events_before(bucket, bucket->newest);

	if (bucket->used && weighs && bucket->newest > view.number) {
		view.number = bucket->newest;
		view.elapsed = 0;
	}
	view.current = events_in(bucket, view.number);
	view.previous = events_before(bucket, view.number);
	return view;
}

/* previous * (1 - elapsed / window) + current + 1 <= limit, times the window. */
static bool window_admits(const struct stile_limiter *limiter, const struct model_bucket *bucket,
			  uint64_t now)
{
	struct view view = view_at(limiter, bucket, now);
	unsigned __int128 estimate = 0;

	if (limiter->algorithm == STILE_ALGORITHM_SLIDING_WINDOW)
		estimate = (unsigned __int128)view.previous * (limiter->window - view.elapsed);
	estimate += (unsigned __int128)(view.current + 1) * limiter->window;
	return estimate <= (unsigned __int128)limiter->limit * limiter->window;
}

static void window_charge(const struct stile_limiter *limiter, struct model_bucket *bucket,
			  uint64_t now)
{
	struct view view = view_at(limiter, bucket, now);
	struct model_window *unused = NULL;

	bucket->newest = view.number;
	for (int i = 0; i < MODEL_WINDOWS; i++) {
		struct model_window *window = &bucket->windows[i];

		/* Time went on, even if this event is taken back: what is older is over. */
		if (window->number + 1 < view.number)
			*window = (struct model_window){};
		if (window->events && window->number == view.number) {
			/* No limit is higher, so that nothing above it needs to be told apart. */
			window->events += window->events < STILE_WINDOW_LIMIT_MAX;
			return;
		}
		if (window->events == 0)
			unused = window;
	}
	*unused = (struct model_window){ view.number, 1 };
}

static void window_refund(struct model_bucket *bucket)
{
	for (int i = 0; i < MODEL_WINDOWS; i++)
		if (bucket->windows[i].events && bucket->windows[i].number == bucket->newest)
			bucket->windows[i].events--;
}

static __int128 tokens_at(const struct stile_limiter *limiter, const struct model_bucket *bucket,
			  uint64_t now)
{
	const __int128 full = (__int128)limiter->burst * limiter->token;
	__int128 level;

	if (!bucket->used)
		return full;
	level = bucket->level + ((__int128)now - bucket->at) * (1 << STILE_TOKEN_SHIFT);
	return level < full ? level : full;
}

bool model_admits(const struct stile_limiter *limiter, const struct model_bucket *bucket,
		  uint64_t now)
{
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return tokens_at(limiter, bucket, now) >= limiter->token;
	return window_admits(limiter, bucket, now);
}

void model_charge(const struct stile_limiter *limiter, struct model_bucket *bucket, uint64_t now)
{
	__int128 level = tokens_at(limiter, bucket, now);

	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET) {
		/* What is not there cannot be taken: a bucket is never emptier than empty. */
		if (level >= limiter->token)
			bucket->level = level - limiter->token;
		else
			bucket->level = level > 0 ? 0 : level;
		bucket->at = now;
	} else {
		window_charge(limiter, bucket, now);
	}
	bucket->used = true;
}

void model_refund(const struct stile_limiter *limiter, struct model_bucket *bucket)
{
	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		bucket->level += limiter->token;
	else
		window_refund(bucket);
}

bool model_is_new(const struct stile_limiter *limiter, const struct model_bucket *bucket,
		  uint64_t now)
{
	struct view view;

	if (limiter->algorithm == STILE_ALGORITHM_TOKEN_BUCKET)
		return tokens_at(limiter, bucket, now) == (__int128)limiter->burst * limiter->token;
	view = view_at(limiter, bucket, now);
	return view.current == 0 &&
	       (view.previous == 0 || limiter->algorithm == STILE_ALGORITHM_FIXED_WINDOW);
}
