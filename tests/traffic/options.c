/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options of the load tools, which are programs of tests and scripts: they end where they fail. */
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void options_fail(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(2);
}

void options_target(const char *text, struct endpoint *ret_target)
{
	if (endpoint_parse(text, ret_target) < 0)
		options_fail("--target: expected ADDRESS:PORT, got '%s'", text);
}

void options_sources(const char *text, struct sources *ret_sources)
{
	if (sources_parse(text, ret_sources) < 0)
		options_fail("--from: expected ADDRESS, FIRST-LAST or PREFIX/LENGTH, got '%s'",
			     text);
}

uint64_t options_number(const char *name, const char *text, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > max)
		options_fail("--%s: expected a number from 0 to %llu, got '%s'", name,
			     (unsigned long long)max, text);
	return value;
}

double options_fraction(const char *name, const char *text, double max)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (errno || end == text || *end || !(value >= 0 && value <= max))
		options_fail("--%s: expected a number from 0 to %g, got '%s'", name, max, text);
	return value;
}
