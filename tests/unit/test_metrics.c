/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The metrics page of a snapshot made by hand: word for word, and as Prometheus' tool reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "metrics.h"
#include "util.h"

#define SLOT_CLIENT 2 /* limiter per-client */
#define SLOT_EDGE 5   /* limiter edge */
#define SLOT_WEB 7    /* listener web */
#define SLOT_OLD 8    /* one whose level was noted too long ago */

/* Two limiters at one listener; one interface attached, the other not there. */
static void fill(struct snapshot *snapshot)
{
	struct stile_policy *policy = &snapshot->policy;

	*snapshot = (struct snapshot){ 0 };
	strcpy(policy->limiters[SLOT_CLIENT].name, "per-client");
	policy->limiters[SLOT_CLIENT].max_keys = 100000;
	strcpy(policy->limiters[SLOT_EDGE].name, "edge");
	policy->limiters[SLOT_EDGE].max_keys = 1;
	strcpy(policy->listeners[SLOT_WEB].name, "web");
	strcpy(policy->listeners[SLOT_OLD].name, "old");
	snapshot->now = 7000000000;
	snapshot->levels[SLOT_WEB] = (struct stile_level){ .at = 2000000001, .level = 91 };
	snapshot->levels[SLOT_OLD] = (struct stile_level){ .at = 2000000000, .level = 92 };
	policy->attachments[3] =
		(struct stile_attachment){ .limiter = SLOT_CLIENT, .listener = SLOT_WEB };
	policy->attachments[9] =
		(struct stile_attachment){ .limiter = SLOT_EDGE, .listener = SLOT_WEB };
	strcpy(policy->interfaces[0].name, "eth0");
	strcpy(policy->interfaces[4].name, "a\"b\\");
	snapshot->interfaces[0].attached = true;
	snapshot->interfaces[0].mode = STILE_MODE_NATIVE;
	snapshot->interfaces[0].packets.count[STILE_VERDICT_PASS][STILE_REASON_ALLOWED] = 20;
	snapshot->interfaces[0].packets.count[STILE_VERDICT_REPLY][STILE_REASON_LIMITED] = 80;
	snapshot->limiters[SLOT_CLIENT].keys = 12;
	snapshot->sessions = (struct snapshot_sessions){ 17, 4, { 5, 6 } };
	policy->connections = 1;
	snapshot->connections[SLOT_WEB] = (struct snapshot_connections){ 7, 90, 2, 1 };
	snapshot->policy.listeners[SLOT_WEB].proves = STILE_PROVE_AUTO;
	snapshot->proofs[SLOT_WEB].since = 5;
	snapshot->proofs[SLOT_WEB].counts = (struct stile_proven){ 90, 40, 3, 2, 7 };
	snapshot->has_queues = true;
	snapshot->queues[SLOT_WEB] = (struct snapshot_queue){
		.sockets = 2, .length = 7, .backlog = 1022, .in_flight = 3
	};
	snapshot->limiters[SLOT_CLIENT].stats.evicted = 3;
	snapshot->limiters[SLOT_EDGE].stats.full = 4;
	snapshot->decisions[3].count[STILE_DECISION_ALLOWED] = 20;
	snapshot->decisions[3].count[STILE_DECISION_LIMITED] = 80;
	snapshot->decisions[9].count[STILE_DECISION_EXEMPT] = 18446744073709551615ULL;
	snapshot->replies.count[STILE_REPLY_RESET] = 80;
}

static char *render(const struct metrics_daemon *daemon)
{
	struct snapshot *snapshot = malloc(sizeof(*snapshot));
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (snapshot && out) {
		fill(snapshot);
		metrics_render(snapshot, daemon, out);
	}
	if (out)
		(void)fclose(out); /* to memory: what fails shows as a missing text */
	free(snapshot);
	return text;
}

/* The samples of @name, with its HELP and TYPE. */
static char *family(const char *page, const char *name)
{
	char *lines = strdup("");

	while (page && *page && lines) {
		size_t length = strcspn(page, "\n") + 1;
		const char *at = strncmp(page, "# ", 2) == 0 ? page + 7 : page;
		size_t n = strcspn(at, " {");

		if (n == strlen(name) && strncmp(at, name, n) == 0) {
			char *more = NULL;

			if (asprintf(&more, "%s%.*s", lines, (int)length, page) < 0)
				more = NULL;
			free(lines);
			lines = more;
		}
		page += length;
	}
	return lines;
}

