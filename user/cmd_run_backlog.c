/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * listen_backlog: every second the sockets that listen are held against what the configuration
 * wants of them, for a service that restarts, or reloads, asks for its own backlog again.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "backlog.h"
#include "cmd_run.h"
#include "log.h"
#include "snapshot.h"
#include "snapshot_places.h"
#include "util.h"

#define WAIT_MAX 64 /* seconds until what failed is tried again, at most */

/* A socket that has not the backlog that it should have. */
struct run_backlog_socket {
	struct sockdiag_socket socket;
	uint32_t listener;    /* slot of the one that wants most */
	uint32_t room;	      /* its backlog when it was tried */
	int error;	      /* of that; 0: none, and yet nothing came of it */
	unsigned int tries;   /* in vain */
	unsigned int seconds; /* until the next */
	bool seen;	      /* in this second */
};

struct run_backlog {
	struct sockdiag *diag;
	struct snapshot_places *places;
	struct stile_policy policy;
	uint32_t cap, warned[STILE_LISTENERS_MAX]; /* somaxconn, and what it was when told of */
	struct run_backlog_socket *sockets;
	size_t n_sockets;
	int error; /* of the last look, told once */
};

void run_backlog_free(struct run *run)
{
	struct run_backlog *backlog = run->backlog;

	if (!backlog)
		return;
	sockdiag_close(backlog->diag);
	snapshot_places_free(backlog->places);
	free(backlog->sockets);
	free(backlog);
	run->backlog = NULL;
}

const struct config_listener *run_backlog_wanted(const struct config *config)
{
	for (size_t i = 0; i < config->n_listeners; i++) {
		if (config->listeners[i].queue.backlog)
			return &config->listeners[i];
	}
	return NULL;
}

static int prepare(struct run *run)
{
	struct run_backlog *backlog = calloc(1, sizeof(*backlog));
	struct snapshot *snapshot;
	int error;

	if (!backlog)
		return -ENOMEM;
	run->backlog = backlog;
	error = snapshot_take_load(run->pins, &snapshot);
	if (error)
		return error;
	backlog->policy = snapshot->policy;
	snapshot_free(snapshot);
	error = snapshot_places_read(run->pins, &backlog->policy, &backlog->places);
	if (error == 0)
		error = sockdiag_open(&backlog->diag);
	return error;
}

void run_backlog_load(struct run *run)
{
	int error;

	run_backlog_free(run);
	if (!run->takes_sockets || !run_backlog_wanted(&run->config))
		return;
	error = prepare(run);
	if (error == 0) {
		run_backlog_watch(run);
		return;
	}
	log_warning("listen_backlog: look after sockets: %s: backlogs stay as they are",
		    strerror(-error));
	run_backlog_free(run);
}

/* The listener of a socket that wants the longest backlog. */
struct wish {
	const struct stile_policy *policy;
	uint32_t listener;
};

static void choose(uint32_t listener, void *context)
{
	struct wish *wish = context;

	if (wish->policy->listeners[listener].backlog >
	    wish->policy->listeners[wish->listener].backlog)
		wish->listener = listener;
}

static struct run_backlog_socket *find(struct run_backlog *backlog,
				       const struct sockdiag_socket *socket)
{
	for (size_t i = 0; i < backlog->n_sockets; i++) {
		if (memcmp(backlog->sockets[i].socket.cookie, socket->cookie,
			   sizeof(socket->cookie)) == 0)
			return &backlog->sockets[i];
	}
	return NULL;
}

static struct run_backlog_socket *add(struct run_backlog *backlog)
{
	struct run_backlog_socket *grown =
		reallocarray(backlog->sockets, backlog->n_sockets + 1, sizeof(*grown));

	if (!grown)
		return NULL; /* the next second may have room */
	backlog->sockets = grown;
	grown += backlog->n_sockets++;
	*grown = (struct run_backlog_socket){ .room = 0 };
	return grown;
}

static uint32_t target(const struct run_backlog *backlog, uint32_t listener)
{
	uint32_t wanted = backlog->policy.listeners[listener].backlog;

	return wanted < backlog->cap ? wanted : backlog->cap;
}

