/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CAP_SYS_ADMIN stands for CAP_BPF and CAP_PERFMON, which Linux 5.8 has taken out of it. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "privilege.h"
#include "util.h"

static bool has(uint64_t capabilities, int capability)
{
	return capabilities >> capability & 1;
}

/* What is effective, and what may be made so. */
struct capabilities {
	uint64_t effective, permitted;
};

static int read_mine(struct capabilities *ret_mine)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	ret_mine->effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	ret_mine->permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted;
	return 0;
}

static int write_mine(uint64_t mine)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i].effective = data[i].permitted = (uint32_t)(mine >> 32 * i);
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

bool privilege_has_all(void)
{
	struct capabilities mine = { 0, 0 };

	if (read_mine(&mine) < 0)
		return true; /* nobody knows: no hint is better than a wrong one */
	return has(mine.effective, CAP_NET_ADMIN) &&
	       (has(mine.effective, CAP_SYS_ADMIN) ||
		(has(mine.effective, CAP_BPF) && has(mine.effective, CAP_PERFMON)));
}

/* A kernel that does not know CAP_BPF asks for CAP_SYS_ADMIN instead. */
static uint64_t needed(bool sockets)
{
	static const int capabilities[] = { CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON,
					    CAP_NET_BIND_SERVICE, CAP_DAC_READ_SEARCH };
	uint64_t mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		mask |= 1ULL << capabilities[i];
	if (sockets)
		mask |= 1ULL << CAP_SYS_PTRACE;
	if (prctl(PR_CAPBSET_READ, CAP_BPF) < 0)
		mask |= 1ULL << CAP_SYS_ADMIN;
	return mask;
}

bool privilege_may_change_user(void)
{
	struct capabilities mine = { 0, 0 };

	return read_mine(&mine) == 0 && has(mine.effective, CAP_SETUID) &&
	       has(mine.effective, CAP_SETGID) && has(mine.effective, CAP_CHOWN);
}

struct privilege_user privilege_self(void)
{
	return (struct privilege_user){ .uid = geteuid(), .gid = getegid() };
}

int privilege_find_user(const char *name, struct privilege_user *ret_user)
{
	const struct passwd *found = getpwnam(name);

	if (!found)
		return -ENOENT;
	*ret_user = (struct privilege_user){ name, found->pw_uid, found->pw_gid };
	return 0;
}

int privilege_find_group(const char *name, gid_t *ret_gid)
{
	const struct group *found = getgrnam(name);

	if (!found)
		return -ENOENT;
	*ret_gid = found->gr_gid;
	return 0;
}

int privilege_settled_user(pid_t pid, uid_t *ret_uid)
{
	unsigned long long effective = 0;
	unsigned int uid = 0, found = 0;
	autofile FILE *file = NULL;
	char line[256], path[64];

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		found += sscanf(line, "Uid: %*u %u", &uid) == 1;
		found += sscanf(line, "CapEff: %llx", &effective) == 1;
	}
	if (found != 2 || has(effective, CAP_SETUID))
		return -EAGAIN;
	*ret_uid = uid;
	return 0;
}

/* What is permitted stays so; what is effective does not. */
static int become(const struct privilege_user *user)
{
	if (user->uid == geteuid())
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || initgroups(user->name, user->gid) < 0 ||
	    setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	return 0;
}

int privilege_drop(const struct privilege_user *user, bool sockets)
{
	struct capabilities mine = { 0, 0 };
	uint64_t keep = needed(sockets);
	int error;

	error = read_mine(&mine);
	if (error)
		return error;
	/* Where it may not, nothing can be gained by an exec() all the same; see below. */
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++) {
		if (!has(keep, capability))
			(void)prctl(PR_CAPBSET_DROP, capability);
	}
	error = become(user);
	if (error)
		return error;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return write_mine(mine.permitted & keep);
}
