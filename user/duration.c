/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Spans of time as text. A number without a unit is refused: nobody agrees on what it would mean.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "util.h"

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "d", UINT64_C(86400000000000) }, { "h", UINT64_C(3600000000000) },
	{ "m", UINT64_C(60000000000) },	   { "s", UINT64_C(1000000000) },
	{ "ms", UINT64_C(1000000) },
};

/* The unit at the head of @text, not before the @first of them; ARRAY_SIZE(units): none. */
static size_t find_unit(const char *text, size_t first)
{
	size_t length = 0;
	size_t i = first;

	while (isalpha((unsigned char)text[length]))
		length++;
	for (; i < ARRAY_SIZE(units); i++)
		if (strlen(units[i].name) == length && strncmp(text, units[i].name, length) == 0)
			break;
	return i;
}

int duration_parse(const char *text, uint64_t *ret_ns)
{
	uint64_t sum = 0;
	size_t unit = 0;

	do {
		unsigned long long number;
		uint64_t product;
		char *end;

		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		errno = 0;
		number = strtoull(text, &end, 10);
		unit = find_unit(end, unit);
		if (unit == ARRAY_SIZE(units))
			return -EINVAL;
		if (errno || __builtin_mul_overflow(number, units[unit].ns, &product) ||
		    __builtin_add_overflow(sum, product, &sum))
			return -ERANGE;
		text = end + strlen(units[unit++].name);
	} while (*text);
	*ret_ns = sum;
	return 0;
}
