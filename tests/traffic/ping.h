/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Datagrams to an echo service from one socket, each accounted for exactly once: answered, refused
 * by an ICMP port unreachable, or lost.
 */
#ifndef STILE_TRAFFIC_PING_H
#define STILE_TRAFFIC_PING_H

#include <stdint.h>

#include "endpoint.h"
#include "sample.h"

#define PING_COUNT_MAX 1000000

struct ping_plan {
	struct endpoint target;
	struct sources sources;	  /* the first address counts; none: the kernel picks one */
	unsigned int count;	  /* datagrams */
	unsigned int interval_us; /* between two; 0: all at once */
	unsigned int timeout_ms;  /* after the last one, for what is still to come */
};

struct ping_result {
	unsigned int sent; /* = answered + refused + lost */
	unsigned int answered, refused, lost;
	unsigned int strange; /* datagrams that no request of ours explains */
	struct sample latency;
};

/* 0 or negative errno; *ret_result is written on success only, see ping_release(). */
int ping_run(const struct ping_plan *plan, struct ping_result *ret_result);
void ping_release(struct ping_result *result);

#endif /* STILE_TRAFFIC_PING_H */
