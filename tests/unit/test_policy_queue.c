/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What accept_queue_limit and listen_backlog become for the kernel side. */
#include "check.h"
#include "policy_text.h"
#include "util.h"

static const char text[] = "listeners:\n"
			   "  plain: {ports: 80}\n"
			   "  part: {ports: 81, accept_queue_limit: 80%}\n"
			   "  all: {ports: 82, accept_queue_limit: 100%, listen_backlog: 512}\n"
			   "  number: {ports: 83, accept_queue_limit: 2147483647}\n"
			   "  exactly: {ports: 84, listen_backlog: {exactly: 64}}\n";

static void test_listeners(void)
{
	static const struct {
		const char *name;
		__u32 limit;
		__u8 percent;
		__u32 backlog;
		__u8 exactly;
	} rows[] = {
		{ "plain", 0, 0, 0, 0 },     { "part", 80, 80, 0, 0 },
		{ "all", 100, 100, 512, 0 }, { "number", 2147483647, 0, 0, 0 },
		{ "exactly", 0, 0, 64, 1 },
	};
	struct policy policy;

	if (!policy_text_compile(text, NULL, &policy))
		return;
	CHECK_EQ("queues are watched", policy.kernel.accept_limits, 1);
	CHECK_EQ("where the kernel has their length", policy.kernel.queue_length, 8);
	CHECK_EQ("and their backlog", policy.kernel.queue_backlog, 12);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct stile_listener *listener =
			&policy.kernel.listeners[policy_text_listener(&policy, rows[i].name)];

		CHECK_EQ(rows[i].name, listener->accept_limit, rows[i].limit);
		CHECK_EQ(rows[i].name, listener->accept_percent, rows[i].percent);
		CHECK_EQ(rows[i].name, listener->backlog, rows[i].backlog);
		CHECK_EQ(rows[i].name, listener->backlog_exactly, rows[i].exactly);
	}
	policy_release(&policy);
}

static void test_none(void)
{
	struct policy policy;

	if (!policy_text_compile("listeners: {a: {ports: 80, listen_backlog: 512}}", NULL, &policy))
		return;
	CHECK_EQ("no queue is watched", policy.kernel.accept_limits, 0);
	policy_release(&policy);
}

CHECK_SUITE(policy_queue, { "what listeners ask for", test_listeners },
	    { "without a limit", test_none });
