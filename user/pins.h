/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an instance's kernel objects are pinned, and nothing of what they hold:
 *
 *   /sys/fs/bpf/stile/INSTANCE/link-IFACE      the attachment of an interface
 *   /sys/fs/bpf/stile/INSTANCE/mode-IFACE -> generic   how it is attached, for whoever asks
 *   /sys/fs/bpf/stile/INSTANCE/admit-IFACE     the one at its ingress, where sources are proven
 *   /sys/fs/bpf/stile/INSTANCE/cgroup          the attachment of a cgroup
 *   /sys/fs/bpf/stile/INSTANCE/cgroup-path -> /sys/fs/cgroup   which cgroup that is
 *   /sys/fs/bpf/stile/INSTANCE/gen-N/          program, policy and maps of one load
 *   /sys/fs/bpf/stile/INSTANCE/gen-N/limiter-NAME   a bucket table; goes on from gen to gen
 *   /sys/fs/bpf/stile/INSTANCE/current -> gen-N    switched by rename
 *
 * bpffs refuses names with a dot: in names "." is pinned as "%2e" and "%" as "%25".
 */
#ifndef STILE_PINS_H
#define STILE_PINS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PINS_DEFAULT_INSTANCE "default"
#define PINS_BPFFS "/sys/fs/bpf"
#define PINS_STILE PINS_BPFFS "/stile"
#define PINS_RUN "/run/stile"
#define PINS_LINK "link-"
#define PINS_ADMIT "admit-"
#define PINS_MODE "mode-"
#define PINS_CGROUP "cgroup"
#define PINS_CGROUP_PATH PINS_CGROUP "-path"
#define PINS_MODE_SIZE 16 /* bytes of a mode's name, its NUL included */
#define PINS_GENERATION "gen-"

struct pins {
	char root[PATH_MAX];	/* /sys/fs/bpf/stile/INSTANCE */
	char control[PATH_MAX]; /* /run/stile/control.sock, or /run/stile/INSTANCE.sock */
	char lock[PATH_MAX];	/* /run/stile/INSTANCE.lock: held while pins are changed */
	char pid[PATH_MAX];	/* /run/stile/INSTANCE.pid: held by the daemon */
};

/* 0, or -EINVAL where @instance is not 1 to 32 of a-z A-Z 0-9 _ -, or is "control". */
int pins_init(struct pins *ret_pins, const char *instance);

/* Mounts bpffs where it is missing, makes the root and /run/stile. 0 or negative errno. */
int pins_prepare(const struct pins *pins);

/*
 * Takes the lock, waiting for it for ten seconds at most: whoever holds it for longer was stopped
 * (-ETIMEDOUT). The fd that holds it until it is closed, or negative errno. pins_try_lock() does
 * not wait (-EBUSY).
 */
int pins_lock(const struct pins *pins);
int pins_try_lock(const struct pins *pins);

/*
 * The path of @name (NULL: the directory) in the generation in force, or in @generation. Nothing is
 * looked up. 0 or -ENAMETOOLONG.
 */
int pins_path_current(const struct pins *pins, const char *name, char ret_path[PATH_MAX]);
int pins_path(const struct pins *pins, uint64_t generation, const char *name,
	      char ret_path[PATH_MAX]);
int pins_path_link(const struct pins *pins, const char *ifname, char ret_path[PATH_MAX]);
int pins_path_admit(const struct pins *pins, const char *ifname, char ret_path[PATH_MAX]);
int pins_path_mode(const struct pins *pins, const char *ifname, char ret_path[PATH_MAX]);
int pins_path_cgroup(const struct pins *pins, char ret_path[PATH_MAX]);

/* The number of the generation in force. 0, or -ENOENT where there is none, or negative errno. */
int pins_current(const struct pins *pins, uint64_t *ret_generation);

/*
 * All that change something are called with the lock held. A generation that a killed process left
 * half made is emptied first; the one in force is never touched (-EBUSY).
 */
int pins_create_generation(const struct pins *pins, uint64_t generation);
/* Puts a generation in force: at once, for every reader. */
int pins_switch(const struct pins *pins, uint64_t generation);
int pins_remove_others(const struct pins *pins, uint64_t generation);
int pins_remove_generation(const struct pins *pins, uint64_t generation);

/*
 * Calls @each with the interface name of every pinned link, which it may remove; stops at a
 * non-zero result and returns it. 0 where there is none.
 */
int pins_each_link(const struct pins *pins, int (*each)(const char *ifname, void *context),
		   void *context);

/* The same of those at an interface's ingress. */
int pins_each_admit(const struct pins *pins, int (*each)(const char *ifname, void *context),
		    void *context);

/* The same with the number of every generation that is pinned, whole or not. */
int pins_each_generation(const struct pins *pins, int (*each)(uint64_t generation, void *context),
			 void *context);

/*
 * How the link of @ifname is attached, in a word of the caller's: it is another namespace's device
 * perhaps, which cannot be asked. 0, -ENOENT where nothing is noted, or negative errno.
 */
int pins_note_mode(const struct pins *pins, const char *ifname, const char *mode);
int pins_read_mode(const struct pins *pins, const char *ifname, char ret_mode[PINS_MODE_SIZE]);

/* Removes the pin of a link, and what is noted of it. 0, also where there is none. */
int pins_remove_link(const struct pins *pins, const char *ifname);

/* The same of the directory that is attached to. */
int pins_note_cgroup(const struct pins *pins, const char *directory);
int pins_read_cgroup(const struct pins *pins, char ret_directory[PATH_MAX]);
int pins_remove_cgroup(const struct pins *pins);

/*
 * Gives all of it to a user, with the folders that the instance shares with others. Without a
 * folder of its own it could not put things in force again after a detach by root.
 */
int pins_give(const struct pins *pins, uid_t uid, gid_t gid);

/* Removes the root and the lock where nothing is pinned, after a start that was refused. */
void pins_remove_empty(const struct pins *pins);

/* Removes all of it, links first (which detaches), and the root. 0 where there was nothing. */
int pins_remove_all(const struct pins *pins);

#endif /* STILE_PINS_H */
