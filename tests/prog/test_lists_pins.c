/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lists.h on pinned maps of the shape that a load pins, without a program: entries by hand and of
 * the file, and the counts by which the program decides whether it looks at all.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <stile/abi.h>

#include "check.h"
#include "lists.h"
#include "util.h"

#define INSTANCE "test-lists-pins"
#define ROOM 4096 /* entries */
#define SECOND 1000000000ULL

static struct pins pins;

static int make_list(const char *name)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	char path[PATH_MAX];
	autofd int fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, name, sizeof(struct stile_prefix),
				       sizeof(struct stile_listed), ROOM, &options);

	if (fd < 0 || pins_path(&pins, 1, name, path) < 0)
		return -1;
	return bpf_obj_pin(fd, path);
}

static int make_control(void)
{
	char path[PATH_MAX];
	autofd int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "control", sizeof(__u32),
				       sizeof(struct stile_control), 1, NULL);

	if (fd < 0 || pins_path(&pins, 1, "control", path) < 0)
		return -1;
	return bpf_obj_pin(fd, path);
}

static bool begin(void)
{
	if (!check_privileged()) {
		CHECK_SKIP("no privilege to make maps");
		return false;
	}
	return CHECK_EQ("a name", pins_init(&pins, INSTANCE), 0) &&
	       CHECK_EQ("what an earlier run left", pins_remove_all(&pins), 0) &&
	       CHECK_EQ("a file system", pins_prepare(&pins), 0) &&
	       CHECK_EQ("a generation", pins_create_generation(&pins, 1), 0) &&
	       CHECK_EQ("trusted", make_list("trusted"), 0) &&
	       CHECK_EQ("blocked", make_list("blocked"), 0) &&
	       CHECK_EQ("control", make_control(), 0) &&
	       CHECK_EQ("in force", pins_switch(&pins, 1), 0);
}

static void end(void)
{
	CHECK_EQ("all is removed", pins_remove_all(&pins), 0);
}

static int open_map(const char *name)
{
	char path[PATH_MAX];

	return pins_path_current(&pins, name, path) < 0 ? -1 : bpf_obj_get(path);
}

static struct stile_control counts(void)
{
	struct stile_control control = { 0 };
	autofd int fd = open_map("control");
	__u32 slot = 0;

	CHECK_EQ("the counts", bpf_map_lookup_elem(fd, &slot, &control), 0);
	return control;
}

static struct prefix parse(const char *text)
{
	struct prefix prefix = { .bits = 0 };

	CHECK_EQ(text, prefix_parse(text, &prefix), 0);
	return prefix;
}

/* As a load puts what is in the file. */
static void put_of_file(const char *list, const char *text)
{
	const struct prefix prefix = parse(text);
	struct stile_prefix key = { .bits = prefix.bits };
	const struct stile_listed entry = { .bits = prefix.bits };
	autofd int fd = open_map(list);

	memcpy(key.address, prefix.address, sizeof(key.address));
	CHECK_EQ(text, bpf_map_update_elem(fd, &key, &entry, BPF_ANY), 0);
}

