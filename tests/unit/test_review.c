/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mistakes of both kinds are told together, and one that follows from another is not. The texts
 * are held by the golden files of tests/cli.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "policy.h"
#include "review.h"
#include "util.h"

/* review_read() of a file that holds @text. */
static int read_text(const char *text, struct diag *diag, struct config *ret_config)
{
	autofd int fd = memfd_create("stile.yaml", MFD_CLOEXEC);
	char path[64];

	diag_init(diag, "test");
	if (!CHECK("a file in memory",
		   fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text)))
		return -EIO;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return review_read(path, diag, ret_config);
}

static void test_together(void)
{
	static const struct {
		const char *what, *text;
		size_t errors;
	} rows[] = {
		{ "a value, and a name that nothing has",
		  "rate_limiters: {a: {limit: x}}\nlisteners: {w: {rate_limiter_name: b}}\n", 2 },
		{ "a limit that is wrong is not missing as well",
		  "rate_limiters: {a: {limit: x}}\nlisteners: {w: {rate_limiter_name: a}}\n", 1 },
		{ "one that is missing beside one that is wrong",
		  "rate_limiters: {a: {limit: x}, b: {}}\nlisteners: {w: {rate_limiter_name: a}}\n",
		  2 },
		{ "nor does a window that is wrong hide a limit that is too high",
		  "rate_limiters: {a: {limit: 5000000, window: x}}\n", 2 },
		{ "a key that is unknown may be the limit", "rate_limiters: {a: {lmit: 5}}\n", 1 },
		{ "or whatever is missing", "rate_limiters: {a: {xyzzy: 5}}\n", 1 },
		{ "but not what is there", "rate_limiters: {a: {xyzzy: 5, limit: 5000000}}\n", 1 },
		{ "an algorithm that is there is not in doubt",
		  "rate_limiters: {a: {xyzzy: 5, limit: 5000000, algorithm: fixed_window}}\n", 2 },
		{ "a merge key may bring all that is missing",
		  "rate_limiters: {a: &a {limit: 5}, b: {<<: *a, burst: 5}}\n", 1 },
		{ "a port that is wrong does not hide that another is taken",
		  "listeners: {v: {ports: 80}, w: {ports: [x, 80]}}\n", 2 },
		{ "ports of which none is right are not all ports",
		  "listeners: {v: {}, w: {ports: [x]}}\n", 1 },
		{ "addresses of which none is right are not all addresses",
		  "listeners: {v: {ports: 80}, w: {ports: 80, addresses: x}}\n", 1 },
		{ "an algorithm that is wrong says nothing of the limit",
		  "rate_limiters: {a: {limit: 5000000, algorithm: x}}\n", 1 },
		{ "a protocol that is wrong says nothing of the unit, nor of the ports",
		  "rate_limiters: {a: {limit: 5, unit: datagrams}}\n"
		  "listeners: {d: {protocol: x, rate_limiter_name: a}, e: {}}\n",
		  1 },
		{ "prefixes that are wrong are not one and the same",
		  "rate_limiters: {a: {limit: 5}}\n"
		  "listeners: {w: {sources: {x: a, y: a, z: b}}}\n",
		  4 },
		{ "a name that is wrong is not missed where it is used",
		  "rate_limiters: {'a b': {limit: 5}}\n"
		  "listeners: {w: {rate_limiter_name: 'a b'}}\n",
		  2 },
		{ "a text that breaks off says nothing of what comes after",
		  "listeners: {w: {rate_limiter_name: a}}\nrate_limiters: {a: {limit: 5}\n", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct diag diag;

		CHECK_EQ(rows[i].what, read_text(rows[i].text, &diag, &config), -EINVAL);
		CHECK_EQ(rows[i].what, diag.n_errors, rows[i].errors);
		CHECK_EQ("a draft's warnings are not told", diag.n_entries, diag.n_errors);
		diag_release(&diag);
	}
}

static void test_good(void)
{
	static const char text[] = "rate_limiters: {a: {limit: 5}}\n"
				   "listeners: {w: {ports: 80, rate_limiter_name: a}}\n";
	struct config config;
	struct policy policy;
	struct diag diag;

	if (!CHECK_EQ("it is read", read_text(text, &diag, &config), 0))
		return;
	CHECK_EQ("it compiles", review_compile(&config, &diag, &policy), 0);
	review_warn(&config, &diag);
	CHECK_EQ("there is nothing to say of it", diag.n_entries, 0);
	policy_release(&policy);
	config_release(&config);
	diag_release(&diag);
}

static void test_warnings(void)
{
	static const struct {
		const char *text;
		size_t warnings;
	} rows[] = {
		{ "listeners: {w: {}}", 1 },
		{ "listeners: {w: {sources: {10.0.0.0/8: none}}}", 1 },
		{ "listeners: {w: {sources: {10.0.0.0/8: a}}}", 0 },
		{ "listeners: {w: {}}\ninterfaces: {eth0: {rate_limiter_name: a}}", 0 },
		{ "trusted: [0.0.0.0/0]", 1 },
		{ "trusted: [0.0.0.0/1, 10.0.0.0/8]", 1 },
		{ "trusted: [10.0.0.0/8]\nblocked: [10.1.0.0/16]", 0 },
		{ "trusted: [10.1.0.0/16]\nblocked: [10.0.0.0/8]", 1 },
		{ "listeners: {w: {rate_limiter_name: a, sources: {10.0.0.0/8: a}}}\n"
		  "trusted: [10.1.0.0/16]",
		  0 },
		{ "listeners: {w: {rate_limiter_name: a, sources: {10.1.0.0/16: a}}}\n"
		  "trusted: [10.0.0.0/8]",
		  1 },
		{ "listeners: {w: {rate_limiter_name: a, sources: {10.1.0.0/16: none}}}\n"
		  "trusted: [10.0.0.0/8]",
		  0 },
		{ "listeners: {w: {rate_limiter_name: a, sources: {0.0.0.0/0: none, 2000::/3: b}}}",
		  1 },
		{ "listeners: {w: {rate_limiter_name: a, sources: {0.0.0.0/0: none, 2000::/4: b}}}",
		  0 },
		{ "listeners: {w: {sources: {0.0.0.0/0: a, 2000::/3: b}}}", 0 },
		{ "listeners: {w: {rate_limiter_name: a, ports: [80, 80, 80-81, 79-80, 82]}}", 3 },
		{ "listeners: {w: {rate_limiter_name: a, ports: [80, 81-82, 83]}}", 0 },
		{ "listeners: {w: {rate_limiter_name: a, addresses: [\"::1\", \"0::1\"]}}", 1 },
		{ "listeners: {w: {rate_limiter_name: a, addresses: []}}", 0 },
		{ "rate_limiters: {a: {limit: 5, max_keys: 99}}", 1 },
		{ "rate_limiters: {a: {limit: 5, max_keys: 100}}", 0 },
		{ "rate_limiters: {a: {limit: 5, max_keys: 1, keys: []}}", 0 },
		{ "rate_limiters: {a: {limit: 2, window: 1s, burst: 1, algorithm: token_bucket}}",
		  1 },
		{ "rate_limiters: {a: {limit: 60, burst: 1, algorithm: token_bucket}}", 0 },
		{ "rate_limiters: {a: {limit: 5, ipv4_prefix: 7}}", 1 },
		{ "rate_limiters: {a: {limit: 5, ipv4_prefix: 8}}", 0 },
		{ "rate_limiters: {a: {limit: 5, action: close, response: {}}}", 0 },
		{ "trusted: [2000::/3]", 1 },
		{ "trusted: [2000::/4]", 0 },
		{ "blocked: [0.0.0.0/0]", 1 },
		{ "enabled: false", 1 },
		{ "rate_limiters: {a: {limit: 5, ipv6_prefix: 65}}", 1 },
		{ "rate_limiters: {a: {limit: 5, ipv6_prefix: 64}}", 0 },
		{ "rate_limiters: {a: {limit: 5, ipv6_prefix: 65, keys: []}}", 0 },
		{ "rate_limiters: {a: {limit: 5, ipv4_prefix: 0}}", 1 },
		{ "rate_limiters: {a: {limit: 5, ipv4_prefix: 0, ipv6_prefix: 0}}", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct diag diag;

		diag_init(&diag, "test");
		if (!CHECK_EQ(rows[i].text,
			      config_parse(rows[i].text, strlen(rows[i].text), &diag, &config), 0))
			continue;
		review_warn(&config, &diag);
		CHECK_EQ(rows[i].text, diag.n_entries, rows[i].warnings);
		config_release(&config);
		diag_release(&diag);
	}
}

CHECK_SUITE(review, { "mistakes of both kinds are told together", test_together },
	    { "a good configuration is read", test_good },
	    { "what is hardly meant is warned of", test_warnings });
