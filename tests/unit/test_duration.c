/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spans of time as people write them. */
#include <errno.h>

#include "check.h"
#include "duration.h"
#include "util.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define MINUTE (60 * S)
#define HOUR (60 * MINUTE)

static void test_parse(void)
{
	static const struct {
		const char *text;
		int want;
		uint64_t ns;
	} rows[] = {
		{ "500ms", 0, 500 * MS },
		{ "0s", 0, 0 },
		{ "1s", 0, S },
		{ "90s", 0, 90 * S },
		{ "1m", 0, MINUTE },
		{ "1h", 0, HOUR },
		{ "1d", 0, 24 * HOUR },
		{ "7d12h", 0, 180 * HOUR },
		{ "1m30s", 0, 90 * S },
		{ "1h2m3s4ms", 0, HOUR + 2 * MINUTE + 3 * S + 4 * MS },
		{ "5124095h", 0, 5124095 * HOUR },
		{ "5124096h", -ERANGE, 0 },
		{ "5124095h100m", -ERANGE, 0 },
		{ "99999999999999999999999s", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "1", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ " 1s", -EINVAL, 0 },
		{ "1s ", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "+1s", -EINVAL, 0 },
		{ "1.5s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1sec", -EINVAL, 0 },
		{ "1:30", -EINVAL, 0 },
		{ "1s1m", -EINVAL, 0 },
		{ "1h1d", -EINVAL, 0 },
		{ "1w", -EINVAL, 0 },
		{ "1s1s", -EINVAL, 0 },
		{ "1m30", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ns = 77;

		CHECK_EQ(rows[i].text, duration_parse(rows[i].text, &ns), rows[i].want);
		CHECK_EQ(rows[i].text, ns, rows[i].want ? 77 : rows[i].ns);
	}
}

CHECK_SUITE(duration, { "spans are read", test_parse });
