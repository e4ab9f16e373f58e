/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The trusted and the blocked list, what expires from them, and the order of the numbered list. */
#include <time.h>

#include "check.h"
#include "prog.h"
#include "util.h"

#define LIMITED "reply limited web/nobody=limited reset"
#define EXEMPT "pass exempt web/nobody=exempt"
#define BLOCKED "drop blocked"
#define LONG_AGO 1 /* ns of CLOCK_MONOTONIC */
#define FOR_GOOD 0

/* One event of anybody uses the limit up. */
static const char config[] =
	"trusted: [192.0.2.10, 198.51.100.0/25, '2001:db8:a::/48']\n"
	"blocked: [192.0.2.128/25, 198.51.100.64/26, '2001:db8:a:b::/64']\n"
	"rate_limiters: {nobody: {keys: [], limit: 1, window: 1h}}\n"
	"listeners: {web: {protocol: tcp, ports: [80], rate_limiter_name: nobody}}\n";

static bool load(struct prog *prog)
{
	return prog_load(prog, config, PROG_NOW) &&
	       CHECK_EQ("the limit is used up", prog_passing(prog, &(struct pkt_spec){}, 1), 1);
}

static void test_config(void)
{
	static const struct {
		const char *what;
		struct pkt_spec spec;
		const char *want;
	} rows[] = {
		{ "who is on no list is judged", { .from = CLIENT_ONE }, LIMITED },
		{ "a trusted host is exempt", { .from = CLIENT_TWO }, EXEMPT },
		{ "the first of a trusted prefix", { .from = "198.51.100.0" }, EXEMPT },
		{ "the last of it that is not blocked", { .from = "198.51.100.63" }, EXEMPT },
		{ "blocked within trusted is blocked", { .from = "198.51.100.64" }, BLOCKED },
		{ "the last that is blocked", { .from = "198.51.100.127" }, BLOCKED },
		{ "the next is on no list", { .from = "198.51.100.128" }, LIMITED },
		{ "a blocked prefix", { .from = "192.0.2.255" }, BLOCKED },
		{ "the address below it", { .from = "192.0.2.127" }, LIMITED },
		{ "IPv6: on no list", { .from = CLIENT_ONE_V6 }, LIMITED },
		{ "IPv6: a trusted prefix", { .from = CLIENT_FAR_V6 }, EXEMPT },
		{ "IPv6: blocked within trusted", { .from = "2001:db8:a:b::1" }, BLOCKED },
		{ "a destination is on no list", { .to = "192.0.2.200" }, LIMITED },
		{ "blocked, without a listener", { .from = "192.0.2.255", .dport = 81 }, BLOCKED },
		{ "blocked, by UDP", { .from = "192.0.2.255", .protocol = IPPROTO_UDP }, BLOCKED },
		{ "blocked, with an ACK", { .from = "192.0.2.255", .flags = PKT_ACK }, BLOCKED },
		{ "blocked, with flags of no connection",
		  { .from = "192.0.2.255", .flags = PKT_NO_FLAGS },
		  BLOCKED },
		{ "blocked, in a fragment without ports",
		  { .from = "192.0.2.255", .fragment = 3, .payload = 8 },
		  "pass fragment" },
		{ "no listener, with flags of no connection",
		  { .flags = PKT_NO_FLAGS, .dport = 81 },
		  "pass unprotected" },
		{ "trusted, with flags of no connection",
		  { .from = CLIENT_TWO, .flags = PKT_NO_FLAGS },
		  "drop bad_flags" },
		{ "trusted, with an ACK",
		  { .from = CLIENT_TWO, .flags = PKT_ACK },
		  "pass established" },
		{ "trusted, where no listener is",
		  { .from = CLIENT_TWO, .dport = 81 },
		  "pass unprotected" },
	};
	autoprog struct prog prog = {};

	if (!load(&prog))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ(rows[i].what, prog_send(&prog, &rows[i].spec), rows[i].want);
}

static void test_all_of_a_family(void)
{
	autoprog struct prog prog = {};

	if (!load(&prog))
		return;
	prog_list(&prog, "blocked", "0.0.0.0/0", FOR_GOOD);
	CHECK_STR_EQ("all of IPv4 is blocked",
		     prog_send(&prog, &(struct pkt_spec){ .from = "203.0.113.77" }), BLOCKED);
	CHECK_STR_EQ("and nothing of IPv6",
		     prog_send(&prog, &(struct pkt_spec){ .from = CLIENT_ONE_V6 }), LIMITED);
	prog_list(&prog, "blocked", "2000::/3", FOR_GOOD);
	CHECK_STR_EQ("until IPv6 is, too",
		     prog_send(&prog, &(struct pkt_spec){ .from = CLIENT_ONE_V6 }), BLOCKED);
}

static uint64_t in_an_hour(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	return (uint64_t)now.tv_sec * NSEC_PER_SEC + HOUR;
}

static void test_expiry(void)
{
	static const struct {
		const char *what;
		const char *from;
		const char *entries[10]; /* from the inside out */
		unsigned int expired;	 /* a bit for each of them */
		bool listed;
	} rows[] = {
		{ "an entry counts until it expires", "10.1.0.1", { "10.1.0.0/24" }, 0, true },
		{ "an entry that has expired does not", "10.2.0.1", { "10.2.0.0/24" }, 1, false },
		{ "a host's neither", "10.3.0.1", { "10.3.0.1/32" }, 1, false },
		{ "expired, within one that counts",
		  "10.4.0.1",
		  { "10.4.0.1/32", "10.4.0.0/24" },
		  1,
		  true },
		{ "within one that has expired, too",
		  "10.5.0.1",
		  { "10.5.0.1/32", "10.5.0.0/24" },
		  3,
		  false },
		{ "one that counts, within one that has expired",
		  "10.6.0.1",
		  { "10.6.0.1/32", "10.6.0.0/24" },
		  2,
		  true },
		{ "seven that have expired, within one that counts",
		  "10.7.0.1",
		  { "10.7.0.1/32", "10.7.0.0/31", "10.7.0.0/30", "10.7.0.0/29", "10.7.0.0/28",
		    "10.7.0.0/27", "10.7.0.0/26", "10.7.0.0/25" },
		  0x7f,
		  true },
		{ "IPv6: an entry counts until it expires",
		  "fd00:1::1",
		  { "fd00:1::/32" },
		  0,
		  true },
		{ "IPv6: an entry that has expired does not",
		  "fd00:2::1",
		  { "fd00:2::1" },
		  1,
		  false },
		{ "IPv6: expired, within one that counts",
		  "fd00:3::1",
		  { "fd00:3::1", "fd00:3::/32" },
		  1,
		  true },
	};
	static const struct {
		const char *name, *want;
	} lists[] = { { "trusted", EXEMPT }, { "blocked", BLOCKED } };
	autoprog struct prog prog = {};
	uint64_t later = in_an_hour();

	for (size_t list = 0; list < ARRAY_SIZE(lists); list++) {
		if (!load(&prog))
			return;
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct pkt_spec spec = { .from = rows[i].from };

			for (size_t j = 0; rows[i].entries[j]; j++)
				prog_list(&prog, lists[list].name, rows[i].entries[j],
					  rows[i].expired >> j & 1 ? LONG_AGO : later);
			CHECK_STR_EQ(rows[i].what, prog_send(&prog, &spec),
				     rows[i].listed ? lists[list].want : LIMITED);
		}
		prog_unload(&prog);
	}
}

CHECK_SUITE(lists, { "of the configuration", test_config },
	    { "a whole address family", test_all_of_a_family }, { "expiry", test_expiry });
