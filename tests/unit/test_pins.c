/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Directories of pins, in a directory of their own on whatever file system is there: pins.h knows
 * names only, so files stand for what is pinned. Whether bpffs takes the names is asked by the live
 * tests.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "pins.h"
#include "util.h"

static char directory[] = "/tmp/stile-test-pins-XXXXXX";
static struct pins pins;

static int setup(void)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(pins.root, sizeof(pins.root), "%s/root", directory);
	snprintf(pins.control, sizeof(pins.control), "%s/run/control.sock", directory);
	snprintf(pins.lock, sizeof(pins.lock), "%s/run/lock", directory);
	return mkdir(pins.root, 0755);
}

static int teardown(void)
{
	char path[PATH_MAX];

	(void)unlink(pins.lock);
	(void)rmdir(pins.root);
	snprintf(path, sizeof(path), "%s/run", directory);
	(void)rmdir(path);
	return rmdir(directory);
}

/* Stands for a pinned object. */
static void make_file(const char *path)
{
	autofd int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(path, fd >= 0);
}

static void make_pin(uint64_t generation, const char *name)
{
	char path[PATH_MAX];

	CHECK_EQ(name, pins_path(&pins, generation, name, path), 0);
	make_file(path);
}

static void make_link(const char *ifname)
{
	char path[PATH_MAX];

	CHECK_EQ(ifname, pins_path_link(&pins, ifname, path), 0);
	make_file(path);
}

static bool is_there(uint64_t generation, const char *name)
{
	char path[PATH_MAX];

	return pins_path(&pins, generation, name, path) == 0 && access(path, F_OK) == 0;
}

