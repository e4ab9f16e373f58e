/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the fault tests have beside live.h: a flood, the kernel's objects, and chance. */
#ifndef STILE_FAULTS_H
#define STILE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live.h"
#include "traffic/forged.h"

#define PORT_FLOOD 8080 /* where nobody listens: the server's stack answers each SYN with a RST */

/* flood.c: SYNs from forged sources to that port, in a process of its own. */
#define LIVE_FLOOD_GROUP FORGED_GROUP
#define LIVE_FLOOD_SYNS 150 /* of each source */
struct live_flooded {
	uint64_t sources, syns;
};
bool live_flood_begin(const struct live *live, struct live_background *ret_background);
bool live_flood_end(struct live_background *background, struct live_flooded *ret_flooded);

/* From these instead, in turn, to another port of the server's; ended in the same way. */
struct live_forged {
	uint32_t first;	  /* of the addresses, in host order */
	uint32_t sources; /* a multiple of LIVE_FLOOD_GROUP */
	uint16_t port;
};
bool live_forge_begin(const struct live *live, const struct live_forged *forged,
		      struct live_background *ret_background);

/* kernel.c: programs and maps, by their ids. */
struct live_object {
	uint32_t id;
	bool is_program;
};
struct live_objects {
	struct live_object *items;
	size_t n;
};

/* Notes those of the generation in force, each once. */
void live_note_objects(const struct live *live, struct live_objects *objects);
size_t live_count_objects(const struct live_objects *objects);	      /* that are still there */
bool live_wait_objects(const struct live_objects *objects, size_t n); /* until so many are */
void live_forget_objects(struct live_objects *objects);
#define autoobjects __attribute__((cleanup(live_forget_objects)))

/* Rounds of a test: @few, or what the environment says (STILE_FAULT_ROUNDS). */
unsigned int faults_rounds(unsigned int few);

/* The state of random.h: printed, and taken from the environment (STILE_FAULT_SEED) to repeat. */
uint64_t faults_seed(void);

#endif /* STILE_FAULTS_H */
