/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where cgroup2 is mounted, in texts as different hosts have them. */
#include <errno.h>
#include <string.h>

#include "cgroup.h"
#include "check.h"
#include "util.h"

static void test_find_mount(void)
{
	static const struct {
		const char *what, *text, *want; /* NULL: there is none */
	} rows[] = {
		{ "alone", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
		  "/sys/fs/cgroup" },
		{ "beside version 1",
		  "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
		  "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
		  "/sys/fs/cgroup/unified" },
		{ "with optional fields",
		  "30 23 0:26 / /cg rw shared:9 master:1 - cgroup2 none rw\n", "/cg" },
		{ "with a blank in its path", "30 23 0:26 / /a\\040b rw - cgroup2 cgroup2 rw\n",
		  "/a b" },
		{ "a part of it before the whole",
		  "30 23 0:26 /part /part rw - cgroup2 none rw\n"
		  "31 23 0:26 / /whole rw - cgroup2 none rw\n",
		  "/whole" },
		{ "the whole before a part of it",
		  "31 23 0:26 / /whole rw - cgroup2 none rw\n"
		  "30 23 0:26 /part /part rw - cgroup2 none rw\n",
		  "/whole" },
		{ "nothing but a part of it", "30 23 0:26 /part /part rw - cgroup2 none rw\n",
		  "/part" },
		{ "version 1 alone",
		  "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n", NULL },
		{ "nothing", "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char path[PATH_MAX] = "untouched";
		autofile FILE *text = fmemopen((void *)rows[i].text, strlen(rows[i].text) + 1, "r");

		if (!CHECK("the text can be read", text != NULL))
			return;
		CHECK_EQ(rows[i].what, cgroup_find_mount(text, path), rows[i].want ? 0 : -ENOENT);
		CHECK_STR_EQ(rows[i].what, path, rows[i].want ? rows[i].want : "untouched");
	}
}

static void test_open(void)
{
	uint64_t id;

	CHECK_EQ("another file system's directory is none", cgroup_open("/proc", &id),
		 -EMEDIUMTYPE);
	CHECK_EQ("nor is one that is not there", cgroup_open("/proc/none", &id), -ENOENT);
	CHECK_EQ("nor is a file", cgroup_open("/proc/version", &id), -ENOTDIR);
}

CHECK_SUITE(cgroup, { "the mount point of cgroup2 is found", test_find_mount },
	    { "only directories of cgroup2 are opened", test_open });