static void test_instances(void)
{
	static const struct {
		const char *what, *instance, *root, *control;
		int result;
	} rows[] = {
		{ "the default", "default", "/sys/fs/bpf/stile/default", "/run/stile/control.sock",
		  0 },
		{ "another", "Edge-2_b", "/sys/fs/bpf/stile/Edge-2_b", "/run/stile/Edge-2_b.sock",
		  0 },
		{ "32 letters", "abcdefghijklmnopqrstuvwxyz012345",
		  "/sys/fs/bpf/stile/abcdefghijklmnopqrstuvwxyz012345",
		  "/run/stile/abcdefghijklmnopqrstuvwxyz012345.sock", 0 },
		{ "33 letters", "abcdefghijklmnopqrstuvwxyz0123456", NULL, NULL, -EINVAL },
		{ "no letter", "", NULL, NULL, -EINVAL },
		{ "a way out", "../x", NULL, NULL, -EINVAL },
		{ "a dot, which bpffs refuses", "a.b", NULL, NULL, -EINVAL },
		{ "a space", "a b", NULL, NULL, -EINVAL },
		{ "the default's socket", "control", NULL, NULL, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pins other;
		int result = pins_init(&other, rows[i].instance);

		CHECK_EQ(rows[i].what, result, rows[i].result);
		if (result < 0)
			continue;
		CHECK_STR_EQ(rows[i].what, other.root, rows[i].root);
		CHECK_STR_EQ(rows[i].what, other.control, rows[i].control);
	}
}

/* Appends a name and a space. */
static int collect(const char *ifname, void *context)
{
	char *names = context;

	snprintf(names + strlen(names), 64 - strlen(names), "%s ", ifname);
	return strcmp(ifname, "stop") == 0 ? 7 : 0;
}

static void test_links(void)
{
	static const char *const rows[] = { "eth0", "eth0.100", "a%b", "%2e", "..." };
	char path[PATH_MAX], names[64];

	CHECK_EQ("none", pins_each_link(&pins, collect, names), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		names[0] = '\0';
		make_link(rows[i]);
		CHECK_EQ(rows[i], pins_path_link(&pins, rows[i], path), 0);
		CHECK("no dot in the name", strchr(strrchr(path, '/'), '.') == NULL);
		CHECK_EQ("one link", pins_each_link(&pins, collect, names), 0);
		names[strlen(names) - 1] = '\0';
		CHECK_STR_EQ("its interface", names, rows[i]);
		CHECK_EQ("it goes", unlink(path), 0);
	}
	names[0] = '\0';
	make_link("stop");
	CHECK_EQ("the first result that is not 0 is the last",
		 pins_each_link(&pins, collect, names), 7);
	CHECK_EQ("all goes", pins_remove_all(&pins), 0);
	CHECK_EQ("once more", pins_remove_all(&pins), 0);
	CHECK_EQ("no root, no link", pins_each_link(&pins, collect, names), 0);
	CHECK_EQ("the root, again", mkdir(pins.root, 0755), 0);
}

static void test_modes(void)
{
	char path[PATH_MAX], mode[PINS_MODE_SIZE] = "as it was";

	CHECK_EQ("nothing is noted", pins_read_mode(&pins, "eth0.1", mode), -ENOENT);
	CHECK_STR_EQ("nor read", mode, "as it was");
	CHECK_EQ("it is noted", pins_note_mode(&pins, "eth0.1", "native"), 0);
	CHECK_EQ("and noted again", pins_note_mode(&pins, "eth0.1", "native"), 0);
	CHECK_EQ("it is read", pins_read_mode(&pins, "eth0.1", mode), 0);
	CHECK_STR_EQ("as it is", mode, "native");
	CHECK_EQ("it changes", pins_note_mode(&pins, "eth0.1", "generic"), 0);
	CHECK_EQ("it is read", pins_read_mode(&pins, "eth0.1", mode), 0);
	CHECK_STR_EQ("as it is now", mode, "generic");
	make_link("eth0.1");
	CHECK_EQ("link and note go", pins_remove_link(&pins, "eth0.1"), 0);
	CHECK_EQ("and need not be there", pins_remove_link(&pins, "eth0.1"), 0);
	CHECK_EQ("the note", pins_read_mode(&pins, "eth0.1", mode), -ENOENT);
	CHECK_EQ("its path", pins_path_link(&pins, "eth0.1", path), 0);
	CHECK_EQ("the link", access(path, F_OK), -1);
	CHECK_EQ("a note without a link", pins_note_mode(&pins, "lo", "native"), 0);
	CHECK_EQ("goes with the rest", pins_remove_all(&pins), 0);
	CHECK_EQ("the root, again", mkdir(pins.root, 0755), 0);
}

static int add_up(uint64_t generation, void *context)
{
	*(uint64_t *)context += generation;
	return 0;
}

static void test_generations(void)
{
	uint64_t sum = 0;
	uint64_t current = 99;
	char path[PATH_MAX];

	CHECK_EQ("none is in force", pins_current(&pins, &current), -ENOENT);
	CHECK_EQ("nothing was written", current, 99);
	CHECK_EQ("the first", pins_create_generation(&pins, 1), 0);
	make_pin(1, "limiter-per-client");
	CHECK_EQ("half made it is not in force", pins_current(&pins, &current), -ENOENT);
	CHECK_EQ("what a killed process made is emptied", pins_create_generation(&pins, 1), 0);
	CHECK("so it is", !is_there(1, "limiter-per-client"));
	make_pin(1, "xdp");
	CHECK_EQ("in force", pins_switch(&pins, 1), 0);
	CHECK_EQ("its number", pins_current(&pins, &current), 0);
	CHECK_EQ("is 1", current, 1);
	CHECK_EQ("a path in it", pins_path_current(&pins, "xdp", path), 0);
	CHECK_EQ("is there", access(path, F_OK), 0);
	CHECK_EQ("the one in force is not emptied", pins_create_generation(&pins, 1), -EBUSY);
	CHECK_EQ("nor removed", pins_remove_generation(&pins, 1), -EBUSY);
	CHECK("it is whole", is_there(1, "xdp"));

	CHECK_EQ("the next", pins_create_generation(&pins, 2), 0);
	CHECK_EQ("one that a killed process left", pins_create_generation(&pins, 3), 0);
	CHECK_EQ("all of them are found", pins_each_generation(&pins, add_up, &sum), 0);
	CHECK_EQ("by their numbers", sum, 1 + 2 + 3);
	make_pin(3, "control");
	CHECK_EQ("its path", pins_path_current(&pins, NULL, path), 0);
	memcpy(strrchr(path, '/'), "/next", sizeof("/next"));
	CHECK_EQ("a process was killed while it switched", symlink("gen-3", path), 0);
	CHECK_EQ("the next is in force", pins_switch(&pins, 2), 0);
	CHECK_EQ("its number", pins_current(&pins, &current), 0);
	CHECK_EQ("is 2", current, 2);
	make_link("eth0");
	CHECK_EQ("the others go", pins_remove_others(&pins, 2), 0);
	CHECK("the first", !is_there(1, NULL));
	CHECK("the half made one", !is_there(3, NULL));
	CHECK("not this one", is_there(2, NULL));
	CHECK_EQ("links stay", pins_path_link(&pins, "eth0", path), 0);
	CHECK_EQ("so they do", access(path, F_OK), 0);

	CHECK_EQ("all goes", pins_remove_all(&pins), 0);
	CHECK_EQ("the root, too", access(pins.root, F_OK), -1);
	CHECK_EQ("none is in force", pins_current(&pins, &current), -ENOENT);
	CHECK_EQ("the root, again", mkdir(pins.root, 0755), 0);
}

/* A link that does not point to a generation is none of ours. */
static void test_strange(void)
{
	static const char *const rows[] = { "gen-", "gen-x", "gen-1x", "/", "gen-1/.." };
	uint64_t current;
	char path[PATH_MAX];

	CHECK_EQ("its path", pins_path_current(&pins, NULL, path), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_EQ(rows[i], symlink(rows[i], path), 0);
		CHECK_EQ(rows[i], pins_current(&pins, &current), -EPROTO);
		CHECK_EQ(rows[i], unlink(path), 0);
	}
}

/* Waits for the lock; what it was for is gone by then. */
static void *wait_for_lock(void *context)
{
	*(int *)context = pins_lock(&pins);
	return NULL;
}

static void test_lock(void)
{
	int first = pins_lock(&pins);
	int second = -1, probe;
	pthread_t thread;

	if (!CHECK("the directory and the file are made", first >= 0))
		return;
	probe = open(pins.lock, O_RDWR | O_CLOEXEC);
	CHECK_EQ("it is held", flock(probe, LOCK_EX | LOCK_NB), -1);
	close(probe);
	if (!CHECK_EQ("a thread", pthread_create(&thread, NULL, wait_for_lock, &second), 0))
		return;
	CHECK_EQ("a detach removes the file", unlink(pins.lock), 0);
	close(first);
	(void)pthread_join(thread, NULL);
	CHECK("the one that waited holds a lock", second >= 0);
	probe = open(pins.lock, O_RDWR | O_CLOEXEC);
	CHECK("on the file that is there now", probe >= 0);
	CHECK_EQ("which is held", flock(probe, LOCK_EX | LOCK_NB), -1);
	close(probe);
	close(second);
}

CHECK_SUITE_WITH(pins, setup, teardown, { "instances", test_instances }, { "links", test_links },
		 { "modes", test_modes }, { "generations", test_generations },
		 { "strange links", test_strange }, { "the lock", test_lock });
