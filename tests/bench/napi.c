/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See napi.h. */
#include "napi.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

pid_t napi_find(const char *device)
{
	char wanted[32], path[64], name[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *directory;

	snprintf(wanted, sizeof(wanted), "napi/%s-", device);
	directory = opendir("/proc");
	while (directory && found == 0 && (entry = readdir(directory))) {
		autofile FILE *file = NULL;

		if (*entry->d_name < '1' || *entry->d_name > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		file = fopen(path, "re");
		if (file && fgets(name, sizeof(name), file) &&
		    strncmp(name, wanted, strlen(wanted)) == 0)
			found = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	if (directory)
		closedir(directory);
	return found;
}

int thread_pin(pid_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(thread, sizeof(set), &set) < 0 ? -errno : 0;
}

int thread_set_priority(pid_t thread, int priority)
{
	const struct sched_param parameters = { .sched_priority = priority };

	return sched_setscheduler(thread, priority ? SCHED_FIFO : SCHED_OTHER, &parameters) < 0
		       ? -errno
		       : 0;
}

double thread_ns(pid_t thread)
{
	autofile FILE *file = NULL;
	double value = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)thread);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%lf", &value) != 1) /* NOLINT(cert-err34-c): the kernel's */
		return 0;
	return value;
}
