/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon does about interfaces; a part of cmd_run.h. */
#ifndef STILE_CMD_RUN_LINKS_H
#define STILE_CMD_RUN_LINKS_H

#include <stdint.h>

#include <stile/abi.h>

#include "netif.h"

struct event;
struct run;

/* What was seen last of an interface that is attached, or should be. */
struct run_link {
	enum { RUN_LINK_HERE, RUN_LINK_ELSEWHERE, RUN_LINK_GONE } where;
	struct netif_state state; /* where it is here */
	uint32_t tried;		  /* index that could not be attached to; 0: none */
};

struct run_links {
	int fd; /* the kernel's word of changes, or -1 */
	struct event *event;
	struct run_link links[STILE_INTERFACES_MAX]; /* in the order of run->applied */
	unsigned int seconds;			     /* until an attachment is tried again */
};

/* Follows interfaces from here on: what becomes of them is logged, what appears is attached. */
void run_links_follow(struct run *run);
void run_links_note(struct run *run);  /* after each load: as they are now */
void run_links_retry(struct run *run); /* once a second */
void run_links_free(struct run *run);

#endif /* STILE_CMD_RUN_LINKS_H */
