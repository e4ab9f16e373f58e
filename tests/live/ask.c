/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands' JSON, and whether what explain promises is what happens. */
#include <stdarg.h>
#include <stdio.h>

#include "check.h"
#include "live.h"

#define TICK_NS 10000000ULL /* the longest tick a kernel has */

json_t *live_json(const struct live *live, const char *format, ...)
{
	autooutput struct output output = {};
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	output = live_stile(live, "%s --json", line);
	if (output.code != 0 || !output.text)
		return NULL;
	return json_loads(output.text, 0, NULL);
}

void live_check_explained(const struct live *live, const char *from, const char *reason)
{
	json_t *json = live_json(live, "explain %s --listener web", from);
	const json_t *first = json_array_get(json_object_get(json, "explanations"), 0);

	CHECK_STR_EQ(from, json_string_value(json_object_get(first, "reason")), reason);
	json_decref(json);
}

/* Seconds that explain tells @from to wait; -1 where it does not say. */
static double told_wait(const struct live *live, const char *from)
{
	json_t *json = live_json(live, "explain %s", from);
	const json_t *first = json_array_get(json_object_get(json, "explanations"), 0);
	const json_t *wait = json_object_get(first, "wait_seconds");
	double seconds = json_is_number(wait) ? json_number_value(wait) : -1;

	json_decref(json);
	return seconds;
}

struct promise {
	const struct live *live;
	struct live_storm storm;
	uint64_t earliest, latest; /* ns: no admission before, no refusal after */
	bool too_early, too_late;
};

static bool is_admitted(void *context)
{
	struct promise *promise = context;
	autoresult struct engine_result result = {};
	uint64_t before = sample_now();

	if (!live_connect(promise->live, &promise->storm, &result))
		return true;
	if (result.outcomes[ENGINE_SUCCEEDED] == 1) {
		promise->too_early = sample_now() < promise->earliest;
		return true;
	}
	promise->too_late = before > promise->latest;
	return promise->too_late;
}

void live_check_wait(const struct live *live, const char *from, const char *to)
{
	struct promise promise = {
		.live = live,
		.storm = { .from = from, .to = to, .connections = 1 },
	};
	uint64_t before = sample_now(), wait;
	double seconds = told_wait(live, from);

	if (!CHECK("explain tells the refused client to wait", seconds > 0))
		return;
	wait = (uint64_t)(seconds * 1e9);
	promise.earliest = before + wait - 2 * TICK_NS; /* the promise holds one tick in reserve */
	promise.latest = sample_now() + wait;
	CHECK("the client is admitted in the end", live_wait(is_admitted, &promise));
	CHECK("it was not admitted before the time it was told", !promise.too_early);
	CHECK("it was not refused after the time it was told", !promise.too_late);
}
