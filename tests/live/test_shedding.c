/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shedding, as the log and the metric tell it: one line when it begins, one when it ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 10
#define CONNECTIONS 500
#define LABELS "limiter=\"per-client\",listener=\"web\""

static const char config[] = "interfaces: {srv0: {mode: generic}}\n"
			     "rate_limiters:\n"
			     "  per-client: {limit: 10, window: 1h}\n"
			     "  all: {keys: [], limit: 100000, window: 1m}\n"
			     "listeners:\n"
			     "  web: {ports: [80], rate_limiter_name: [per-client, all]}\n"
			     "  other: {ports: [81], rate_limiter_name: per-client}\n"
			     "metrics: {listen: \"127.0.0.1:9466\"}\n"
			     "log: {format: json}\n";

/* Lines of the log with that event, in JSON. */
static json_t *events(const struct live *live, const char *event)
{
	autooutput struct output output = process_shell(
		-1, "jq -s 'map(select(.event == \"%s\"))' %s/stile.log", event, live->directory);

	return output.text ? json_loads(output.text, 0, NULL) : NULL;
}

static size_t count(const struct live *live, const char *event)
{
	json_t *lines = events(live, event);
	size_t n = json_array_size(lines);

	json_decref(lines);
	return n;
}

static bool has_begun(void *context)
{
	return count(context, "shedding_begins") > 0;
}

static bool has_ended(void *context)
{
	return count(context, "shedding_ends") > 0;
}

static void check_line(const struct live *live, const char *event, const char *field,
		       long long value)
{
	json_t *lines = events(live, event);
	const json_t *line = json_array_get(lines, 0);

	CHECK_EQ(event, json_array_size(lines), 1);
	CHECK_STR_EQ("where", json_string_value(json_object_get(line, "listener")), "web");
	CHECK_STR_EQ("by whom", json_string_value(json_object_get(line, "limiter")), "per-client");
	if (field)
		CHECK_EQ(field, json_integer_value(json_object_get(line, field)), value);
	json_decref(lines);
}

static long long shedding(const struct live *live, const char *labels)
{
	return live_metric_now(live, "stile_shedding", labels);
}

/* Two of three clients are over their limit: by 490 each. */
static bool storm(const struct live *live)
{
	return CHECK("one client within its limit", live_served(live, CLIENT_ONE)) &&
	       CHECK_EQ("one over it", live_count_served(live, CLIENT_TWO, CONNECTIONS), LIMIT) &&
	       CHECK_EQ("and another", live_count_served(live, CLIENT_THREE, CONNECTIONS), LIMIT);
}

static void test_storm(void)
{
	autolive struct live live;

	if (!live_begin(&live, "shedding") || !live_start_web(&live) || !live_start(&live, config))
		return;
	CHECK_EQ("nobody is refused yet", shedding(&live, LABELS), 0);
	if (!storm(&live) || !CHECK("it has begun", live_wait(has_begun, &live)))
		return;
	CHECK_EQ("the metric says so", shedding(&live, LABELS), 1);
	CHECK_EQ("of this limiter and listener alone", shedding(&live, ""), 1);
	check_line(&live, "shedding_begins", NULL, 0);
	if (!CHECK("it ends", live_wait(has_ended, &live)))
		return;
	check_line(&live, "shedding_ends", "refused", 2LL * (CONNECTIONS - LIMIT));
	check_line(&live, "shedding_ends", "clients", 2);
	check_line(&live, "shedding_begins", NULL, 0);
	CHECK_EQ("and so does the metric", shedding(&live, LABELS), 0);
}

static void test_detach(void)
{
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "shedding-detach") || !live_start_web(&live) ||
	    !live_start(&live, config) || !storm(&live) ||
	    !CHECK("it has begun", live_wait(has_begun, &live)))
		return;
	output = live_stile(&live, "detach");
	CHECK_EQ("it is taken out", output.code, 0);
	CHECK("and is over with that", live_wait(has_ended, &live));
	check_line(&live, "shedding_ends", NULL, 0);
}

/* The slot of a listener's limiter goes to another's: what was shed there is over. */
static void test_reload(void)
{
	static const char without[] = "interfaces: {srv0: {mode: generic}}\n"
				      "rate_limiters: {one: {limit: 10, window: 1h}}\n"
				      "listeners: {web: {ports: [80], rate_limiter_name: one}}\n"
				      "metrics: {listen: \"127.0.0.1:9466\"}\n"
				      "log: {format: json}\n";
	autooutput struct output output = {};
	autolive struct live live;

	if (!live_begin(&live, "shedding-reload") || !live_start_web(&live) ||
	    !live_start(&live, config) || !storm(&live) ||
	    !CHECK("it has begun", live_wait(has_begun, &live)) ||
	    !live_write(&live, "stile.yaml", without))
		return;
	output = live_stile(&live, "reload");
	CHECK_EQ("it is reloaded", output.code, 0);
	CHECK("and is over with that", live_wait(has_ended, &live));
	check_line(&live, "shedding_ends", NULL, 0);
	CHECK_EQ("the one in its place sheds nobody", shedding(&live, ""), 0);
}

CHECK_SUITE(shedding, { "a storm", test_storm }, { "detached meanwhile", test_detach },
	    { "another limiter in its place", test_reload });
