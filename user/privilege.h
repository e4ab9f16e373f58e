/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the process may do to the kernel, and as whom. */
#ifndef STILE_PRIVILEGE_H
#define STILE_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

#define PRIVILEGE_HINT "it takes root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON"

/*
 * Whether the process has the three. Without CAP_PERFMON the verifier refuses a program in words
 * that say nothing of capabilities.
 */
bool privilege_has_all(void);

/* Whom a daemon runs as. */
struct privilege_user {
	const char *name;
	uid_t uid;
	gid_t gid;
};

/* The process as it is, without a name. */
struct privilege_user privilege_self(void);

/* @name is the caller's, and goes on being used. 0, or -ENOENT where the system has none. */
int privilege_find_user(const char *name, struct privilege_user *ret_user);
int privilege_find_group(const char *name, gid_t *ret_gid);

/* Whether the process may become another user, and give files to it. */
bool privilege_may_change_user(void);

/* The user of a process that cannot become another one. 0, or -EAGAIN: it can, or is not known. */
int privilege_settled_user(pid_t pid, uid_t *ret_uid);

/*
 * Gives up, for good, whatever a daemon that runs has no use for: it keeps the three, a port below
 * 1024 for its metrics, and the reading of a configuration and of pins that are another user's; and
 * it becomes @user where that is another one. With @sockets it keeps what copying another process's
 * sockets takes, too. 0 or negative errno.
 */
int privilege_drop(const struct privilege_user *user, bool sockets);

#endif /* STILE_PRIVILEGE_H */