/* Once for each value of it. */
static void warn_capped(struct run_backlog *backlog, uint32_t slot)
{
	const struct stile_listener *listener = &backlog->policy.listeners[slot];

	if (listener->backlog <= backlog->cap || backlog->warned[slot] == backlog->cap)
		return;
	backlog->warned[slot] = backlog->cap;
	log_warning("listen_backlog %u of '%s': net.core.somaxconn caps it at %u",
		    listener->backlog, listener->name, backlog->cap);
}

static void look(const struct sockdiag_socket *socket, void *context)
{
	struct run_backlog *backlog = context;
	struct wish wish = { .policy = &backlog->policy };
	struct run_backlog_socket *known;
	uint32_t wanted;

	snapshot_places_served(backlog->places, socket, choose, &wish);
	if (wish.listener == 0)
		return;
	warn_capped(backlog, wish.listener);
	wanted = target(backlog, wish.listener);
	if (backlog->policy.listeners[wish.listener].backlog_exactly ? socket->room == wanted
								     : socket->room >= wanted)
		return;
	known = find(backlog, socket);
	if (!known)
		known = add(backlog);
	if (!known)
		return;
	known->socket = *socket;
	known->listener = wish.listener;
	known->seen = true;
}

static void tell(const struct run_backlog *backlog, const struct run_backlog_socket *known,
		 const struct backlog_holder *holder, int error)
{
	const char *name = backlog->policy.listeners[known->listener].name;
	uint32_t wanted = target(backlog, known->listener);

	if (error == 0)
		log_info("listen_backlog of '%s': port %u: from %u to %u (process %d, %s)", name,
			 known->socket.local_port, known->socket.room, wanted, holder->pid,
			 holder->name);
	else if (error == -ESRCH)
		log_warning("listen_backlog of '%s': port %u: no process here holds the socket: "
			    "its backlog stays %u",
			    name, known->socket.local_port, known->socket.room);
	else if (error == -EPERM || error == -EACCES)
		log_warning("listen_backlog of '%s': port %u: its backlog stays %u: it takes "
			    "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
			    name, known->socket.local_port, known->socket.room);
	else
		log_warning("listen_backlog of '%s': port %u: its backlog stays %u: %s", name,
			    known->socket.local_port, known->socket.room, strerror(-error));
}

/* What was tried in vain is tried again after 1, 2, 4 seconds and so on, and told once. */
static void attempt(struct run_backlog *backlog, struct run_backlog_socket *known)
{
	const bool again = known->tries && known->room == known->socket.room;
	struct backlog_holder holder;
	int error;

	if (again && known->seconds > 0) {
		known->seconds--;
		return;
	}
	error = backlog_set(&known->socket, target(backlog, known->listener), &holder);
	if (!again || error != known->error)
		tell(backlog, known, &holder, error);
	known->error = error;
	known->room = known->socket.room;
	known->tries = again ? known->tries + 1 : 1;
	known->seconds = known->tries > 6 ? WAIT_MAX - 1 : (1U << (known->tries - 1)) - 1;
}

/* Forgets those that are as they should be by now, or gone. */
static void sweep(struct run_backlog *backlog)
{
	size_t kept = 0;

	for (size_t i = 0; i < backlog->n_sockets; i++) {
		if (!backlog->sockets[i].seen)
			continue;
		backlog->sockets[i].seen = false;
		backlog->sockets[kept++] = backlog->sockets[i];
	}
	backlog->n_sockets = kept;
}

void run_backlog_watch(struct run *run)
{
	const struct sockdiag_query listening = { .states = 1 << SOCKDIAG_LISTEN };
	struct run_backlog *backlog = run->backlog;
	int error;

	if (!backlog || run->detached)
		return;
	error = backlog_cap(&backlog->cap);
	if (error == 0)
		error = sockdiag_each(backlog->diag, &listening, look, backlog);
	if (error && error != backlog->error)
		log_warning("listen_backlog: look at the sockets: %s", strerror(-error));
	backlog->error = error;
	sweep(backlog);
	for (size_t i = 0; i < backlog->n_sockets; i++)
		attempt(backlog, &backlog->sockets[i]);
}
