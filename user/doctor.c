/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What facts mean, and what to do about them. No system call is made here. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define KERNEL_LEAST 601  /* 6.1: what Stile is made for */
#define KERNEL_PROOFS 609 /* 6.9: bpf_sk_assign_tcp_reqsk() */
#define BACKLOG_SMALL 128

const char *const doctor_grade_names[_DOCTOR_GRADE_MAX] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_UNKNOWN] = "unknown",
	[DOCTOR_WARNING] = "warning",
	[DOCTOR_FAULT] = "fault",
};

void doctor_about(struct doctor *doctor, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(doctor->subject, sizeof(doctor->subject), format, arguments);
	va_end(arguments);
}

void doctor_say(struct doctor *doctor, enum doctor_grade grade, const char *advice,
		const char *format, ...)
{
	struct doctor_finding *more =
		realloc(doctor->findings, (doctor->n + 1) * sizeof(*doctor->findings));
	struct doctor_finding *finding;
	va_list arguments;

	if (!more) {
		doctor->failed = true;
		return;
	}
	doctor->findings = more;
	finding = &more[doctor->n++];
	*finding = (struct doctor_finding){ .grade = grade };
	snprintf(finding->subject, sizeof(finding->subject), "%s", doctor->subject);
	snprintf(finding->advice, sizeof(finding->advice), "%s", advice ? advice : "");
	va_start(arguments, format);
	(void)vsnprintf(finding->found, sizeof(finding->found), format, arguments);
	va_end(arguments);
}

size_t doctor_count(const struct doctor *doctor, enum doctor_grade grade)
{
	size_t n = 0;

	for (size_t i = 0; i < doctor->n; i++)
		n += doctor->findings[i].grade == grade;
	return n;
}

void doctor_release(struct doctor *doctor)
{
	free(doctor->findings);
	*doctor = (struct doctor){ 0 };
}

static void judge_release(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	unsigned int version = kernel->major * 100 + kernel->minor;

	doctor_about(doctor, "kernel");
	if (version < KERNEL_LEAST)
		doctor_say(doctor, DOCTOR_WARNING, "Linux 6.1 and later are what it is made for",
			   "Linux %s", kernel->release);
	else
		doctor_say(doctor, DOCTOR_OK, NULL, "Linux %s", kernel->release);
}

static void judge_btf(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	doctor_about(doctor, "btf");
	if (kernel->btf)
		doctor_say(doctor, DOCTOR_OK, NULL, "the kernel tells its types");
	else
		doctor_say(doctor, DOCTOR_WARNING, "a kernel with CONFIG_DEBUG_INFO_BTF has them",
			   "no /sys/kernel/btf/vmlinux: accept queues are not read, older "
			   "connections are not counted, and sources are not proven");
}

static void judge_jit(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	doctor_about(doctor, "jit");
	if (kernel->jit == DOCTOR_UNTOLD)
		doctor_say(doctor, DOCTOR_UNKNOWN,
			   "run it as root, in the host's own network namespace",
			   "net.core.bpf_jit_enable cannot be read");
	else if (kernel->jit)
		doctor_say(doctor, DOCTOR_OK, NULL, "programs are compiled");
	else
		doctor_say(doctor, DOCTOR_WARNING, "sysctl -w net.core.bpf_jit_enable=1",
			   "programs are interpreted, which makes each packet several times as "
			   "dear");
}

static void judge_bpffs(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	doctor_about(doctor, "bpffs");
	if (kernel->bpffs)
		doctor_say(doctor, DOCTOR_OK, NULL, "mounted at /sys/fs/bpf");
	else
		doctor_say(doctor, DOCTOR_FAULT, "mount -t bpf bpf /sys/fs/bpf",
			   "no bpf file system at /sys/fs/bpf: nothing can be pinned");
}

static void judge_cgroup(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	doctor_about(doctor, "cgroup");
	if (*kernel->cgroup)
		doctor_say(doctor, DOCTOR_OK, NULL, "cgroup2 is mounted at %s", kernel->cgroup);
	else
		doctor_say(doctor, DOCTOR_WARNING,
			   "mount -t cgroup2 cgroup2 /sys/fs/cgroup, or 'cgroup: none'",
			   "cgroup2 is mounted nowhere: open connections cannot be counted or "
			   "limited");
}

static void judge_programs(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	doctor_about(doctor, "programs");
	if (!kernel->privileged)
		doctor_say(doctor, DOCTOR_UNKNOWN,
			   "run it as root, or with CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON",
			   "whether they load was not tried");
	else if (kernel->loads)
		doctor_say(doctor, DOCTOR_OK, NULL, "the XDP program loads");
	else
		doctor_say(doctor, DOCTOR_FAULT,
			   "'stile run' with log: {level: debug} has the verifier's words",
			   "the XDP program does not load: %s", kernel->refusal);
}