static const struct metrics_daemon daemon_of_test = {
	.reloads_ok = 5,
	.reloads_failed = 2,
	.last_reload_ok = true,
	.shedding = { [3] = true },
};

static const struct {
	const char *name, *want;
} families[] = {
	{ "stile_ratelimit_decisions_total",
	  "# HELP stile_ratelimit_decisions_total What each limiter said of the events at "
	  "each listener.\n"
	  "# TYPE stile_ratelimit_decisions_total counter\n"
	  "stile_ratelimit_decisions_total{limiter=\"per-client\",listener=\"web\",result="
	  "\"allowed\"} 20\n"
	  "stile_ratelimit_decisions_total{limiter=\"per-client\",listener=\"web\",result="
	  "\"limited\"} 80\n"
	  "stile_ratelimit_decisions_total{limiter=\"per-client\",listener=\"web\",result="
	  "\"counted\"} 0\n"
	  "stile_ratelimit_decisions_total{limiter=\"per-client\",listener=\"web\",result="
	  "\"exempt\"} 0\n"
	  "stile_ratelimit_decisions_total{limiter=\"per-client\",listener=\"web\",result="
	  "\"full\"} 0\n"
	  "stile_ratelimit_decisions_total{limiter=\"edge\",listener=\"web\",result="
	  "\"allowed\"} 0\n"
	  "stile_ratelimit_decisions_total{limiter=\"edge\",listener=\"web\",result="
	  "\"limited\"} 0\n"
	  "stile_ratelimit_decisions_total{limiter=\"edge\",listener=\"web\",result="
	  "\"counted\"} 0\n"
	  "stile_ratelimit_decisions_total{limiter=\"edge\",listener=\"web\",result="
	  "\"exempt\"} 18446744073709551615\n"
	  "stile_ratelimit_decisions_total{limiter=\"edge\",listener=\"web\",result="
	  "\"full\"} 0\n" },
	{ "stile_ratelimit_keys",
	  "# HELP stile_ratelimit_keys Clients whose bucket differs from that of a new "
	  "one.\n"
	  "# TYPE stile_ratelimit_keys gauge\n"
	  "stile_ratelimit_keys{limiter=\"per-client\"} 12\n"
	  "stile_ratelimit_keys{limiter=\"edge\"} 0\n" },
	{ "stile_ratelimit_max_keys",
	  "# HELP stile_ratelimit_max_keys Clients that the limiter's table is built for.\n"
	  "# TYPE stile_ratelimit_max_keys gauge\n"
	  "stile_ratelimit_max_keys{limiter=\"per-client\"} 100000\n"
	  "stile_ratelimit_max_keys{limiter=\"edge\"} 1\n" },
	{ "stile_ratelimit_evictions_total",
	  "# HELP stile_ratelimit_evictions_total Buckets in use that had to make room for "
	  "another client.\n"
	  "# TYPE stile_ratelimit_evictions_total counter\n"
	  "stile_ratelimit_evictions_total{limiter=\"per-client\"} 3\n"
	  "stile_ratelimit_evictions_total{limiter=\"edge\"} 0\n" },
	{ "stile_ratelimit_full_total",
	  "# HELP stile_ratelimit_full_total New clients that found no room in the "
	  "limiter's table.\n"
	  "# TYPE stile_ratelimit_full_total counter\n"
	  "stile_ratelimit_full_total{limiter=\"per-client\"} 0\n"
	  "stile_ratelimit_full_total{limiter=\"edge\"} 4\n" },
	{ "stile_service_level",
	  "# HELP stile_service_level How much more the service can take: from 255, all, to 0, "
	  "nothing.\n"
	  "# TYPE stile_service_level gauge\n"
	  "stile_service_level{listener=\"web\"} 91\n" },
	{ "stile_attached",
	  "# HELP stile_attached Whether the interface's packets go through Stile.\n"
	  "# TYPE stile_attached gauge\n"
	  "stile_attached{interface=\"eth0\",mode=\"native\"} 1\n"
	  "stile_attached{interface=\"a\\\"b\\\\\",mode=\"auto\"} 0\n" },
	{ "stile_replies_total",
	  "# HELP stile_replies_total Answers given in the service's place.\n"
	  "# TYPE stile_replies_total counter\n"
	  "stile_replies_total{kind=\"reset\"} 80\n"
	  "stile_replies_total{kind=\"icmp\"} 0\n"
	  "stile_replies_total{kind=\"failed\"} 0\n"
	  "stile_replies_total{kind=\"withheld\"} 0\n"
	  "stile_replies_total{kind=\"cookie\"} 0\n"
	  "stile_replies_total{kind=\"busy\"} 0\n"
	  "stile_replies_total{kind=\"close\"} 0\n"
	  "stile_replies_total{kind=\"ack\"} 0\n"
	  "stile_replies_total{kind=\"challenge\"} 0\n" },
	{ "stile_prove_sources",
	  "# HELP stile_prove_sources Whether sources have to be proven now.\n"
	  "# TYPE stile_prove_sources gauge\n"
	  "stile_prove_sources{listener=\"web\"} 1\n" },
	{ "stile_syns_challenged_total",
	  "# HELP stile_syns_challenged_total SYNs that were answered with a SYN cookie.\n"
	  "# TYPE stile_syns_challenged_total counter\n"
	  "stile_syns_challenged_total{listener=\"web\"} 90\n" },
	{ "stile_sources_proven_total",
	  "# HELP stile_sources_proven_total SYN cookies that came back, and were judged.\n"
	  "# TYPE stile_sources_proven_total counter\n"
	  "stile_sources_proven_total{listener=\"web\"} 40\n" },
	{ "stile_proofs_failed_total",
	  "# HELP stile_proofs_failed_total SYN cookies that came back, and that the kernel made "
	  "no connection of.\n"
	  "# TYPE stile_proofs_failed_total counter\n"
	  "stile_proofs_failed_total{listener=\"web\"} 3\n" },
	{ "stile_syns_unprovable_total",
	  "# HELP stile_syns_unprovable_total SYNs judged unproven, as nothing here could take a "
	  "connection of them.\n"
	  "# TYPE stile_syns_unprovable_total counter\n"
	  "stile_syns_unprovable_total{listener=\"web\"} 2\n" },
	{ "stile_accept_queue_length",
	  "# HELP stile_accept_queue_length Connections that the service has not accepted yet.\n"
	  "# TYPE stile_accept_queue_length gauge\n"
	  "stile_accept_queue_length{listener=\"web\"} 7\n" },
	{ "stile_accept_queue_limit",
	  "# HELP stile_accept_queue_limit The backlog of the service's sockets: the queue takes "
	  "one more.\n"
	  "# TYPE stile_accept_queue_limit gauge\n"
	  "stile_accept_queue_limit{listener=\"web\"} 1022\n" },
	{ "stile_connections_in_flight",
	  "# HELP stile_connections_in_flight Handshakes that the client has not completed yet.\n"
	  "# TYPE stile_connections_in_flight gauge\n"
	  "stile_connections_in_flight{listener=\"web\"} 3\n" },
	{ "stile_sessions", "# HELP stile_sessions Sessions on udp that limiters know of.\n"
			    "# TYPE stile_sessions gauge\n"
			    "stile_sessions{state=\"open\"} 17\n"
			    "stile_sessions{state=\"held\"} 4\n" },
	{ "stile_sessions_evictions_total",
	  "# HELP stile_sessions_evictions_total Sessions that had to make room for another.\n"
	  "# TYPE stile_sessions_evictions_total counter\n"
	  "stile_sessions_evictions_total 5\n" },
	{ "stile_sessions_full_total",
	  "# HELP stile_sessions_full_total Sessions that found no room: judged again with each "
	  "datagram.\n"
	  "# TYPE stile_sessions_full_total counter\n"
	  "stile_sessions_full_total 6\n" },
	{ "stile_connections", "# HELP stile_connections Open TCP connections.\n"
			       "# TYPE stile_connections gauge\n"
			       "stile_connections{listener=\"web\"} 7\n"
			       "stile_connections{listener=\"old\"} 0\n" },
	{ "stile_connections_opened_total",
	  "# HELP stile_connections_opened_total TCP connections that were established.\n"
	  "# TYPE stile_connections_opened_total counter\n"
	  "stile_connections_opened_total{listener=\"web\"} 90\n"
	  "stile_connections_opened_total{listener=\"old\"} 0\n" },
	{ "stile_connections_overflow_total",
	  "# HELP stile_connections_overflow_total TCP connections whose client is not counted: "
	  "max_clients was reached.\n"
	  "# TYPE stile_connections_overflow_total counter\n"
	  "stile_connections_overflow_total{listener=\"web\"} 2\n"
	  "stile_connections_overflow_total{listener=\"old\"} 0\n" },
	{ "stile_connections_recounted_total",
	  "# HELP stile_connections_recounted_total Times that a count of connections had to be "
	  "put right.\n"
	  "# TYPE stile_connections_recounted_total counter\n"
	  "stile_connections_recounted_total{listener=\"web\"} 1\n"
	  "stile_connections_recounted_total{listener=\"old\"} 0\n" },
	{ "stile_shedding",
	  "# HELP stile_shedding Whether the limiter refuses clients of the listener now.\n"
	  "# TYPE stile_shedding gauge\n"
	  "stile_shedding{limiter=\"per-client\",listener=\"web\"} 1\n"
	  "stile_shedding{limiter=\"edge\",listener=\"web\"} 0\n" },
	{ "stile_config_reloads_total",
	  "# HELP stile_config_reloads_total Reloads of the configuration.\n"
	  "# TYPE stile_config_reloads_total counter\n"
	  "stile_config_reloads_total{result=\"ok\"} 5\n"
	  "stile_config_reloads_total{result=\"failed\"} 2\n" },
	{ "stile_config_last_reload_successful",
	  "# HELP stile_config_last_reload_successful Whether the configuration in force "
	  "is the one that was last asked for.\n"
	  "# TYPE stile_config_last_reload_successful gauge\n"
	  "stile_config_last_reload_successful 1\n" },
};

