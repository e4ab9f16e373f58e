/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A call that is refused is not the process's death, which would be silent and might come from a
 * new version of libc that does an old thing by a new call; it fails, and its number is kept to be
 * told. Calls that are younger than the list fail as on an older kernel, which libc knows how to do
 * without.
 */
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "sandbox.h"
#include "util.h"

#define FIRST_YOUNG 424 /* from here on all architectures have the same numbers, in time's order */

/* By name, so that one which the architecture or libseccomp does not know is left out. */
static const char *const allowed[] = {
	/* memory */
	"brk munmap mremap madvise memfd_create",
	/* what is open */
	"read readv pread64 write writev close lseek fcntl ioctl dup dup2 dup3 flock fstat fstatfs",
	"getdents64",
	/* files by their names: the configuration, pins, the lock */
	"stat lstat statx newfstatat statfs access faccessat faccessat2 readlink readlinkat getcwd",
	"mkdir mkdirat rmdir unlink unlinkat symlink symlinkat rename renameat renameat2 umask",
	/* sockets */
	"bind listen accept accept4 connect shutdown getsockname getpeername getsockopt setsockopt",
	"sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg socketpair",
	/* the event loop, and waiting */
	"epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 poll ppoll",
	"select pselect6 eventfd2 pipe pipe2 timerfd_create timerfd_settime futex restart_syscall",
	/* time and chance */
	"clock_gettime clock_getres gettimeofday time nanosleep clock_nanosleep getrandom",
	/* itself */
	"getpid gettid getppid getuid geteuid getgid getegid capget uname sysinfo getrlimit",
	"prlimit64 sched_getaffinity sched_yield set_robust_list rseq membarrier rt_sigaction",
	"rt_sigprocmask rt_sigreturn sigaltstack exit exit_group",
	/* what it is there for */
	"bpf",
};

/* Where backlogs are raised. */
static const char for_sockets[] = "pidfd_open pidfd_getfd";

/* Calls that are allowed where the bits of @mask in their argument are as they should be. */
struct condition {
	int number;
	unsigned int argument;
	scmp_datum_t mask, value;
};

static const struct condition conditions[] = {
	/* no file for writing */
	{ SCMP_SYS(open), 1, O_ACCMODE, O_RDONLY },
	{ SCMP_SYS(openat), 2, O_ACCMODE, O_RDONLY },
	/* no memory that becomes code */
	{ SCMP_SYS(mmap), 2, PROT_EXEC, 0 },
	{ SCMP_SYS(mprotect), 2, PROT_EXEC, 0 },
	/* no packets but of these families */
	{ SCMP_SYS(socket), 0, UINT32_MAX, AF_UNIX },
	{ SCMP_SYS(socket), 0, UINT32_MAX, AF_INET },
	{ SCMP_SYS(socket), 0, UINT32_MAX, AF_INET6 },
	{ SCMP_SYS(socket), 0, UINT32_MAX, AF_NETLINK },
};

static volatile sig_atomic_t refused = -1;

/*
 * Sanitizers look through the memory at the end, from a process of their own, so that nothing can
 * be refused under them. Otherwise a call is refused by a signal, where it is known how to say what
 * it returns.
 */
#if defined(__SANITIZE_ADDRESS__)
#define ACTION SCMP_ACT_LOG
#elif defined(__x86_64__) || defined(__aarch64__)
#define ACTION SCMP_ACT_TRAP
#else
#define ACTION SCMP_ACT_ERRNO(EPERM)
#endif

#if defined(__x86_64__)
static void answer(ucontext_t *context, int error)
{
	context->uc_mcontext.gregs[REG_RAX] = error;
}
#elif defined(__aarch64__)
static void answer(ucontext_t *context, int error)
{
	context->uc_mcontext.regs[0] = (unsigned long long)error;
}
#else
static void answer(ucontext_t *context, int error)
{
	(void)context; /* no signal comes */
	(void)error;
}
#endif

static void on_refused(int signal, siginfo_t *info, void *context)
{
	(void)signal; /* SIGSYS */
	refused = info->si_syscall;
	answer(context, info->si_syscall < FIRST_YOUNG ? -EPERM : -ENOSYS);
}

static int allow(scmp_filter_ctx filter, const struct condition *condition)
{
	const struct scmp_arg_cmp compare = {
		.arg = condition->argument,
		.op = SCMP_CMP_MASKED_EQ,
		.datum_a = condition->mask,
		.datum_b = condition->value,
	};

	return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, condition->number, 1, &compare);
}

/* Only the thread itself may be ended by a signal, which is how abort() does it. */
static int allow_abort(scmp_filter_ctx filter)
{
	const struct condition end = { SCMP_SYS(tgkill), 0, UINT32_MAX, (scmp_datum_t)getpid() };

	return allow(filter, &end);
}

static int allow_names(scmp_filter_ctx filter, const char *names)
{
	char name[32];
	int length = 0, number, error = 0;

	for (; error == 0 && sscanf(names, "%31s%n", name, &length) == 1; names += length) {
		number = seccomp_syscall_resolve_name(name);
		if (number != __NR_SCMP_ERROR)
			error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 0, NULL);
	}
	return error;
}

static int fill(scmp_filter_ctx filter, bool sockets)
{
	int error = allow_abort(filter);

	for (size_t i = 0; i < ARRAY_SIZE(allowed) && error == 0; i++)
		error = allow_names(filter, allowed[i]);
	if (sockets && error == 0)
		error = allow_names(filter, for_sockets);
	for (size_t i = 0; i < ARRAY_SIZE(conditions) && error == 0; i++)
		error = allow(filter, &conditions[i]);
	return error;
}

int sandbox_enter(bool sockets)
{
	const struct sigaction action = { .sa_sigaction = on_refused, .sa_flags = SA_SIGINFO };
	scmp_filter_ctx filter = seccomp_init(ACTION);
	int error;

	if (!filter)
		return -ENOMEM;
	error = sigaction(SIGSYS, &action, NULL) < 0 ? -errno : fill(filter, sockets);
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

int sandbox_refused(void)
{
	int number = refused;

	refused = -1;
	return number;
}

void sandbox_name(int number, char ret_name[32])
{
	autofree char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

	snprintf(ret_name, 32, "%s", name ? name : "");
}
