/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many TCP connections from one thread, bounded in number and in time, each accounted for exactly
 * once. With a path each connection asks for it by HTTP and succeeds when it got a whole 200.
 */
#ifndef STILE_TRAFFIC_ENGINE_H
#define STILE_TRAFFIC_ENGINE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "endpoint.h"
#include "sample.h"

#define ENGINE_CONCURRENCY_MAX 16384

struct engine_plan {
	struct endpoint target;
	struct sources sources;
	uint64_t connections;	  /* at most */
	double rate;		  /* new ones per second; 0: as fast as concurrency lets them */
	unsigned int concurrency; /* sockets open at a time, held ones too */
	double seconds;		  /* no new one after that */
	unsigned int timeout_ms;  /* of one connection, its answer included */
	const char *path;	  /* NULL: ask for nothing */
	bool hold;		  /* keep what connected open: to the end, or for hold_ms */
	unsigned int hold_ms;
	FILE *series; /* NULL, or gets a line for each: seconds, outcome, microseconds */
	const volatile sig_atomic_t *stop; /* NULL, or ends the run when it becomes non-zero */
};

enum engine_outcome {
	ENGINE_SUCCEEDED,
	ENGINE_REFUSED, /* ECONNREFUSED */
	ENGINE_RESET,	/* ECONNRESET */
	ENGINE_TIMED_OUT,
	ENGINE_FAILED, /* anything else: see last_error */
	_ENGINE_OUTCOME_MAX,
};

extern const char *const engine_outcome_names[_ENGINE_OUTCOME_MAX];

struct engine_result {
	uint64_t attempts; /* the outcomes add up to this */
	uint64_t outcomes[_ENGINE_OUTCOME_MAX];
	uint64_t dropped; /* of the succeeded: closed by the other side while held */
	struct sample success, refusal;
	int last_error; /* errno of the last failure; 0: the answer was not a whole 200 */
	double seconds;
};

/* 0 or negative errno; *ret_result is written on success only, see engine_release(). */
int engine_run(const struct engine_plan *plan, struct engine_result *ret_result);
void engine_release(struct engine_result *result);

#endif /* STILE_TRAFFIC_ENGINE_H */