static void test_families(void)
{
	autofree char *page = render(&daemon_of_test);

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		autofree char *lines = family(page, families[i].name);

		CHECK_STR_EQ(families[i].name, lines, families[i].want);
	}
}

static bool has_line(const char *page, const char *line)
{
	const char *at = strstr(page, line);

	return at && (at == page || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static void test_packets(void)
{
	static const struct {
		const char *what, *line;
		bool want;
	} rows[] = {
		{ "what was counted is there",
		  "stile_packets_total{interface=\"eth0\",verdict=\"reply\",reason=\"limited\"} 80",
		  true },
		{ "what can occur is there before it did",
		  "stile_packets_total{interface=\"eth0\",verdict=\"drop\",reason=\"blocked\"} 0",
		  true },
		{ "what cannot occur is not there",
		  "stile_packets_total{interface=\"eth0\",verdict=\"pass\",reason=\"blocked\"} 0",
		  false },
		{ "nor is an allowed packet that was dropped",
		  "stile_packets_total{interface=\"eth0\",verdict=\"drop\",reason=\"allowed\"} 0",
		  false },
	};
	autofree char *page = render(NULL);

	if (!CHECK("a page is rendered", page != NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what, has_line(page, rows[i].line), rows[i].want);
}

static void test_without_daemon(void)
{
	autofree char *page = render(NULL);

	if (!CHECK("a page is rendered", page != NULL))
		return;
	CHECK("the version is told", strstr(page, "stile_build_info{version=\"") != NULL);
	CHECK("reloads are the daemon's to tell", strstr(page, "stile_config_") == NULL);
}

static void test_promtool(void)
{
	autofree char *page = render(&daemon_of_test);
	FILE *promtool;

	if (system("command -v promtool >/dev/null") != 0) {
		CHECK_SKIP("promtool is not installed");
		return;
	}
	promtool = popen("promtool check metrics", "w");
	if (!CHECK("promtool runs", promtool != NULL))
		return;
	CHECK("it is given a page", page && fputs(page, promtool) >= 0);
	CHECK_EQ("promtool has nothing to say against it", pclose(promtool), 0);
}

CHECK_SUITE(metrics, { "families", test_families }, { "packets", test_packets },
	    { "without a daemon", test_without_daemon }, { "promtool", test_promtool });
