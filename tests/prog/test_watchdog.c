/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What becomes of packets while the daemon is heard of, and once it was silent for too long. */
#include "check.h"
#include "prog.h"
#include "util.h"

#define AFTER "10s"
#define IN_TIME (PROG_NOW - 10 * NSEC_PER_SEC)
#define TOO_LATE (PROG_NOW - 10 * NSEC_PER_SEC - 1)
#define AHEAD (PROG_NOW + NSEC_PER_SEC) /* the program's clock is a tick behind */

#define REST                                                                                       \
	"blocked: [198.51.100.0/24]\n"                                                             \
	"rate_limiters:\n"                                                                         \
	"  nobody: {keys: [], limit: 1, window: 1h}\n"                                             \
	"  crowded: {limit: 1000, window: 1h, max_keys: 1, max_keys_action: reject}\n"             \
	"  plenty: {limit: 1000, window: 1h}\n"                                                    \
	"listeners:\n"                                                                             \
	"  web: {protocol: tcp, ports: [80], rate_limiter_name: nobody}\n"                         \
	"  two: {protocol: tcp, ports: [81], rate_limiter_name: [plenty, nobody]}\n"               \
	"  full: {protocol: tcp, ports: [82], rate_limiter_name: crowded}\n"

static const struct {
	const char *what;
	const char *want[_STILE_WATCHDOG_MAX]; /* once it has been silent for too long */
	struct pkt_spec spec;
} rows[] = {
	{ "over the limit",
	  { "reply limited web/nobody=limited reset", "pass counted web/nobody=counted",
	    "pass unattended" },
	  { .dport = 80 } },
	{ "over one of two limits",
	  { "reply limited two/nobody=limited reset", "pass counted two/nobody=counted",
	    "pass unattended" },
	  { .dport = 81 } },
	{ "without room",
	  { "reply full full/crowded=full (crowded: found no room) reset",
	    "pass counted full/crowded=counted (crowded: found no room)", "pass unattended" },
	  { .dport = 82 } },
	{ "on the blocked list",
	  { "drop blocked", "drop blocked", "pass unattended" },
	  { .from = CLIENT_FAR } },
	{ "of an open connection",
	  { "pass established", "pass established", "pass unattended" },
	  { .flags = PKT_ACK } },
	{ "with flags of no connection",
	  { "drop bad_flags", "drop bad_flags", "pass unattended" },
	  { .flags = PKT_NO_FLAGS } },
};

/* Everything is used up; the daemon lives. */
static bool load(struct prog *prog, const char *config)
{
	char from[32];

	if (!prog_load(prog, config, PROG_NOW))
		return false;
	prog_heartbeat(prog, PROG_NOW);
	(void)prog_send(prog, &(struct pkt_spec){ .dport = 80 });
	for (int i = 1; i <= STILE_SET_WAYS; i++) {
		snprintf(from, sizeof(from), "192.0.2.%d", 100 + i);
		(void)prog_send(prog, &(struct pkt_spec){ .from = from, .dport = 82 });
	}
	return true;
}

static void check(struct prog *prog, enum stile_watchdog then)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].what, prog_send(prog, &rows[i].spec), rows[i].want[then]);
}

static void check_silence(const char *config, enum stile_watchdog then)
{
	autoprog struct prog prog = {};

	if (!load(&prog, config))
		return;
	check(&prog, STILE_WATCHDOG_KEEP);
	prog_heartbeat(&prog, IN_TIME);
	check(&prog, STILE_WATCHDOG_KEEP);
	prog_heartbeat(&prog, AHEAD);
	check(&prog, STILE_WATCHDOG_KEEP);
	prog_heartbeat(&prog, TOO_LATE);
	check(&prog, then);
	prog_heartbeat(&prog, PROG_NOW);
	check(&prog, STILE_WATCHDOG_KEEP);
}

static void test_keep(void)
{
	check_silence("watchdog: {after: " AFTER "}\n" REST, STILE_WATCHDOG_KEEP);
}

static void test_count(void)
{
	check_silence("watchdog: {after: " AFTER ", then: count}\n" REST, STILE_WATCHDOG_COUNT);
}

static void test_pass(void)
{
	check_silence("watchdog: {after: " AFTER ", then: pass}\n" REST, STILE_WATCHDOG_PASS);
}

/* A program that was just loaded has heard of its loader. */
static void test_first(void)
{
	autoprog struct prog prog = {};

	if (prog_load_ticking(&prog, "watchdog: {after: 5s, then: pass}\n" REST))
		CHECK_STR_EQ("it judges", prog_send(&prog, &(struct pkt_spec){ .dport = 80 }),
			     "pass allowed web/nobody=allowed");
}

CHECK_SUITE(watchdog, { "keep", test_keep }, { "count", test_count }, { "pass", test_pass },
	    { "the first heartbeat", test_first });