static void judge_proofs(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	unsigned int version = kernel->major * 100 + kernel->minor;

	if (!kernel->privileged)
		return;
	doctor_about(doctor, "prove_sources");
	if (kernel->admits)
		doctor_say(doctor, DOCTOR_OK, NULL, "works here");
	else
		doctor_say(doctor, DOCTOR_WARNING,
			   version < KERNEL_PROOFS ? "Linux 6.9 has what it needs"
						   : "the kernel is built without what it needs "
						     "(CONFIG_SYN_COOKIES, BTF)",
			   "has no effect here: forged addresses are charged; "
			   "new_sources_rate_limiter_name, net.ipv4.tcp_syncookies and action: "
			   "drop still bound what they cost");
}

static void judge_somaxconn(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	bool small = kernel->somaxconn < BACKLOG_SMALL;

	if (kernel->somaxconn == DOCTOR_UNTOLD)
		return;
	doctor_about(doctor, "somaxconn");
	doctor_say(doctor, small ? DOCTOR_WARNING : DOCTOR_OK,
		   small ? "sysctl -w net.core.somaxconn=4096" : NULL,
		   "no service's backlog is larger than %lld", kernel->somaxconn);
}

static void judge_syncookies(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	if (kernel->syncookies == DOCTOR_UNTOLD)
		return;
	doctor_about(doctor, "tcp_syncookies");
	if (kernel->syncookies == 0)
		doctor_say(doctor, DOCTOR_WARNING, "sysctl -w net.ipv4.tcp_syncookies=1",
			   "off: whoever fills a service's SYN queue (%lld handshakes) keeps "
			   "others out",
			   kernel->syn_backlog);
	else
		doctor_say(doctor, DOCTOR_OK, NULL,
			   kernel->syncookies == 1 ? "sent when a SYN queue is full"
						   : "sent always");
}

void doctor_judge_kernel(const struct doctor_kernel *kernel, struct doctor *doctor)
{
	judge_release(kernel, doctor);
	judge_btf(kernel, doctor);
	judge_jit(kernel, doctor);
	judge_bpffs(kernel, doctor);
	judge_cgroup(kernel, doctor);
	judge_programs(kernel, doctor);
	judge_proofs(kernel, doctor);
	judge_somaxconn(kernel, doctor);
	judge_syncookies(kernel, doctor);
}

void doctor_judge_service(const struct doctor_service *service, long long somaxconn,
			  struct doctor *doctor)
{
	doctor_about(doctor, "listener %s", service->listener);
	if (service->queued > service->backlog)
		doctor_say(doctor, DOCTOR_WARNING,
			   "accept_queue_limit sheds before that; the service does not keep up",
			   "%s: the accept queue is full: %u wait, backlog %u", service->local,
			   service->queued, service->backlog);
	else if (service->backlog < BACKLOG_SMALL)
		doctor_say(doctor, DOCTOR_WARNING,
			   somaxconn != DOCTOR_UNTOLD && somaxconn < BACKLOG_SMALL
				   ? "listen_backlog raises it, up to net.core.somaxconn, which is "
				     "small itself"
				   : "listen_backlog raises it, without a restart of the service",
			   "%s: a backlog of %u: more connections than that in one burst are lost",
			   service->local, service->backlog);
	else
		doctor_say(doctor, DOCTOR_OK, NULL, "%s: backlog %u, %u wait", service->local,
			   service->backlog, service->queued);
}

void doctor_judge_namespaces(const struct doctor_namespace *namespaces, size_t n, size_t hidden,
			     struct doctor *doctor)
{
	static const char advice[] =
		"what is forwarded there is limited here by the address and port that it "
		"arrives with; for its accept queues and open connections, a daemon in the "
		"namespace itself";

	doctor_about(doctor, "namespaces");
	for (size_t i = 0; i < n; i++) {
		if (namespaces[i].listening)
			doctor_say(doctor, DOCTOR_WARNING, advice,
				   "%u TCP sockets listen in that of process %d (%s), where this "
				   "instance does not see them",
				   namespaces[i].listening, namespaces[i].pid, namespaces[i].name);
	}
	if (hidden)
		doctor_say(doctor, DOCTOR_UNKNOWN, "run it as root, outside of containers",
			   "that of %zu process%s cannot be told", hidden, hidden == 1 ? "" : "es");
	if (n)
		doctor_say(doctor, DOCTOR_OK, NULL, "%zu other%s with processes", n,
			   n == 1 ? "" : "s");
	else if (!hidden)
		doctor_say(doctor, DOCTOR_OK, NULL, "every process is in this one");
}

void doctor_judge_config(const struct diag *diag, struct doctor *doctor)
{
	for (size_t i = 0; i < diag->n_entries; i++) {
		const struct diag_entry *entry = &diag->entries[i];
		bool error = entry->severity == DIAG_ERROR;

		if (entry->place.line)
			doctor_about(doctor, "config line %u", entry->place.line);
		else
			doctor_about(doctor, "config");
		doctor_say(doctor, error ? DOCTOR_FAULT : DOCTOR_WARNING, NULL, "%s", entry->text);
	}
	doctor_about(doctor, "config");
	if (diag->n_entries == 0)
		doctor_say(doctor, DOCTOR_OK, NULL, "%s: no mistake", diag->file);
}
