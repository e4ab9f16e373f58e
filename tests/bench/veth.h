/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A veth pair between two network namespaces without names, in which this process then lives: they
 * end with it. SYNs made in the kernel go in at one end; the other end's packets are handled by a
 * kernel thread (threaded NAPI), whose CPU time is what a packet costs.
 */
#ifndef STILE_BENCH_VETH_H
#define STILE_BENCH_VETH_H

#include <stdint.h>

#include "loader.h"

#define VETH_RECEIVER "st-rx"
#define VETH_SERVER "10.77.0.1"
#define VETH_PORT 80

struct veth;

struct veth_result {
	double handled; /* packets that the receiver took out of the pair */
	double sent;	/* packets that left its namespace: answers */
	double cpu_ns;	/* of the receiver */
	double wall_ns;
};

/*
 * Moves the process into the receiver's namespace. What is missing for it is told on stderr.
 * 0 or -errno.
 */
int veth_new(struct veth **ret_veth);
void veth_free(struct veth *veth);

/*
 * Programs for the receiver: a plain drop; one that parses first; @target's decision, but what it
 * admits is dropped.
 */
int veth_drop_program(const struct veth *veth);
int veth_parse_program(const struct veth *veth);
int veth_decide_program(const struct veth *veth, int target);

/*
 * Floods until the receiver has handled @least packets, or gives up with -ETIMEDOUT. @keys:
 * sources to choose from; 0: every packet a new one.
 */
int veth_flood(struct veth *veth, uint64_t keys, double least, struct veth_result *ret_result);

#endif /* STILE_BENCH_VETH_H */
