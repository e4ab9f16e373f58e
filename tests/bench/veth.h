/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A veth pair between two network namespaces without names, in which this process then lives: they
 * end with it. SYNs made in the kernel go in at one end; the other end's packets are handled by a
 * kernel thread (threaded NAPI), whose CPU time is what a packet costs.
 *
 * Sender and receiver take turns on one CPU, which no other process gets meanwhile: a batch is
 * sent, then handled. So no packet is lost; every receiver, fast or slow, finds as many packets
 * waiting, and finds them in the CPU's cache. On two CPUs a sender would overrun what is slower
 * than itself, and the cost would be that of freeing pages in the sender's place; what is faster
 * would sleep after every few packets.
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
	double handled;	 /* packets that the receiver took out of the pair */
	double answered; /* packets that it tried to send back */
	double cpu_ns;	 /* of the receiver */
	double wall_ns;	 /* of both */
};

/*
 * Moves the process into the receiver's namespace. What is missing for it is told on stderr.
 * 0 or -errno.
 */
int veth_new(struct veth **ret_veth);
void veth_free(struct veth *veth);

/* From now on the SYNs have the options of Linux; else they have none. */
void veth_use_options(struct veth *veth);

/*
 * Programs for the receiver: a plain drop; one that parses first; @target's decision, but what it
 * admits is dropped.
 */
int veth_drop_program(const struct veth *veth);
int veth_parse_program(const struct veth *veth);
int veth_decide_program(const struct veth *veth, int target);

/*
 * Sends @packets, rounded up to whole chunks. @keys: sources to choose from; 0: every packet a new
 * one. 0, -errno, or -ENOBUFS: not all of them were handled.
 */
int veth_flood(struct veth *veth, uint64_t keys, uint32_t packets, struct veth_result *ret_result);

#endif /* STILE_BENCH_VETH_H */
