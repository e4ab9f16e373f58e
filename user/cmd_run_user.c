/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whom the daemon runs as once it has started, and what it may do then. Starting takes root: the
 * folders are root's, and so may be the pins of a daemon before.
 */
#include <errno.h>
#include <string.h>

#include "account.h"
#include "cmd_run.h"
#include "log.h"
#include "pidfile.h"
#include "sandbox.h"
#include "util.h"

#define USER_DEFAULT "stile"

static int choose(struct run *run, const struct config *config, struct diag *diag)
{
	const struct config_name *wanted = &config->user;
	struct privilege_user self = privilege_self();
	int error = account_check(config, diag);

	if (error)
		return error;
	if (!*wanted->text) {
		if (!privilege_may_change_user() ||
		    privilege_find_user(USER_DEFAULT, &run->user) < 0)
			run->user = self;
		return 0;
	}
	snprintf(run->user_name, sizeof(run->user_name), "%s", wanted->text);
	error = privilege_find_user(run->user_name, &run->user);
	if (error)
		return error; /* it was there a moment ago */
	if (run->user.uid == self.uid || privilege_may_change_user())
		return 0;
	diag_error(diag, wanted->place, "user: it takes root to become '%s'", wanted->text);
	return -EPERM;
}

static int is_another_user(pid_t other, void *context)
{
	const struct run *run = context;
	uid_t uid;

	if (privilege_settled_user(other, &uid) < 0 || uid == run->user.uid)
		return 0;
	return (int)other;
}

/* The folders that instances share are given to the user of each: two of them cannot have them. */
static int ask_others(struct run *run, struct place place, struct diag *diag)
{
	int other = 0;

	if (privilege_may_change_user())
		other = pidfile_each_other(run->pins->pid, is_another_user, run);
	if (other == 0)
		return 0;
	diag_error(diag, place,
		   "user: another instance, process %d, runs as another user, and could not reload "
		   "or end any more: give both the same 'user', or stop that one first",
		   other);
	return -EBUSY;
}

/* What a reload says of the user is for the next start, whatever the one before has said. */
static void warn(const struct run *run, const struct config_name *wanted, struct diag *diag)
{
	struct privilege_user next;

	if (*wanted->text && privilege_find_user(wanted->text, &next) < 0)
		diag_warning(diag, wanted->place,
			     "user: there is no user '%s': the next start will be refused",
			     wanted->text);
	else if (strcmp(wanted->text, run->user_name) != 0)
		diag_warning(diag, wanted->place,
			     "user: the daemon stays '%s' until the next start",
			     run->user.name ? run->user.name : "as it is");
}

static void warn_backlog(const struct run *run, const struct config *config, struct diag *diag)
{
	const struct config_listener *listener = run_backlog_wanted(config);

	if (listener && !run->takes_sockets)
		diag_warning(diag, listener->queue.backlog_place,
			     "listen_backlog: the daemon has given up what it takes, and backlogs "
			     "stay as they are until the next start");
}

int run_user_find(struct run *run, const struct config *config, struct diag *diag)
{
	int error;

	if (run->control) {
		warn(run, &config->user, diag);
		warn_backlog(run, config, diag);
		return 0;
	}
	error = choose(run, config, diag);
	return error ? error : ask_others(run, config->user.place, diag);
}

static int give_pins(const struct run *run)
{
	autofd int lock = pins_lock(run->pins);

	if (lock < 0)
		return lock;
	return pins_give(run->pins, run->user.uid, run->user.gid);
}

int run_user_become(struct run *run)
{
	const bool may_change = privilege_may_change_user();
	struct privilege_user nobody;
	int error = 0;

	if (may_change)
		error = give_pins(run);
	run->takes_sockets = run_backlog_wanted(&run->config) != NULL;
	if (error == 0)
		error = privilege_drop(&run->user, run->takes_sockets);
	if (error) {
		log_error("give up privileges: %s", strerror(-error));
		return error;
	}
	if (run->user.name)
		log_info("runs as user '%s', with few capabilities", run->user.name);
	else if (run->user.uid == 0)
		log_info("runs as root, with few capabilities: %s",
			 may_change ? "there is no user '" USER_DEFAULT "'"
				    : "it may not become another user");
	/* A reload looks users up, and what does that for the system is loaded only before this. */
	(void)privilege_find_user("", &nobody);
	error = sandbox_enter(run->takes_sockets);
	if (error)
		log_warning("no filter of system calls: %s", strerror(-error));
	return 0;
}

void run_user_watch(void)
{
	int number = sandbox_refused();
	char name[32];

	if (number < 0)
		return;
	sandbox_name(number, name);
	log_warning("system call %d (%s) was refused: the daemon should have no use for it, so "
		    "this is a mistake of Stile's or an attack on it",
		    number, *name ? name : "unknown");
}
