/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SYNs at a limiter of concurrency, whose handshakes never end: no socket is asked here. Places are
 * free again when the slices have turned, which takes no more than the clock.
 */
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "loader.h"
#include "prog.h"

#define SLICE (68 * NSEC_PER_SEC)
#define ALLOWED "pass allowed web/l=allowed"
#define LIMITED "reply limited web/l=limited reset"
#define WAITING "drop waiting"
#define REPEATED "pass repeated"

static const char *send_from(struct prog *prog, const char *from, uint16_t port)
{
	const struct pkt_spec syn = { .from = from, .sport = port };

	return prog_send(prog, &syn);
}

static bool begin(struct prog *prog, const char *limiter, const char *more)
{
	char text[512];

	snprintf(
		text, sizeof(text),
		"rate_limiters: {l: {algorithm: concurrency, %s}, r: {limit: 3, window: 1h}}\n"
		"listeners: {web: {ports: [80], %s}, other: {ports: [81], rate_limiter_name: r}}\n",
		limiter, more);
	return prog_load(prog, text, PROG_NOW / SLICE * SLICE);
}

static void check_limit(const char *one, const char *two)
{
	autoprog struct prog prog = {};
	const uint64_t now = PROG_NOW / SLICE * SLICE;

	if (!begin(&prog, "limit: 2", "rate_limiter_name: l"))
		return;
	CHECK_STR_EQ("a place", send_from(&prog, one, 1000), ALLOWED);
	CHECK_STR_EQ("and another", send_from(&prog, one, 1001), ALLOWED);
	CHECK_STR_EQ("no more", send_from(&prog, one, 1002), LIMITED);
	CHECK_STR_EQ("who has one asks again", send_from(&prog, one, 1000), REPEATED);
	CHECK_STR_EQ("another client has its own", send_from(&prog, two, 1000), ALLOWED);
	if (!prog_move(&prog, now + SLICE))
		return;
	CHECK_STR_EQ("in the next slice they live", send_from(&prog, one, 1002), LIMITED);
	CHECK_STR_EQ("one is asked for again", send_from(&prog, one, 1001), REPEATED);
	if (!prog_move(&prog, now + 2 * SLICE))
		return;
	CHECK_STR_EQ("the other is dead in the one after", send_from(&prog, one, 1002), ALLOWED);
	CHECK_STR_EQ("the one that was asked for lives", send_from(&prog, one, 1003), LIMITED);
	if (!prog_move(&prog, now + 3 * SLICE))
		return;
	CHECK_STR_EQ("and is dead in the next", send_from(&prog, one, 1003), ALLOWED);
}

static void test_limit(void)
{
	check_limit(CLIENT_ONE, CLIENT_TWO);
	check_limit(CLIENT_ONE_V6, CLIENT_FAR_V6);
}

static void test_queue(void)
{
	autoprog struct prog prog = {};
	const uint64_t now = PROG_NOW / SLICE * SLICE;

	if (!begin(&prog, "limit: 2, queue: 2", "rate_limiter_name: l"))
		return;
	CHECK_STR_EQ("a place", send_from(&prog, CLIENT_ONE, 1000), ALLOWED);
	CHECK_STR_EQ("and another", send_from(&prog, CLIENT_ONE, 1001), ALLOWED);
	CHECK_STR_EQ("one waits", send_from(&prog, CLIENT_ONE, 1002), WAITING);
	CHECK_STR_EQ("two do", send_from(&prog, CLIENT_ONE, 1003), WAITING);
	CHECK_STR_EQ("no more", send_from(&prog, CLIENT_ONE, 1004), LIMITED);
	CHECK_STR_EQ("who waits asks again, and waits", send_from(&prog, CLIENT_ONE, 1003),
		     WAITING);
	if (!prog_move(&prog, now + SLICE))
		return;
	CHECK_STR_EQ("the first holds its place", send_from(&prog, CLIENT_ONE, 1000), REPEATED);
	CHECK_STR_EQ("who waits still does", send_from(&prog, CLIENT_ONE, 1003), WAITING);
	CHECK_STR_EQ("the other as well", send_from(&prog, CLIENT_ONE, 1002), WAITING);
	CHECK_STR_EQ("both are counted", send_from(&prog, CLIENT_ONE, 1004), LIMITED);
	if (!prog_move(&prog, now + 2 * SLICE))
		return;
	CHECK_STR_EQ("one place is free: for who has waited", send_from(&prog, CLIENT_ONE, 1003),
		     ALLOWED);
	CHECK_STR_EQ("not for the other yet", send_from(&prog, CLIENT_ONE, 1002), WAITING);
}

