/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an instance's kernel objects are pinned, and nothing of what they hold:
 *
 *   /sys/fs/bpf/stile/INSTANCE/link-IFACE      the attachment of an interface
 *   /sys/fs/bpf/stile/INSTANCE/gen-N/          program, policy and maps of one load
 *   /sys/fs/bpf/stile/INSTANCE/gen-N/limiter-NAME   a bucket table; goes on from gen to gen
 *   /sys/fs/bpf/stile/INSTANCE/current -> gen-N    switched by rename
 */
#ifndef STILE_PINS_H
#define STILE_PINS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define PINS_DEFAULT_INSTANCE "default"
#define PINS_BPFFS "/sys/fs/bpf"

struct pins {
	char root[PATH_MAX];	/* /sys/fs/bpf/stile/INSTANCE */
	char control[PATH_MAX]; /* /run/stile/control.sock, or /run/stile/INSTANCE.sock */
	char lock[PATH_MAX];	/* /run/stile/INSTANCE.lock: held while pins are changed */
};

/* 0, or -EINVAL where @instance is not 1 to 32 of a-z A-Z 0-9 _ - . */
int pins_init(struct pins *ret_pins, const char *instance);

/* Mounts bpffs where it is missing and makes the root. 0 or negative errno. */
int pins_prepare(const struct pins *pins);

/* Takes the lock, waiting for it; the fd that holds it, or negative errno. */
int pins_lock(const struct pins *pins);

/* The path of @name in the generation in force, or in @generation; 0 or -ENAMETOOLONG. */
int pins_path_current(const struct pins *pins, const char *name, char ret_path[PATH_MAX]);
int pins_path(const struct pins *pins, uint64_t generation, const char *name,
	      char ret_path[PATH_MAX]);
int pins_path_link(const struct pins *pins, const char *ifname, char ret_path[PATH_MAX]);

/* Makes generation N's directory; puts it in force; removes every other one. */
int pins_create_generation(const struct pins *pins, uint64_t generation);
int pins_switch(const struct pins *pins, uint64_t generation);
int pins_remove_others(const struct pins *pins, uint64_t generation);
int pins_remove_generation(const struct pins *pins, uint64_t generation);

/* Calls @each with the interface name of every pinned link; stops at a non-zero result. */
int pins_each_link(const struct pins *pins, int (*each)(const char *ifname, void *context),
		   void *context);

/* Removes all of it, links first (which detaches), and the root. 0 where there was nothing. */
int pins_remove_all(const struct pins *pins);

#endif /* STILE_PINS_H */
