/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attachments of a load: each interface's link found, swapped or made, and all of it undone
 * where one of them fails. For apply.c alone; it does not know what the program holds.
 */
#ifndef STILE_APPLY_LINKS_H
#define STILE_APPLY_LINKS_H

#include <stdint.h>

#include <stile/abi.h>

#include "apply.h"
#include "diag.h"
#include "pins.h"

struct bpf_link_info;

enum apply_plan {
	APPLY_ATTACH,  /* nothing of ours is there */
	APPLY_SWAP,    /* our link is there: it gets the next program */
	APPLY_REPLACE, /* our link is there, in another mode: detached, and attached anew */
	APPLY_WAIT,    /* the interface is not there */
};

struct apply_link {
	char name[16];
	uint32_t ifindex;
	enum stile_mode wanted; /* as configured */
	enum apply_plan plan;
	bool elsewhere; /* it is not of this network namespace by that name */
	bool done;
	int before;		     /* link that was found; -1 */
	uint32_t id;		     /* its id */
	char pin[16];		     /* the name that it was pinned by */
	int program_before;	     /* its program; -1 */
	uint32_t displaced;	     /* id of another's link that was pinned by this name; 0 */
	char displaced_name[16];     /* what that interface is called now; "": it is elsewhere */
	enum stile_mode mode_before; /* native or generic */
	int now;		     /* link that was made; -1 */
	enum stile_mode mode;	     /* as attached now: native or generic */
};

struct apply_links {
	struct apply_link links[STILE_INTERFACES_MAX];
	unsigned int n_links;
};

/* The pinned link of @ifname, and what the kernel says of it. Its fd, or negative errno. */
int apply_links_open(const struct pins *pins, const char *ifname, struct bpf_link_info *ret_info);

/* The mode to attach in, or to try first: native or generic. */
enum stile_mode apply_links_mode(const struct apply_link *link);

/* Tells what was tried and why it failed; returns @error. */
int apply_links_report(const struct apply_link *link, const char *what, int error,
		       struct diag *diag);

/* Finds what is attached, and what is to be done. @before is all zero where there was no policy. */
int apply_links_find(const struct pins *pins, const struct stile_policy *before,
		     const struct stile_policy *now, struct diag *diag,
		     struct apply_links *ret_links);

/* Does it with @program. Where it fails, everything is as before; the reason is in @diag. */
int apply_links_do(const struct pins *pins, struct apply_links *links, int program,
		   struct diag *diag);

/* Everything as before, last things first. What cannot be undone is told in @diag. */
void apply_links_undo(const struct pins *pins, struct apply_links *links, struct diag *diag);

/* Tells of interfaces that lose their link because another one has their name now. */
void apply_links_tell(const struct apply_links *links, struct diag *diag);

/* Detaches our links from all interfaces but those of @links, or from all where it is NULL. */
int apply_links_prune(const struct pins *pins, const struct apply_links *links);

void apply_links_release(struct apply_links *links);

#endif /* STILE_APPLY_LINKS_H */