/* A new SYN is admitted to places that nobody waits for. */
static void test_turn(void)
{
	autoprog struct prog prog = {};
	char table[64];
	struct stile_set set;
	uint32_t zero = 0;

	if (!begin(&prog, "keys: [], limit: 1, queue: 5", "rate_limiter_name: l"))
		return;
	CHECK_STR_EQ("the place", send_from(&prog, CLIENT_ONE, 1000), ALLOWED);
	CHECK_STR_EQ("one waits", send_from(&prog, CLIENT_TWO, 1000), WAITING);
	snprintf(table, sizeof(table), "limiter-l");
	(void)bpf_map_lookup_elem(prog_map(&prog, table), &zero, &set);
	for (int way = 0; way < STILE_SET_WAYS; way++)
		set.state[way] &= ~(4095ULL << 20); /* the handshake has come to nothing */
	(void)bpf_map_update_elem(prog_map(&prog, table), &zero, &set, BPF_ANY);
	CHECK_STR_EQ("it is free, and not for a new one", send_from(&prog, CLIENT_FAR, 1000),
		     WAITING);
	CHECK_STR_EQ("but for who came before", send_from(&prog, CLIENT_TWO, 1000), ALLOWED);
	CHECK_STR_EQ("who now holds it", send_from(&prog, CLIENT_TWO, 1000), REPEATED);
}

/* All judge before any is charged; a rate is charged for each SYN, whatever place it has. */
static void test_several(void)
{
	autoprog struct prog prog = {};

	if (!begin(&prog, "limit: 2, queue: 1", "rate_limiter_name: [l, r]"))
		return;
	CHECK_STR_EQ("both", send_from(&prog, CLIENT_ONE, 1000),
		     "pass allowed web/l=allowed web/r=allowed");
	CHECK_STR_EQ("again, and its socket is not there", send_from(&prog, CLIENT_ONE, 1000),
		     "pass allowed web/r=allowed");
	CHECK_STR_EQ("both", send_from(&prog, CLIENT_ONE, 1001),
		     "pass allowed web/l=allowed web/r=allowed");
	CHECK_STR_EQ("the rate refuses: nobody waits for that", send_from(&prog, CLIENT_ONE, 1002),
		     "reply limited web/r=limited reset");
}

static void test_count(void)
{
	autoprog struct prog prog = {};

	if (!begin(&prog, "limit: 1, action: count", "rate_limiter_name: l"))
		return;
	CHECK_STR_EQ("a place", send_from(&prog, CLIENT_ONE, 1000), ALLOWED);
	CHECK_STR_EQ("over the limit it is counted", send_from(&prog, CLIENT_ONE, 1001),
		     "pass counted web/l=counted");
	CHECK_STR_EQ("and has a place", send_from(&prog, CLIENT_ONE, 1001), REPEATED);
}

static void test_evict(void)
{
	autoprog struct prog prog = {};
	struct stile_holder_key key = { .address = { [10] = 0xff, 0xff, 192, 0, 2, 9 } };
	const struct stile_holder holder = { 1 };

	if (!begin(&prog, "limit: 1", "rate_limiter_name: l, on_limit: evict-idle"))
		return;
	CHECK_STR_EQ("a place", send_from(&prog, CLIENT_ONE, 1000), ALLOWED);
	CHECK_STR_EQ("who holds no connection is refused", send_from(&prog, CLIENT_ONE, 1001),
		     LIMITED);
	key.listener = prog.policy.kernel.listeners[1].serial;
	CHECK_EQ("it holds one",
		 bpf_map_update_elem(prog_map(&prog, "holders"), &key, &holder, BPF_ANY), 0);
	CHECK_STR_EQ("which is closed for the new one", send_from(&prog, CLIENT_ONE, 1001),
		     "drop evicting web/l=limited");
}

