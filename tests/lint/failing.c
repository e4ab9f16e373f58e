/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that must fail, each in its way; run.sh compares what is printed with failing.want. */
#include "check.h"

static void test_number(void)
{
	CHECK_EQ("one and one is two", 1 + 1, 3);
	CHECK_EQ("a large number has no sign", ~0ULL, 1ULL);
	CHECK_EQ("a negative number has one", -1, 1);
}

static void test_text(void)
{
	CHECK_STR_EQ("a name", "stile", "fence");
	CHECK_STR_EQ("no name", NULL, "fence");
}

static void test_bytes(void)
{
	CHECK_MEM_EQ("an address", "\x0a\x4d\x01\x09", "\x0a\x4d\x01\x0a", 4);
}

static void test_condition(void)
{
	CHECK("something", 1 > 2);
}

static void test_nothing(void)
{
}

static int setup_fails(void)
{
	return -1;
}

static void test_good(void)
{
	CHECK("good", true);
}

static void test_skip(void)
{
	CHECK_SKIP("a privilege is missing");
}

CHECK_SUITE(failing, { "number", test_number }, { "text", test_text }, { "bytes", test_bytes },
	    { "condition", test_condition }, { "nothing", test_nothing }, { "good", test_good });
CHECK_SUITE_WITH(unready, setup_fails, NULL, { "never", test_good });
CHECK_SUITE(skipping, { "skip", test_skip });
