/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel knows a program, not who put it there. What holds it is found in two places: a pin in
 * the BPF file system, or a file that some process has open. A program that nothing holds was
 * attached by its number alone, as ip(8) does.
 */
#include <ctype.h>
#include <dirent.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "apply_owner.h"
#include "pins.h"
#include "util.h"

static void directory_release(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory); /* only read */
}

#define autodir __attribute__((cleanup(directory_release)))

/* Whether @fd is a program, or a link of one, and it is that one. */
static bool is_of(int fd, uint32_t program)
{
	struct bpf_prog_info found = {};
	struct bpf_link_info link = {};
	__u32 size = sizeof(found), link_size = sizeof(link);
	char path[64], kind[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (readlink(path, kind, sizeof(kind) - 1) < 0)
		return false;
	if (strstr(kind, "bpf-prog") || strstr(kind, "bpf_prog"))
		return bpf_obj_get_info_by_fd(fd, &found, &size) == 0 && found.id == program;
	if (strstr(kind, "bpf_link") || strstr(kind, "bpf-link"))
		return bpf_obj_get_info_by_fd(fd, &link, &link_size) == 0 &&
		       link.prog_id == program;
	return false;
}

static void walk_release(FTS **walk)
{
	if (*walk)
		(void)fts_close(*walk); /* only read */
}

static bool find_pin(uint32_t program, char ret_path[PATH_MAX])
{
	char *const roots[] = { (char *)PINS_BPFFS, NULL };
	FTS *walk __attribute__((cleanup(walk_release))) =
		fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;

	while (walk && (entry = fts_read(walk))) {
		autofd int fd = -1;

		if (entry->fts_info != FTS_F)
			continue;
		fd = bpf_obj_get(entry->fts_path);
		if (fd < 0 || !is_of(fd, program))
			continue;
		snprintf(ret_path, PATH_MAX, "%s", entry->fts_path);
		return true;
	}
	return false;
}

/* Whether one of the files of @pid is it, as /proc tells whoever may look. */
static bool has_open(const char *pid, uint32_t program)
{
	char folder[64], path[PATH_MAX], line[128];
	autodir DIR *directory = NULL;
	struct dirent *entry;
	uint32_t id;

	snprintf(folder, sizeof(folder), "/proc/%.16s/fdinfo", pid);
	directory = opendir(folder);
	while (directory && (entry = readdir(directory))) {
		autofile FILE *file = NULL;

		snprintf(path, sizeof(path), "%s/%.16s", folder, entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file)) {
			if (sscanf(line, "prog_id: %u", &id) == 1 && id == program)
				return true;
		}
	}
	return false;
}

static bool find_process(uint32_t program, char ret_pid[16], char ret_name[32])
{
	autodir DIR *processes = opendir("/proc");
	autofile FILE *file = NULL;
	struct dirent *entry;
	char path[64];

	while (processes && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)entry->d_name[0]) || !has_open(entry->d_name, program))
			continue;
		snprintf(ret_pid, 16, "%.15s", entry->d_name);
		snprintf(path, sizeof(path), "/proc/%.16s/comm", entry->d_name);
		file = fopen(path, "re");
		if (!file || fscanf(file, "%31[^\n]", ret_name) != 1)
			snprintf(ret_name, 32, "?");
		return true;
	}
	return false;
}

void apply_owner_find(uint32_t program, char ret_text[APPLY_OWNER_SIZE])
{
	char path[PATH_MAX], pid[16], name[32];

	if (find_pin(program, path))
		snprintf(ret_text, APPLY_OWNER_SIZE, "pinned as %.200s", path);
	else if (find_process(program, pid, name))
		snprintf(ret_text, APPLY_OWNER_SIZE, "held by process %s, %s", pid, name);
	else
		snprintf(ret_text, APPLY_OWNER_SIZE, "nothing that can be seen holds it");
}
