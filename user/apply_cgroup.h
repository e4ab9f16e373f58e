/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attachment to a cgroup, which tells of connections: found, swapped, moved or made, and undone
 * where the load fails. For apply.c alone. Without it the limiters do what they do; only what is
 * open is not known.
 */
#ifndef STILE_APPLY_CGROUP_H
#define STILE_APPLY_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

#include "config.h"
#include "diag.h"
#include "pins.h"

struct apply_cgroup {
	char path[PATH_MAX]; /* "": nothing is to be attached */
	struct place place;  /* of the path; line 0: it is not from the file */
	bool same;	     /* the link that was found is that directory's */
	bool done;
	uint64_t id;		    /* of the directory */
	int directory;		    /* -1 */
	int before, program_before; /* the link that was found, and its program; -1 */
	int now;		    /* the link that was made; -1 */
};

/*
 * Finds the directory, and what is attached. Where connections cannot be counted, that is told, and
 * written into @policy. 0; or negative errno, where the configuration is wrong.
 */
int apply_cgroup_find(const struct pins *pins, const struct config *config, struct diag *diag,
		      struct stile_policy *policy, struct apply_cgroup *ret_cgroup);

/* Gives the link @program (-1: there is none), or makes one. 0 or negative errno, told in @diag. */
int apply_cgroup_do(const struct pins *pins, struct apply_cgroup *cgroup, int program,
		    struct diag *diag);
void apply_cgroup_undo(const struct pins *pins, struct apply_cgroup *cgroup, struct diag *diag);

/* What was attached before, and is not any more. */
int apply_cgroup_prune(const struct pins *pins, struct apply_cgroup *cgroup);

void apply_cgroup_release(struct apply_cgroup *cgroup);

/* Takes the attachment away. 0, also where there is none. */
int apply_cgroup_detach(const struct pins *pins);

/* What has become of it, for the daemon. */
enum apply_cgroup_state {
	APPLY_CGROUP_HERE, /* or nothing is to be attached */
	APPLY_CGROUP_GONE, /* its directory was removed */
	APPLY_CGROUP_BACK, /* and there is one of the same name again */
};
enum apply_cgroup_state apply_cgroup_state(const struct pins *pins);

#endif /* STILE_APPLY_CGROUP_H */
