/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the doctor says of facts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "doctor.h"
#include "util.h"

/* A row is what is good, but for what it names. */
#pragma GCC diagnostic ignored "-Woverride-init"

#define GOOD_KERNEL                                                                                \
	.release = "6.12.9", .major = 6, .minor = 12, .btf = true, .bpffs = true,                  \
	.privileged = true, .loads = true, .admits = true, .cgroup = "/sys/fs/cgroup", .jit = 1,   \
	.somaxconn = 4096, .syncookies = 1, .syn_backlog = 1024

/* "grade subject" of whatever is not ok, with a comma between them. */
static const char *complaints(const struct doctor *doctor, char text[512])
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < doctor->n; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		if (finding->grade != DOCTOR_OK)
			n += (size_t)snprintf(text + n, 512 - n, "%s%s %s", n ? ", " : "",
					      doctor_grade_names[finding->grade], finding->subject);
		CHECK("what is not ok comes with advice",
		      finding->grade == DOCTOR_OK || *finding->advice);
	}
	return text;
}

static void test_kernel(void)
{
	static const struct {
		const char *what, *want;
		struct doctor_kernel kernel;
	} rows[] = {
		{ "all is well", "", { GOOD_KERNEL } },
		{ "too old",
		  "warning kernel, warning prove_sources",
		  { GOOD_KERNEL, .major = 5, .minor = 15, .admits = false } },
		{ "6.1 makes no connections of proofs",
		  "warning prove_sources",
		  { GOOD_KERNEL, .minor = 1, .admits = false } },
		{ "no types", "warning btf", { GOOD_KERNEL, .btf = false } },
		{ "interpreted", "warning jit", { GOOD_KERNEL, .jit = 0 } },
		{ "unreadable", "unknown jit", { GOOD_KERNEL, .jit = DOCTOR_UNTOLD } },
		{ "nothing to pin in", "fault bpffs", { GOOD_KERNEL, .bpffs = false } },
		{ "cgroup v1 alone", "warning cgroup", { GOOD_KERNEL, .cgroup = "" } },
		{ "the verifier refuses",
		  "fault programs",
		  { GOOD_KERNEL, .loads = false, .refusal = "Invalid argument" } },
		{ "no privilege",
		  "unknown programs",
		  { GOOD_KERNEL, .privileged = false, .loads = false, .admits = false } },
		{ "a small cap", "warning somaxconn", { GOOD_KERNEL, .somaxconn = 64 } },
		{ "no cookies", "warning tcp_syncookies", { GOOD_KERNEL, .syncookies = 0 } },
	};
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct doctor doctor = { 0 };

		doctor_judge_kernel(&rows[i].kernel, &doctor);
		CHECK_STR_EQ(rows[i].what, complaints(&doctor, text), rows[i].want);
		doctor_release(&doctor);
	}
}

#define GOOD_INTERFACE                                                                             \
	.name = "eth0", .driver = "ixgbe", .ethernet = true, .state = { .up = true, .mtu = 1500 }, \
	.features = { .lro = 0, .rx_vlan = 1, .queues = 8 }

static void test_interface(void)
{
	static const struct {
		const char *what, *want, *found;
		struct doctor_interface interface;
	} rows[] = {
		{ "a card", "", "native mode, 8 receive queues", { GOOD_INTERFACE } },
		{ "a veth", "", "generic mode", { GOOD_INTERFACE, .driver = "veth" } },
		{ "a driver without XDP",
		  "warning interface eth0",
		  "not known to run XDP programs",
		  { GOOD_INTERFACE, .driver = "dummy" } },
		{ "one that tells no driver",
		  "warning interface eth0",
		  "(it tells none)",
		  { GOOD_INTERFACE, .driver = "" } },
		{ "ours is attached",
		  "",
		  "Stile is attached: program 7, native",
		  { GOOD_INTERFACE, .native = 7, .ours = 7 } },
		{ "another is",
		  "fault interface eth0",
		  "another XDP program is attached: id 9",
		  { GOOD_INTERFACE, .generic = 9 } },
		{ "frames are merged",
		  "warning interface eth0",
		  "large receive offload",
		  { GOOD_INTERFACE, .features = { .lro = 1 } } },
		{ "tags are taken off",
		  "warning interface eth0",
		  "VLAN tags",
		  { GOOD_INTERFACE, .vlans = true } },
		{ "jumbo frames",
		  "warning interface eth0",
		  "MTU 9000",
		  { GOOD_INTERFACE, .state = { .up = true, .mtu = 9000 } } },
		{ "jumbo frames in generic mode",
		  "",
		  "generic mode",
		  { GOOD_INTERFACE, .driver = "veth", .state = { .up = true, .mtu = 9000 } } },
		{ "it is down",
		  "warning interface eth0",
		  "it is down",
		  { GOOD_INTERFACE, .state = { .mtu = 1500 } } },
		{ "a tunnel",
		  "fault interface eth0",
		  "no Ethernet header",
		  { GOOD_INTERFACE, .ethernet = false } },
		{ "not there",
		  "warning interface eth0",
		  "No such device",
		  { GOOD_INTERFACE, .error = -ENODEV } },
	};
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct doctor doctor = { 0 };
		bool found = false;

		doctor_judge_interface(&rows[i].interface, &doctor);
		CHECK_STR_EQ(rows[i].what, complaints(&doctor, text), rows[i].want);
		for (size_t j = 0; j < doctor.n; j++)
			found |= strstr(doctor.findings[j].found, rows[i].found) != NULL;
		CHECK(rows[i].what, found);
		doctor_release(&doctor);
	}
}

static void test_service(void)
{
	static const struct {
		const char *what, *want;
		struct doctor_service service;
	} rows[] = {
		{ "room", "", { "web", "0.0.0.0 port 80", 0, 511 } },
		{ "exactly full", "", { "web", "0.0.0.0 port 80", 511, 511 } },
		{ "over it", "warning listener web", { "web", "0.0.0.0 port 80", 512, 511 } },
		{ "a small one", "warning listener web", { "web", "0.0.0.0 port 80", 0, 16 } },
	};
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct doctor doctor = { 0 };

		doctor_judge_service(&rows[i].service, 4096, &doctor);
		CHECK_STR_EQ(rows[i].what, complaints(&doctor, text), rows[i].want);
		doctor_release(&doctor);
	}
}

static void test_namespaces(void)
{
	static const struct doctor_namespace others[] = { { 17, "nginx", 2 }, { 18, "sleep", 0 } };
	struct doctor doctor = { 0 };
	char text[512];

	doctor_judge_namespaces(others, 2, 1, &doctor);
	CHECK_STR_EQ("one has a service, and one process is hidden", complaints(&doctor, text),
		     "warning namespaces, unknown namespaces");
	CHECK_EQ("and how many there are", doctor.n, 3);
	CHECK_EQ("warnings are counted", doctor_count(&doctor, DOCTOR_WARNING), 1);
	doctor_release(&doctor);
	doctor_judge_namespaces(others, 0, 0, &doctor);
	CHECK_STR_EQ("there is no other", complaints(&doctor, text), "");
	doctor_release(&doctor);
}

CHECK_SUITE(doctor, { "the kernel", test_kernel }, { "interfaces", test_interface },
	    { "services", test_service }, { "namespaces", test_namespaces });
