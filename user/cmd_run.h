/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the daemon share: cmd_run.c and cmd_run_*.c. */
#ifndef STILE_CMD_RUN_H
#define STILE_CMD_RUN_H

#include <limits.h>
#include <stdbool.h>

#include "apply.h"
#include "cmd_run_connections.h"
#include "cmd_run_links.h"
#include "config.h"
#include "diag.h"
#include "metrics.h"
#include "pins.h"
#include "privilege.h"

struct config_listener;
struct control;
struct event;
struct event_base;
struct http;
struct run_agent;
struct run_evict;
struct run_levels;
struct run_proofs;
struct run_shedding;

/* Where the configuration comes from. */
struct run_source {
	const char *path; /* as given, or NULL: the default path or, without that, safe defaults */
	const char *interfaces[STILE_INTERFACES_MAX]; /* in place of the configuration's */
	unsigned int n_interfaces;
	bool from_file; /* once a file was read, safe defaults never take its place */
};

struct run {
	const struct pins *pins;
	struct run_source source;
	struct config config; /* in force; all zero before the first load */
	const char *file;     /* that it is from, as it is named in messages */
	struct apply_result applied;
	struct run_links links;
	struct run_connections connections;
	struct metrics_daemon counts;
	struct event_base *base;
	struct http *http;		 /* NULL: no metrics server */
	struct run_agent *agents;	 /* a list */
	struct run_evict *evict;	 /* NULL: nothing is to be evicted */
	struct run_proofs *proofs;	 /* NULL: no listener proves by auto */
	struct run_levels *levels;	 /* NULL before the first load */
	struct run_shedding *shedding;	 /* the same */
	struct control *control;	 /* NULL before the first load */
	char control_path[PATH_MAX];	 /* where it is, whatever the configuration says by now */
	struct privilege_user user;	 /* to become */
	char user_name[STILE_NAME_SIZE]; /* as the start had it */
	struct run_backlog *backlog;	 /* NULL: no listener has a listen_backlog */
	struct syncookies cookies;
	bool takes_sockets; /* it kept what that takes */
	bool detached;	    /* it is known that 'stile detach' took all of it out */
	int lists_error;    /* of the last look at the lists, told once */
};

/* Reads the configuration. 0 or -errno with the mistakes in @diag, which it names. */
int run_source_read(struct run_source *source, struct diag *diag, struct config *ret_config);

/*
 * Reads the configuration and puts it in force, servers included. Where it fails, nothing has
 * changed, and the mistakes are in @diag.
 */
int run_load(struct run *run, struct diag *diag);

/* Puts the configuration in force in force again, for interfaces that have appeared. */
int run_load_again(struct run *run, struct diag *diag);

/* Whether what was attached has been taken out since. */
bool run_is_detached(const struct run *run);

/* As run_load(), told to systemd and the log. @ret_text (malloc'ed) is for whoever asked. */
bool run_reload(struct run *run, char **ret_text);

/*
 * Binds what @next listens on and @run does not yet, so that a port that is taken is known before
 * anything changes. 0 or -errno, with the reason in @diag.
 */
struct run_servers {
	struct http *http;
	struct control *control;
	struct run_agent *agents;
};
int run_servers_bind(struct run *run, const struct config *next, struct diag *diag,
		     struct run_servers *ret_servers);
void run_servers_free(struct run_servers *servers);

/* Puts them in the place of those of run->config, which is still the one before. */
void run_servers_adopt(struct run *run, const struct config *next, struct run_servers *servers,
		       struct diag *diag);

/*
 * Finds out whom the daemon is to run as: what cannot be is in @diag. And becomes it, for good,
 * with the privileges and system calls that are left to it; what was refused of those is logged.
 */
int run_user_find(struct run *run, const struct config *config, struct diag *diag);
int run_user_become(struct run *run);
void run_user_watch(void);

/* The first listener of @config with a listen_backlog, or NULL. */
const struct config_listener *run_backlog_wanted(const struct config *config);

/* Looks after backlogs as the configuration in force wants it from here on, and does so once. */
void run_backlog_load(struct run *run);
void run_backlog_watch(struct run *run);
void run_backlog_free(struct run *run);

/* What is said of a load. */
void run_tell_manager(const struct run *run);
void run_log_applied(const struct run *run);
void run_log_gone(struct run *run);
#define RUN_TABLES_SIZE 64
const char *run_tables_text(const struct apply_result *applied, char text[RUN_TABLES_SIZE]);
char *run_describe_reload(const struct run *run, const struct diag *diag, bool ok);

#endif /* STILE_CMD_RUN_H */
