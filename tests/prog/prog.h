/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program loaded with a configuration, and packets sent through it by BPF_PROG_TEST_RUN. Time
 * is an argument: the policy's tick clock is made to stand still, so that windows and buckets are
 * exactly where a test puts them. (Expiry of list entries goes by the machine's own clock.)
 */
#ifndef STILE_PROG_H
#define STILE_PROG_H

#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

#include "pkt.h"
#include "policy.h"

struct loader;

#define NSEC_PER_SEC 1000000000ULL
#define HOUR (3600 * NSEC_PER_SEC)
#define PROG_NOW (1000 * HOUR) /* the first moment of a window, whatever its length */

#define PROG_CONFIG_SIZE 8192 /* of a configuration as text */
#define PROG_TABLE_SETS 64    /* of a table that a test looks into, at most */

/* Every counter there is, summed over the CPUs. */
struct prog_counts {
	uint64_t packets[STILE_INTERFACES_MAX][_STILE_VERDICT_MAX][_STILE_REASON_MAX];
	uint64_t decisions[STILE_ATTACHMENTS_MAX][_STILE_DECISION_MAX];
	uint64_t tables[STILE_LIMITERS_MAX][sizeof(struct stile_table_stats) / sizeof(uint64_t)];
	uint64_t replies[_STILE_REPLY_MAX];
};

struct prog {
	const struct stile_offer *offer; /* that the next load agrees to; NULL: all of it */
	char config[PROG_CONFIG_SIZE];
	struct policy policy;
	struct loader *loader;
	unsigned int n_cpus;
	struct prog_counts counts; /* as they were last read */
	struct pkt_frame sent;	   /* the last frame, */
	struct pkt_frame back;	   /* and what the program made of it */
	uint32_t sequence;	   /* of the next SYN that has none of its own */
	char text[512];
};
#define autoprog __attribute__((cleanup(prog_unload)))

/*
 * Loads @config (text) at @now, as a reload where @prog holds a load already. False where
 * that failed or was skipped, which the check has reported.
 */
bool prog_load(struct prog *prog, const char *config, uint64_t now);

/* The same with the clock that apply.c would measure. */
bool prog_load_ticking(struct prog *prog, const char *config);

/* The same configuration, buckets and counters at another time. */
bool prog_move(struct prog *prog, uint64_t now);

void prog_unload(struct prog *prog);

/*
 * Sends one packet. What came of it, as text that is valid until the next: the verdict, the reason,
 * every other counter that moved, and whatever contradicts them:
 *
 *	pass allowed web/per-client=allowed
 *	reply limited web/per-client=limited reset
 *
 * A SYN without a sequence number gets one that was not used before.
 */
const char *prog_send(struct prog *prog, const struct pkt_spec *spec);

/* The same for a frame as it is. */
const char *prog_send_frame(struct prog *prog, const struct pkt_frame *frame);

/* How many of @n such packets in a row pass. */
unsigned int prog_passing(struct prog *prog, const struct pkt_spec *spec, unsigned int n);

/* Puts @text on a list, as commands do, until @expires (ns of CLOCK_MONOTONIC; 0: for good). */
void prog_list(struct prog *prog, const char *list, const char *text, uint64_t expires);

/* The daemon was heard of at @now. */
void prog_heartbeat(const struct prog *prog, uint64_t now);

/* A map by the name it is pinned by, "limiter-NAME" included. */
int prog_map(const struct prog *prog, const char *name);

/* The slot of a limiter. */
uint32_t prog_limiter(const struct prog *prog, const char *name);

/* A copy of a limiter's whole table; both kinds of set have one size. */
struct prog_table {
	struct stile_set sets[PROG_TABLE_SETS];
	uint32_t n_sets;
};
bool prog_table(const struct prog *prog, const char *limiter, struct prog_table *ret_table);

/* counts.c: what has moved since they were last read, as text; @prog->counts is then up to date. */
void prog_counts_since(struct prog *prog, char *text, size_t size);
bool prog_counts_read(const struct prog *prog, struct prog_counts *ret_counts);

/* A network namespace of the tests' own, with a loopback that is up. 0 or -errno. */
int prog_namespace(void);

#endif /* STILE_PROG_H */
