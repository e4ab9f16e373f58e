/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers and histories in few columns. */
#include <stdio.h>
#include <string.h>

#include "top.h"
#include "util.h"

const char *top_number(double number, char text[TOP_NUMBER_SIZE])
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;

	if (!(number > 0)) {
		snprintf(text, TOP_NUMBER_SIZE, "0");
		return text;
	}
	for (; number >= 999.5 && unit + 2 < sizeof(units); unit++)
		number /= 1000;
	if (number >= 999.5)
		snprintf(text, TOP_NUMBER_SIZE, "lots");
	else if (number >= 99.95 || (unit == 0 && number >= 9.95))
		snprintf(text, TOP_NUMBER_SIZE, "%.0f%c", number, units[unit]);
	else
		snprintf(text, TOP_NUMBER_SIZE, "%.1f%c", number, units[unit]);
	if (unit == 0 && strchr(text, ' '))
		*strchr(text, ' ') = '\0';
	return text;
}

const char *top_count(uint64_t count, char text[TOP_NUMBER_SIZE])
{
	if (count >= 1000)
		return top_number((double)count, text);
	snprintf(text, TOP_NUMBER_SIZE, "%u", (unsigned int)count);
	return text;
}

const char *top_span(uint64_t ns, char text[TOP_NUMBER_SIZE])
{
	unsigned long long tenths = ns / 100000000 + (ns % 100000000 ? 1 : 0);
	unsigned long long seconds = tenths / 10 + (tenths % 10 ? 1 : 0);

	if (tenths < 600)
		snprintf(text, TOP_NUMBER_SIZE, "%llu.%llus", tenths / 10, tenths % 10);
	else if (seconds < 3600)
		snprintf(text, TOP_NUMBER_SIZE, "%llum%llus", seconds / 60, seconds % 60);
	else if (seconds < 86400)
		snprintf(text, TOP_NUMBER_SIZE, "%lluh%llum", seconds / 3600, seconds / 60 % 60);
	else if (seconds < 1000 * 86400ULL)
		snprintf(text, TOP_NUMBER_SIZE, "%llud%lluh", seconds / 86400, seconds / 3600 % 24);
	else
		snprintf(text, TOP_NUMBER_SIZE, "years");
	return text;
}

/* What little there was is still seen: only nothing is a blank. */
static size_t step_of(double value, double highest, size_t n_steps)
{
	size_t step;

	if (!(value > 0) || !(highest > 0))
		return 0;
	step = (size_t)(value / highest * (double)(n_steps - 1) + 0.5);
	return step < 1 ? 1 : step >= n_steps ? n_steps - 1 : step;
}

const char *top_spark(const struct top_flow *flow, unsigned int columns, bool unicode,
		      char text[TOP_TEXT_SIZE])
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const signs[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
	size_t n = flow->n_history < columns ? flow->n_history : columns, length = 0;
	const double *history = flow->history + flow->n_history - n;
	double highest = 0;

	for (size_t i = 0; i < n; i++)
		highest = history[i] > highest ? history[i] : highest;
	for (size_t i = 0; i < columns; i++) {
		size_t step = i < columns - n ? 0
					      : step_of(history[i - (columns - n)], highest,
							ARRAY_SIZE(blocks));
		const char *sign = unicode ? blocks[step] : signs[step];

		memcpy(text + length, sign, strlen(sign));
		length += strlen(sign);
	}
	text[length] = '\0';
	return text;
}
