/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The checks themselves: tests/lint/run.sh runs the ones that must fail. */
#include "check.h"

#include <stdint.h>

static void test_numbers(void)
{
	CHECK_EQ("small", (unsigned char)200, 200);
	CHECK_EQ("negative", -1, -1L);
	CHECK_EQ("big", UINT64_MAX, 18446744073709551615ULL);
	CHECK_EQ("true", true, 1);
}

static void test_texts(void)
{
	CHECK_STR_EQ("same", "stile", "stile");
	CHECK_STR_EQ("both missing", NULL, NULL);
	CHECK_MEM_EQ("bytes", "\1\2", "\1\2\3", 2);
}

CHECK_SUITE(check, { "numbers", test_numbers }, { "texts", test_texts });
