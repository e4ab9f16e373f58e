/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Open connections: those that are older than a load are counted after it, and all of them are
 * recounted from time to time. A cgroup that was removed took its attachment along: the one that
 * is made in its place by the same name is attached to.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "apply_recount.h"
#include "cmd_run.h"
#include "log.h"
#include "util.h"

#define RECOUNT_S 10

static void log_recount(struct run *run, const struct apply_recount *recount)
{
	for (unsigned int i = 0; i < recount->n_listeners; i++)
		log_warning("%s: %" PRId64 " connections %s unseen: their count is put right",
			    recount->listeners[i].name,
			    recount->listeners[i].excess > 0 ? recount->listeners[i].excess
							     : -recount->listeners[i].excess,
			    recount->listeners[i].excess > 0 ? "ended" : "began");
	if (recount->n_places)
		log_warning("places of %zu buckets were held by nobody, or held and not counted: "
			    "put right",
			    recount->n_places);
	if (recount->n_unwatched && !run->connections.told_unwatched)
		log_info("%zu connections were open before they could be counted, and this kernel "
			 "does not tell when they end: that is looked for every %d s",
			 recount->n_unwatched, RECOUNT_S);
	run->connections.told_unwatched = recount->n_unwatched > 0;
}

void run_connections_recount(struct run *run)
{
	autofree struct apply_recount *recount = calloc(1, sizeof(*recount));
	int error = recount ? apply_recount(run->pins, recount) : -ENOMEM;

	run->connections.seconds = RECOUNT_S;
	if (error == 0)
		log_recount(run, recount);
	else if (error != run->connections.error && error == -EOPNOTSUPP)
		log_warning("this kernel cannot list sockets to a program: connections that are "
			    "older than Stile are not counted");
	else if (error != run->connections.error && error != -ENOENT) /* it was detached */
		log_warning("recount connections: %s", strerror(-error));
	run->connections.error = error;
}

static void attach_again(struct run *run)
{
	struct diag diag;
	int error;

	diag_init(&diag, run->file);
	diag.again = true;
	error = run_load_again(run, &diag);
	log_diag(&diag);
	diag_release(&diag);
	if (error)
		log_error("not attached to the cgroup that is there again: %s", strerror(-error));
	else
		log_info("the cgroup is there again: attached to it");
}

static void follow_cgroup(struct run *run)
{
	enum apply_cgroup_state state = apply_cgroup_state(run->pins);

	if (state == APPLY_CGROUP_GONE && run->connections.cgroup == APPLY_CGROUP_HERE)
		log_warning("the cgroup was removed: connections are not counted until it is there "
			    "again");
	run->connections.cgroup = state;
	if (state == APPLY_CGROUP_BACK)
		attach_again(run);
}

void run_connections_tick(struct run *run)
{
	if (!run_is_detached(run))
		follow_cgroup(run);
	if (run->connections.seconds == 0 || --run->connections.seconds == 0)
		run_connections_recount(run);
}
