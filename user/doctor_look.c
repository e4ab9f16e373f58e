/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The facts that are judged, as this process may see them. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include "cgroup.h"
#include "config.h"
#include "doctor.h"
#include "loader.h"
#include "loader_btf.h"
#include "privilege.h"
#include "review.h"

#define TCP_LISTEN_TEXT "0A" /* as /proc/net/tcp has the state */

/* The number in a file of /proc/sys. */
static long long read_number(const char *path)
{
	long long number = DOCTOR_UNTOLD;
	FILE *file = fopen(path, "re");
	char text[32];

	if (!file)
		return DOCTOR_UNTOLD;
	if (fgets(text, sizeof(text), file))
		number = strtoll(text, NULL, 10);
	(void)fclose(file); /* it was read only */
	return number;
}

static bool is_bpffs(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (unsigned int)fs.f_type == BPF_FS_MAGIC;
}

/* Whether what protects with the safe defaults loads; nothing is attached or pinned. */
static void try_load(struct doctor_kernel *kernel)
{
	struct loader_kept kept;
	struct loader *loader = NULL;
	struct policy policy;
	struct config config;
	struct diag diag;
	int error;

	memset(&kept, 0xff, sizeof(kept)); /* -1: none */
	diag_init(&diag, "safe defaults");
	error = config_default(&config);
	if (error == 0) {
		error = review_compile(&config, &diag, &policy);
		config_release(&config);
	}
	if (error == 0) {
		error = loader_load(&policy, &kept, &loader);
		policy_release(&policy);
	}
	kernel->loads = error == 0;
	if (error)
		snprintf(kernel->refusal, sizeof(kernel->refusal), "%s: %s", strerror(-error),
			 loader_reason());
	loader_free(loader);
	diag_release(&diag);
}

void doctor_look_kernel(struct doctor_kernel *ret_kernel)
{
	struct doctor_kernel kernel = { 0 };
	char cgroup[PATH_MAX];
	struct utsname name;
	char *minor;

	(void)uname(&name); /* cannot fail: it is given a whole struct */
	snprintf(kernel.release, sizeof(kernel.release), "%s", name.release);
	kernel.major = (unsigned int)strtoul(name.release, &minor, 10);
	if (*minor == '.')
		kernel.minor = (unsigned int)strtoul(minor + 1, NULL, 10);
	kernel.btf = loader_btf_is_there();
	kernel.bpffs = is_bpffs("/sys/fs/bpf");
	kernel.privileged = privilege_has_all();
	if (cgroup_root(cgroup) == 0)
		snprintf(kernel.cgroup, sizeof(kernel.cgroup), "%.*s",
			 (int)sizeof(kernel.cgroup) - 1, cgroup);
	kernel.jit = read_number("/proc/sys/net/core/bpf_jit_enable");
	kernel.somaxconn = read_number("/proc/sys/net/core/somaxconn");
	kernel.syncookies = read_number("/proc/sys/net/ipv4/tcp_syncookies");
	kernel.syn_backlog = read_number("/proc/sys/net/ipv4/tcp_max_syn_backlog");
	if (kernel.privileged) {
		try_load(&kernel);
		kernel.admits = loader_can_admit();
	}
	*ret_kernel = kernel;
}

static bool has_vlans(const char *name)
{
	char path[64];
	DIR *directory;
	const struct dirent *entry;
	bool found = false;

	snprintf(path, sizeof(path), "/sys/class/net/%s", name);
	directory = opendir(path);
	if (!directory)
		return false;
	while (!found && (entry = readdir(directory)) != NULL)
		found = strncmp(entry->d_name, "upper_", strlen("upper_")) == 0;
	(void)closedir(directory); /* it was read only */
	return found;
}

void doctor_look_interface(const char *name, uint32_t ours, struct doctor_interface *ret_interface)
{
	struct doctor_interface interface = { .ours = ours };

	snprintf(interface.name, sizeof(interface.name), "%s", name);
	interface.error = netif_get_named(name, &interface.state);
	if (interface.error == 0) {
		interface.ethernet = netif_is_ethernet(name) == 1;
		interface.vlans = has_vlans(name);
		netif_features(name, &interface.features);
		if (netif_driver(name, interface.driver) < 0)
			interface.driver[0] = '\0';
		loader_look(interface.state.ifindex, &interface.native, &interface.generic);
	}
	*ret_interface = interface;
}

/* TCP sockets that listen in the network namespace of process @pid, or 0. */
static unsigned int count_listening(int pid)
{
	static const char *const tables[] = { "tcp", "tcp6" };
	char path[64], line[512], state[3];
	unsigned int n = 0;

	for (size_t i = 0; i < 2; i++) {
		FILE *table;

		snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, tables[i]);
		table = fopen(path, "re");
		if (!table)
			continue;
		while (fgets(line, sizeof(line), table))
			n += sscanf(line, "%*s %*s %*s %2s", state) == 1 &&
			     strcmp(state, TCP_LISTEN_TEXT) == 0;
		(void)fclose(table); /* it was read only */
	}
	return n;
}

static void read_name(int pid, char name[16])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, 16, file))
		snprintf(name, 16, "?");
	name[strcspn(name, "\n")] = '\0';
	if (file)
		(void)fclose(file); /* it was read only */
}

struct seen {
	ino_t *inodes; /* of namespaces; the first is this process's own */
	size_t n;
};

static bool is_seen(const struct seen *seen, ino_t inode)
{
	for (size_t i = 0; i < seen->n; i++) {
		if (seen->inodes[i] == inode)
			return true;
	}
	return false;
}

/* 0, or negative errno where it cannot be told in which namespace the process is. */
static int look_process(int pid, struct seen *seen, struct doctor_namespace *ret_namespace)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	if (stat(path, &status) < 0)
		return -errno;
	if (is_seen(seen, status.st_ino))
		return 0;
	seen->inodes[seen->n++] = status.st_ino;
	ret_namespace->pid = pid;
	ret_namespace->listening = count_listening(pid);
	read_name(pid, ret_namespace->name);
	return 1;
}

size_t doctor_look_namespaces(struct doctor_namespace *ret_namespaces, size_t n_max,
			      size_t *ret_hidden)
{
	ino_t inodes[n_max + 1];
	struct seen seen = { inodes, 0 };
	const struct dirent *entry;
	struct stat own;
	DIR *processes = opendir("/proc");
	size_t n = 0;

	*ret_hidden = 1;
	if (!processes || stat("/proc/self/ns/net", &own) < 0)
		return 0;
	*ret_hidden = 0;
	seen.inodes[seen.n++] = own.st_ino;
	while (n < n_max && (entry = readdir(processes)) != NULL) {
		int pid = atoi(entry->d_name), r = 0;

		if (pid > 0)
			r = look_process(pid, &seen, &ret_namespaces[n]);
		n += r == 1;
		*ret_hidden += r < 0 && r != -ENOENT;
	}
	(void)closedir(processes); /* it was read only */
	return n;
}
