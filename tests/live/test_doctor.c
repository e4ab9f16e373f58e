/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the doctor says of a host that is known. */
#include <signal.h>
#include <string.h>

#include "check.h"
#include "live.h"

static const char config[] = "interfaces: {srv0: {}, nope0: {}, bridge0: {}}\n"
			     "rate_limiters: {a: {limit: 100, window: 1m}}\n"
			     "listeners: {web: {ports: [80], rate_limiter_name: a}}\n"
			     "metrics: {listen: none}\n";

/* The first finding about @subject that says @text is of @grade; "": there is none. */
static void check_says(const json_t *findings, const char *subject, const char *text,
		       const char *grade)
{
	const char *got = "";
	json_t *finding;
	size_t i;

	json_array_foreach(findings, i, finding)
	{
		const char *of = json_string_value(json_object_get(finding, "subject"));
		const char *found = json_string_value(json_object_get(finding, "found"));

		if (!*got && of && found && strcmp(of, subject) == 0 && strstr(found, text))
			got = json_string_value(json_object_get(finding, "grade"));
	}
	CHECK_STR_EQ(text, got, grade);
}

static void test_host(void)
{
	autolive struct live live;
	json_t *report;
	const json_t *findings;

	if (!live_begin(&live, "doctor") || !live_start_web(&live))
		return;
	live_shell(&live, LIVE_SERVER, "ip link add bridge0 type bridge");
	if (!live_start(&live, config))
		return;
	report = live_json(&live, "doctor -c %s/stile.yaml", live.directory);
	findings = json_object_get(report, "findings");
	check_says(findings, "programs", "the XDP program loads", "ok");
	check_says(findings, "instance", "its daemon lives", "ok");
	check_says(findings, "interface srv0", "driver veth", "ok");
	check_says(findings, "interface srv0", "Stile is attached: program", "ok");
	check_says(findings, "interface nope0", "No such device", "warning");
	check_says(findings, "interface bridge0", "driver bridge is not known", "warning");
	check_says(findings, "interface bridge0", "it is down", "warning");
	check_says(findings, "listener web", ":: port 80: backlog", "ok");
	json_decref(report);
	(void)live_stop(&live, SIGKILL);
	live_shell(&live, LIVE_SERVER,
		   "unshare -m sh -c 'umount /sys/fs/bpf; $STILE doctor -i srv0; test $? = 1'");
	live_shell(&live, LIVE_SERVER,
		   "unshare -m sh -c 'umount /sys/fs/bpf; $STILE doctor -i srv0' | "
		   "grep '^fault  *bpffs '");
}

CHECK_SUITE(doctor, { "a host is examined", test_host });