static uint64_t now_monotonic(void)
{
	struct timespec now = { 0 };

	CHECK_EQ("the clock", clock_gettime(CLOCK_MONOTONIC, &now), 0);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static bool find(const char *list, const char *text, struct stile_listed *ret_entry)
{
	const struct prefix prefix = parse(text);
	struct stile_prefix key = { .bits = prefix.bits };
	autofd int fd = open_map(list);

	memcpy(key.address, prefix.address, sizeof(key.address));
	return bpf_map_lookup_elem(fd, &key, ret_entry) == 0 && ret_entry->bits == key.bits;
}

static int add(enum lists_name name, const char *text, uint64_t lifetime)
{
	const struct prefix prefix = parse(text);

	return lists_add(&pins, name, &prefix, lifetime);
}

static int drop(enum lists_name name, const char *text)
{
	const struct prefix prefix = parse(text);

	return lists_remove(&pins, name, &prefix);
}

static void test_by_hand(void)
{
	struct stile_listed entry = { 0 };

	if (!begin())
		return;
	CHECK_EQ("a prefix", add(LISTS_BLOCKED, "10.0.0.0/8", 0), 0);
	CHECK_EQ("one in it", add(LISTS_BLOCKED, "10.1.0.0/16", 3600 * SECOND), 0);
	CHECK_EQ("one of the other list", add(LISTS_TRUSTED, "2001:db8::/32", 0), 0);
	CHECK_EQ("two are blocked", counts().blocked, 2);
	CHECK_EQ("one is trusted", counts().trusted, 1);
	if (CHECK("an entry", find("blocked", "10.0.0.0/8", &entry))) {
		CHECK_EQ("for good", entry.expires, 0);
		CHECK_EQ("by hand", entry.by_hand, 1);
		CHECK_EQ("of this length", entry.bits, 96 + 8);
	}
	CHECK("one that expires", find("blocked", "10.1.0.0/16", &entry) && entry.expires > 0);
	CHECK_EQ("again, for good", add(LISTS_BLOCKED, "10.1.0.0/16", 0), 0);
	CHECK("the last word counts", find("blocked", "10.1.0.0/16", &entry) && !entry.expires);
	CHECK_EQ("it is still two", counts().blocked, 2);
	CHECK_EQ("what is only within an entry is none", drop(LISTS_BLOCKED, "10.0.0.1"), -ESRCH);
	CHECK_EQ("nor what is around one", drop(LISTS_BLOCKED, "10.0.0.0/7"), -ESRCH);
	CHECK_EQ("nor that of the other list", drop(LISTS_TRUSTED, "10.0.0.0/8"), -ESRCH);
	CHECK_EQ("away with it", drop(LISTS_BLOCKED, "10.0.0.0/8"), 0);
	CHECK_EQ("once", drop(LISTS_BLOCKED, "10.0.0.0/8"), -ESRCH);
	CHECK_EQ("one is left", counts().blocked, 1);
	CHECK("the one within", find("blocked", "10.1.0.0/16", &entry));
	end();
}

static void test_of_file(void)
{
	struct stile_listed entry = { 0 };

	if (!begin())
		return;
	put_of_file("blocked", "192.0.2.0/24");
	CHECK_EQ("stands in the file", add(LISTS_BLOCKED, "192.0.2.0/24", SECOND), -EEXIST);
	CHECK("for good", find("blocked", "192.0.2.0/24", &entry) && !entry.expires);
	CHECK_EQ("and is removed there", drop(LISTS_BLOCKED, "192.0.2.0/24"), -EBUSY);
	CHECK_EQ("one within it is another", add(LISTS_BLOCKED, "192.0.2.1", 0), 0);
	CHECK_EQ("no count goes below 0", drop(LISTS_BLOCKED, "192.0.2.1"), 0);
	CHECK_EQ("so it is", counts().blocked, 0);
	CHECK_EQ("one that expires", add(LISTS_BLOCKED, "192.0.2.1", 1), 0);
	CHECK_EQ("goes", lists_expire(&pins), 1);
	CHECK_EQ("and a count that was wrong is right", counts().blocked, 1);
	end();
}

/* The @i-th host of 10.0.0.0/16. */
static struct stile_prefix key_of(unsigned int i)
{
	struct stile_prefix key = { .bits = 128, .address = { [10] = 0xff, 0xff, 10 } };

	key.address[14] = (uint8_t)(i >> 8);
	key.address[15] = (uint8_t)i;
	return key;
}

/* More than is read at once; every other one has expired long ago. */
static void test_expire(void)
{
	uint64_t began = now_monotonic();
	autofd int fd = -1;
	int n_expired = 0;

	if (!begin())
		return;
	fd = open_map("blocked");
	for (unsigned int i = 0; i < 2000; i++) {
		struct stile_prefix key = key_of(i);
		const struct stile_listed entry = { .bits = 128, .by_hand = 1, .expires = i & 1 };

		CHECK_EQ("an entry", bpf_map_update_elem(fd, &key, &entry, BPF_ANY), 0);
		n_expired += i & 1;
	}
	CHECK_EQ("one that has time", add(LISTS_TRUSTED, "10.0.0.1", 3600 * SECOND), 0);
	CHECK_EQ("nobody looks before the first of them", lists_expire(&pins), 0);
	CHECK_EQ("one that has none", add(LISTS_TRUSTED, "10.0.0.2", 1), 0);
	n_expired++;
	CHECK_EQ("what has expired goes", lists_expire(&pins), n_expired);
	CHECK_EQ("the rest is there", counts().blocked, 2001 - (unsigned int)n_expired);
	CHECK_EQ("all of it", counts().trusted, 1);
	CHECK("the next look is when that one expires", counts().expires > began + 3000 * SECOND);
	CHECK_EQ("nothing more", lists_expire(&pins), 0);
	end();
}

static void test_full(void)
{
	autofd int fd = -1;

	if (!begin())
		return;
	fd = open_map("trusted");
	for (unsigned int i = 0; i < ROOM; i++) {
		struct stile_prefix key = key_of(i);
		const struct stile_listed entry = { .bits = 128 };

		CHECK_EQ("an entry", bpf_map_update_elem(fd, &key, &entry, BPF_ANY), 0);
	}
	CHECK_EQ("no room", add(LISTS_TRUSTED, "192.0.2.1", 0), -ENOSPC);
	CHECK_EQ("which is not counted", counts().trusted, 0);
	end();
}

static void test_nothing(void)
{
	if (!begin())
		return;
	end();
	CHECK_EQ("nothing to add to", add(LISTS_TRUSTED, "192.0.2.1", 0), -ENOENT);
	CHECK_EQ("nothing to remove from", drop(LISTS_TRUSTED, "192.0.2.1"), -ENOENT);
	CHECK_EQ("nothing to expire", lists_expire(&pins), -ENOENT);
	CHECK_EQ("no file was made", access(pins.lock, F_OK), -1);
	CHECK_EQ("no directory was made", access(pins.root, F_OK), -1);
}

CHECK_SUITE(lists_pins, { "entries by hand", test_by_hand },
	    { "entries of the file", test_of_file }, { "expiry", test_expire },
	    { "a full list", test_full }, { "nothing attached", test_nothing });