static int find_sweep(const char *name, int fd, void *context)
{
	if (strcmp(name, "sweep") == 0)
		*(int *)context = fd;
	return 0;
}

/* One run is enough: it begins at the set that it is told, and these are in any. */
static void sweep(const struct prog *prog, uint64_t cookies)
{
	union {
		struct stile_sweep sweep;
		char bytes[60];
	} frame = { .bytes = { 0 } };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = &frame, .data_size_in = sizeof(frame));
	int fd = -1;

	(void)loader_each(prog->loader, find_sweep, &fd);
	frame.sweep.cookies = cookies;
	for (; frame.sweep.first < prog->policy.kernel.handshake_sets;
	     frame.sweep.first += STILE_SWEEP_SETS)
		CHECK_EQ("the sweep runs", bpf_prog_test_run_opts(fd, &options), 0);
}

/* No socket ever comes of these SYNs. */
static void test_sweep(void)
{
	autoprog struct prog prog = {};
	const uint64_t now = PROG_NOW / SLICE * SLICE;

	if (!begin(&prog, "limit: 2, queue: 1", "rate_limiter_name: l"))
		return;
	CHECK_STR_EQ("a place", send_from(&prog, CLIENT_ONE, 1000), ALLOWED);
	CHECK_STR_EQ("and another", send_from(&prog, CLIENT_ONE, 1001), ALLOWED);
	CHECK_STR_EQ("one waits", send_from(&prog, CLIENT_ONE, 1002), WAITING);
	sweep(&prog, 0);
	CHECK_STR_EQ("a socket may come yet", send_from(&prog, CLIENT_ONE, 1003), LIMITED);
	if (!prog_move(&prog, now + NSEC_PER_SEC + NSEC_PER_SEC / 2))
		return;
	CHECK_STR_EQ("one is asked for again", send_from(&prog, CLIENT_ONE, 1001), REPEATED);
	sweep(&prog, 0);
	CHECK_STR_EQ("one is given back, for who waits", send_from(&prog, CLIENT_ONE, 1003),
		     LIMITED);
	if (!prog_move(&prog, now + 4 * NSEC_PER_SEC))
		return;
	sweep(&prog, 0);
	CHECK_STR_EQ("both are, and who waited has given up", send_from(&prog, CLIENT_ONE, 1003),
		     ALLOWED);
	CHECK_STR_EQ("both", send_from(&prog, CLIENT_ONE, 1004), ALLOWED);
	CHECK_STR_EQ("and no more", send_from(&prog, CLIENT_ONE, 1005), WAITING);
}

/* The same, but that the kernel may have sent cookies for some of them. */
static void test_sweep_cookies(void)
{
	autoprog struct prog prog = {};
	const uint64_t now = PROG_NOW / SLICE * SLICE;

	if (!begin(&prog, "limit: 2", "rate_limiter_name: l"))
		return;
	CHECK_STR_EQ("a place", send_from(&prog, CLIENT_ONE, 1000), ALLOWED);
	if (!prog_move(&prog, now + NSEC_PER_SEC))
		return;
	CHECK_STR_EQ("and another", send_from(&prog, CLIENT_ONE, 1001), ALLOWED);
	if (!prog_move(&prog, now + 10 * NSEC_PER_SEC))
		return;
	sweep(&prog, now + NSEC_PER_SEC);
	CHECK_STR_EQ("a cookie may be out for either", send_from(&prog, CLIENT_ONE, 1002), LIMITED);
	sweep(&prog, now + NSEC_PER_SEC / 2);
	CHECK_STR_EQ("for the first alone", send_from(&prog, CLIENT_ONE, 1002), ALLOWED);
	CHECK_STR_EQ("which keeps its place", send_from(&prog, CLIENT_ONE, 1003), LIMITED);
	CHECK_STR_EQ("itself", send_from(&prog, CLIENT_ONE, 1000), REPEATED);
}

CHECK_SUITE(places, { "as many as the limit, until they are dead", test_limit },
	    { "who waits", test_queue }, { "whose turn it is", test_turn },
	    { "handshakes that come to nothing", test_sweep },
	    { "those that SYN cookies may go on with", test_sweep_cookies },
	    { "beside other limiters", test_several }, { "action count", test_count },
	    { "on_limit: evict-idle", test_evict });
