/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The object file: opened, given its policy, loaded, and attached. Only its files include the
 * skeleton. It does not know generations or pins; apply.h does.
 */
#ifndef STILE_LOADER_H
#define STILE_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

#include "policy.h"

struct loader;

/* Maps that live on from one load to the next; -1: make a new one. Borrowed. */
struct loader_kept {
	int packets, decisions, tables, replies, attempts, budget, refusals, proofs, proven;
	int connections, recounts, sockets, evictions;
	int flows, handshakes;		  /* where there are as many sets of them */
	int holders;			  /* where they have kept their serial */
	int limiters[STILE_LIMITERS_MAX]; /* bucket tables, by slot, where policy->tables says so */
};

/* Calls @sink with every line that libbpf has to say; NULL, the default: with none. */
void loader_messages(void (*sink)(const char *line));

/*
 * Loads the program with @policy in it and fills its maps. 0; -EPROTO where a kept map is not of
 * this version's shape; or another negative errno, of which loader_reason() may tell more.
 */
int loader_load(const struct policy *policy, const struct loader_kept *kept,
		struct loader **ret_loader);
void loader_free(struct loader *loader);

/* What libbpf or the verifier said first of the last load that failed; "": nothing. */
const char *loader_reason(void);

/* The program's fd, borrowed. */
int loader_program(const struct loader *loader);

/* What a program whose policy replays is told, and tells: in its memory. */
volatile struct stile_replay *loader_replay(const struct loader *loader);

/* The fd of the map that is pinned as @name, borrowed; -ENOENT. */
int loader_map(const struct loader *loader, const char *name);

/* Calls @each for every object to pin: its name in the generation's directory and its fd. */
int loader_each(const struct loader *loader, int (*each)(const char *name, int fd, void *context),
		void *context);

/* Attaches a program's fd to @ifindex in @mode (native or generic). *ret_link is the caller's. */
int loader_attach(int program, uint32_t ifindex, enum stile_mode mode, int *ret_link);

/* The program for the sockets of a cgroup, borrowed; -1: it is not loaded. */
int loader_sockops(const struct loader *loader);

/* Attaches it to the cgroup2 directory @directory. *ret_link is the caller's. */
int loader_attach_cgroup(int program, int directory, int *ret_link);

/* The program for the ingress of interfaces, borrowed; -1: it is not loaded. */
int loader_admit(const struct loader *loader);

/* Attaches it to @ifindex. *ret_link is the caller's. */
int loader_attach_ingress(int program, uint32_t ifindex, int *ret_link);

/* The ids of the XDP programs at @ifindex, whoever attached them; 0: none. */
void loader_look(uint32_t ifindex, uint32_t *ret_native, uint32_t *ret_generic);

/* Whether this kernel makes connections of proofs. */
bool loader_can_admit(void);

/* The tick and its base for struct policy_machine, measured with a small program. 0 or -errno. */
int loader_measure_clock(uint64_t *ret_tick, uint64_t *ret_tick_base);

/* The same for its accept queues: -errno where the kernel tells no types. */
int loader_find_queue(struct policy_machine *machine);

#endif /* STILE_LOADER_H */
