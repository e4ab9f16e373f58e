/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a configuration becomes: every key's value and its default. The texts of mistakes are held
 * by the golden files of tests/cli; here it is asked what a mistake leaves behind.
 */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "config.h"
#include "util.h"

#define S UINT64_C(1000000000)

/* False, and a failed check, where @text has mistakes. */
static bool parse(const char *what, const char *text, struct config *ret_config)
{
	struct diag diag;
	int err;

	diag_init(&diag, "test");
	err = config_parse(text, strlen(text), &diag, ret_config);
	CHECK_EQ(what, err, 0);
	if (err)
		diag_print(&diag, stdout);
	CHECK_EQ("no mistakes", diag.n_errors, 0);
	diag_release(&diag);
	return err == 0;
}

static void test_file_defaults(void)
{
	struct config config;

	if (!parse("as little as there can be", "{}", &config))
		return;
	CHECK_EQ("enabled", config.enabled, true);
	CHECK_EQ("interfaces", config.n_interfaces, 0);
	CHECK_EQ("trusted", config.n_trusted, 0);
	CHECK_EQ("blocked", config.n_blocked, 0);
	CHECK_EQ("limiters", config.n_limiters, 0);
	CHECK_EQ("listeners", config.n_listeners, 0);
	CHECK_STR_EQ("metrics are served on loopback", config.metrics_host, "127.0.0.1");
	CHECK_EQ("at this port", config.metrics_port, 9466);
	CHECK_STR_EQ("the control socket is the instance's own", config.control, NULL);
	CHECK_STR_EQ("and nobody else's", config.control_group.text, "");
	CHECK_STR_EQ("no user is named", config.user.text, "");
	CHECK_EQ("log level", config.log_level, CONFIG_LOG_INFO);
	CHECK_EQ("log format", config.log_json, false);
	CHECK_EQ("on_stop", config.keep_on_stop, false);
	CHECK_EQ("watchdog", config.watchdog.then, STILE_WATCHDOG_KEEP);
	CHECK_EQ("after", config.watchdog.after, 30 * 1000000000ULL);
	config_release(&config);
}

static void test_limiter_defaults(void)
{
	const struct config_limiter *limiter;
	struct config config;

	if (!parse("a limit alone", "rate_limiters: {a: {limit: 5}}", &config))
		return;
	limiter = &config.limiters[0];
	CHECK_STR_EQ("name", limiter->name.text, "a");
	CHECK_EQ("algorithm", limiter->algorithm, STILE_ALGORITHM_SLIDING_WINDOW);
	CHECK_EQ("limit", limiter->limit, 5);
	CHECK_EQ("window", limiter->window, 60 * S);
	CHECK_EQ("burst is not given", limiter->burst, 0);
	CHECK_EQ("keys", limiter->keyed, true);
	CHECK_EQ("ipv4_prefix", limiter->ipv4_prefix, 32);
	CHECK_EQ("ipv6_prefix", limiter->ipv6_prefix, 64);
	CHECK_EQ("unit is not given", limiter->has_unit, false);
	CHECK_EQ("action", limiter->action, STILE_ACTION_REJECT);
	CHECK_EQ("max_keys", limiter->max_keys, 100000);
	CHECK_EQ("max_keys_action", limiter->full, STILE_FULL_EVICT);
	CHECK_EQ("nothing is wrong with it", limiter->unsure, 0);
	config_release(&config);
}

static void test_listener_defaults(void)
{
	const struct config_listener *listener;
	struct config config;

	if (!parse("nothing", "listeners: {web: {}}", &config))
		return;
	listener = &config.listeners[0];
	CHECK_STR_EQ("name", listener->name.text, "web");
	CHECK_EQ("protocol", listener->protocol, STILE_PROTOCOL_TCP);
	CHECK_EQ("addresses", listener->n_addresses, 0);
	CHECK_EQ("ports", listener->n_ports, 0);
	CHECK_EQ("limiters", listener->judges.n_names, 0);
	CHECK_EQ("sources", listener->n_sources, 0);
	config_release(&config);
}

static void test_limiter(void)
{
	static const char text[] = "rate_limiters:\n"
				   "  a_b.c-9:\n"
				   "    keys: []\n"
				   "    ipv4_prefix: 24\n"
				   "    ipv6_prefix: 48\n"
				   "    algorithm: token_bucket\n"
				   "    limit: 10\n"
				   "    window: 1m30s\n"
				   "    burst: 20\n"
				   "    unit: datagrams\n"
				   "    action: count\n"
				   "    max_keys: 7\n"
				   "    max_keys_action: reject\n";
	const struct config_limiter *limiter;
	struct config config;

	if (!parse("every key", text, &config))
		return;
	limiter = &config.limiters[0];
	CHECK_STR_EQ("name", limiter->name.text, "a_b.c-9");
	CHECK_EQ("the line of the name", limiter->name.place.line, 2);
	CHECK_EQ("keys", limiter->keyed, false);
	CHECK_EQ("ipv4_prefix", limiter->ipv4_prefix, 24);
	CHECK_EQ("ipv6_prefix", limiter->ipv6_prefix, 48);
	CHECK_EQ("algorithm", limiter->algorithm, STILE_ALGORITHM_TOKEN_BUCKET);
	CHECK_EQ("limit", limiter->limit, 10);
	CHECK_EQ("the line of the limit", limiter->limit_place.line, 7);
	CHECK_EQ("its column", limiter->limit_place.column, 12);
	CHECK_EQ("window", limiter->window, 90 * S);
	CHECK_EQ("the line of the window", limiter->window_place.line, 8);
	CHECK_EQ("burst", limiter->burst, 20);
	CHECK_EQ("the line of the burst", limiter->burst_place.line, 9);
	CHECK_EQ("unit is given", limiter->has_unit, true);
	CHECK_EQ("unit", limiter->unit, STILE_UNIT_DATAGRAMS);
	CHECK_EQ("the line of the unit", limiter->unit_place.line, 10);
	CHECK_EQ("action", limiter->action, STILE_ACTION_COUNT);
	CHECK_EQ("max_keys", limiter->max_keys, 7);
	CHECK_EQ("max_keys_action", limiter->full, STILE_FULL_REJECT);
	config_release(&config);
}

static void test_words(void)
{
	static const struct {
		const char *text;
		unsigned int algorithm, action, unit, full;
	} rows[] = {
		{ "algorithm: sliding_window, action: reject, unit: connections, "
		  "max_keys_action: evict",
		  STILE_ALGORITHM_SLIDING_WINDOW, STILE_ACTION_REJECT, STILE_UNIT_CONNECTIONS,
		  STILE_FULL_EVICT },
		{ "algorithm: token_bucket, action: reset, unit: datagrams, max_keys_action: allow",
		  STILE_ALGORITHM_TOKEN_BUCKET, STILE_ACTION_RESET, STILE_UNIT_DATAGRAMS,
		  STILE_FULL_ALLOW },
		{ "algorithm: fixed_window, action: drop, unit: connections, "
		  "max_keys_action: reject",
		  STILE_ALGORITHM_FIXED_WINDOW, STILE_ACTION_DROP, STILE_UNIT_CONNECTIONS,
		  STILE_FULL_REJECT },
		{ "action: count, unit: connections", STILE_ALGORITHM_SLIDING_WINDOW,
		  STILE_ACTION_COUNT, STILE_UNIT_CONNECTIONS, STILE_FULL_EVICT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		char text[256];

		snprintf(text, sizeof(text), "rate_limiters: {a: {%s}}", rows[i].text);
		if (!parse(rows[i].text, text, &config))
			continue;
		CHECK_EQ(rows[i].text, config.limiters[0].algorithm, rows[i].algorithm);
		CHECK_EQ(rows[i].text, config.limiters[0].action, rows[i].action);
		CHECK_EQ(rows[i].text, config.limiters[0].unit, rows[i].unit);
		CHECK_EQ(rows[i].text, config.limiters[0].full, rows[i].full);
		config_release(&config);
	}
}

static void test_listener(void)
{
	static const char text[] = "listeners:\n"
				   "  dns:\n"
				   "    protocol: udp\n"
				   "    addresses: [192.0.2.1, '2001:db8::1']\n"
				   "    ports: [53, 8000-8099]\n"
				   "    rate_limiter_name: [one, two]\n"
				   "    sources:\n"
				   "      198.51.100.0/24: none\n"
				   "      2001:db8::/32: three\n";
	const struct config_listener *listener;
	char address[PREFIX_TEXT_SIZE];
	struct config config;

	if (!parse("every key", text, &config))
		return;
	listener = &config.listeners[0];
	CHECK_EQ("protocol", listener->protocol, STILE_PROTOCOL_UDP);
	CHECK_EQ("two addresses", listener->n_addresses, 2);
	CHECK_STR_EQ("the first", prefix_format(&listener->addresses[0].prefix, address),
		     "192.0.2.1");
	CHECK_STR_EQ("the second", prefix_format(&listener->addresses[1].prefix, address),
		     "2001:db8::1");
	CHECK_EQ("the column of the second", listener->addresses[1].place.column, 28);
	CHECK_EQ("two ranges", listener->n_ports, 2);
	CHECK_EQ("one port", listener->ports[0].first, 53);
	CHECK_EQ("ends where it begins", listener->ports[0].last, 53);
	CHECK_EQ("a range", listener->ports[1].first, 8000);
	CHECK_EQ("ends here", listener->ports[1].last, 8099);
	CHECK_EQ("two limiters", listener->judges.n_names, 2);
	CHECK_STR_EQ("the first", listener->judges.names[0].text, "one");
	CHECK_STR_EQ("the second", listener->judges.names[1].text, "two");
	CHECK_EQ("two sources", listener->n_sources, 2);
	CHECK_EQ("none", listener->sources[0].judges.none, true);
	CHECK_EQ("names none", listener->sources[0].judges.n_names, 0);
	CHECK_EQ("bits of IPv4", listener->sources[0].prefix.prefix.bits, 120);
	CHECK_EQ("another", listener->sources[1].judges.none, false);
	CHECK_STR_EQ("names one", listener->sources[1].judges.names[0].text, "three");
	CHECK_EQ("the line of its prefix", listener->sources[1].prefix.place.line, 9);
	config_release(&config);
}

static void test_rest(void)
{
	static const char text[] = "enabled: false\n"
				   "interfaces:\n"
				   "  eth0.100:\n"
				   "  eth1: {mode: native, rate_limiter_name: edge}\n"
				   "  fifteen-letters: {mode: generic}\n"
				   "trusted: [10.0.0.0/8, 2001:db8::/32]\n"
				   "blocked: 203.0.113.7\n"
				   "metrics: {listen: '[::1]:9000'}\n"
				   "control: /run/x.sock\n"
				   "control_group: adm\n"
				   "user: stile\n"
				   "log: {level: debug, format: json}\n"
				   "on_stop: keep\n"
				   "watchdog: {after: 90s, then: pass}\n";
	struct config config;

	if (!parse("every key", text, &config))
		return;
	CHECK_EQ("enabled", config.enabled, false);
	CHECK_EQ("three interfaces", config.n_interfaces, 3);
	CHECK_STR_EQ("the first", config.interfaces[0].name.text, "eth0.100");
	CHECK_EQ("its mode", config.interfaces[0].mode, STILE_MODE_AUTO);
	CHECK_EQ("no limiter", config.interfaces[0].judges.n_names, 0);
	CHECK_EQ("the mode of the second", config.interfaces[1].mode, STILE_MODE_NATIVE);
	CHECK_STR_EQ("its limiter", config.interfaces[1].judges.names[0].text, "edge");
	CHECK_STR_EQ("the third", config.interfaces[2].name.text, "fifteen-letters");
	CHECK_EQ("its mode", config.interfaces[2].mode, STILE_MODE_GENERIC);
	CHECK_EQ("trusted", config.n_trusted, 2);
	CHECK_EQ("blocked", config.n_blocked, 1);
	CHECK_EQ("a host", config.blocked[0].prefix.bits, 128);
	CHECK_STR_EQ("metrics_host", config.metrics_host, "::1");
	CHECK_EQ("metrics_port", config.metrics_port, 9000);
	CHECK_STR_EQ("control", config.control, "/run/x.sock");
	CHECK_STR_EQ("control_group", config.control_group.text, "adm");
	CHECK_STR_EQ("user", config.user.text, "stile");
	CHECK_EQ("log level", config.log_level, CONFIG_LOG_DEBUG);
	CHECK_EQ("log format", config.log_json, true);
	CHECK_EQ("on_stop", config.keep_on_stop, true);
	CHECK_EQ("watchdog", config.watchdog.then, STILE_WATCHDOG_PASS);
	CHECK_EQ("after", config.watchdog.after, 90 * 1000000000ULL);
	config_release(&config);
}

static void test_no_metrics(void)
{
	struct config config;

	if (!parse("metrics off", "metrics: {listen: none}", &config))
		return;
	CHECK_STR_EQ("no address", config.metrics_host, NULL);
	config_release(&config);
}

static void test_safe_defaults(void)
{
	struct config config;

	CHECK_EQ("they are there", config_default(&config), 0);
	CHECK_EQ("enabled", config.enabled, true);
	CHECK_EQ("one listener", config.n_listeners, 1);
	CHECK_STR_EQ("its name", config.listeners[0].name.text, "all-tcp");
	CHECK_EQ("its protocol", config.listeners[0].protocol, STILE_PROTOCOL_TCP);
	CHECK_EQ("every port", config.listeners[0].n_ports, 0);
	CHECK_EQ("every address", config.listeners[0].n_addresses, 0);
	CHECK_EQ("one limiter there", config.listeners[0].judges.n_names, 1);
	CHECK_STR_EQ("which is", config.listeners[0].judges.names[0].text, "default");
	CHECK_EQ("one limiter", config.n_limiters, 1);
	CHECK_STR_EQ("its name", config.limiters[0].name.text, "default");
	CHECK_EQ("algorithm", config.limiters[0].algorithm, STILE_ALGORITHM_TOKEN_BUCKET);
	CHECK_EQ("limit", config.limiters[0].limit, 500);
	CHECK_EQ("window", config.limiters[0].window, S);
	CHECK_EQ("burst", config.limiters[0].burst, 1000);
	CHECK_EQ("action", config.limiters[0].action, STILE_ACTION_REJECT);
	CHECK_STR_EQ("metrics", config.metrics_host, "127.0.0.1");
	config_release(&config);
}

static void test_mistakes(void)
{
	static const char text[] = "enabled: maybe\n"
				   "rate_limiters: {good: {limit: 5}, bad: {limit: x}}\n"
				   "listeners: {good: {ports: 80}, bad: {ports: [80, x]}}\n";
	struct config config = { .metrics_port = 77 };
	struct diag diag;

	diag_init(&diag, "test");
	CHECK_EQ("refused", config_parse(text, strlen(text), &diag, &config), -EINVAL);
	CHECK_EQ("three mistakes", diag.n_errors, 3);
	CHECK_EQ("the configuration is left alone", config.metrics_port, 77);
	CHECK_EQ("and so are its lists", config.n_limiters, 0);
	diag_release(&diag);

	diag_init(&diag, "test");
	CHECK_EQ("as a draft it is written", config_parse_draft(text, strlen(text), &diag, &config),
		 true);
	CHECK_EQ("with the same mistakes", diag.n_errors, 3);
	CHECK_EQ("both limiters are there", config.n_limiters, 2);
	CHECK_EQ("the good one", config.limiters[0].unsure, 0);
	CHECK_EQ("the bad one", config.limiters[1].unsure != 0, true);
	CHECK_EQ("both listeners are there", config.n_listeners, 2);
	CHECK_EQ("the good one", config.listeners[0].unsure, 0);
	CHECK_EQ("the bad one", config.listeners[1].unsure != 0, true);
	CHECK_EQ("what is right of it is read", config.listeners[1].n_ports, 1);
	config_release(&config);
	diag_release(&diag);
}

static void test_no_draft(void)
{
	static const struct {
		const char *what, *text;
	} rows[] = {
		{ "an empty text", "" },
		{ "no YAML", "trusted: [10.0.0.0/8\n" },
		{ "no YAML after what is good", "rate_limiters: {a: {limit: 5}}\nlisteners: {\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct diag diag;

		diag_init(&diag, "test");
		CHECK_EQ(rows[i].what,
			 config_parse_draft(rows[i].text, strlen(rows[i].text), &diag, &config),
			 false);
		CHECK_EQ(rows[i].what, diag.n_errors, 1);
		diag_release(&diag);
	}
}

static void test_file(void)
{
	static const struct {
		const char *path, *text;
	} rows[] = {
		{ "/nonexistent/stile.yaml", "cannot be read: No such file or directory" },
		{ "/", "found a directory, expected a file" },
		{ "/dev/null", "found no settings, expected some: see stile.yaml(5)" },
		{ "/dev/zero", "found more than 16 MiB, expected a configuration" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct config config;
		struct diag diag;

		diag_init(&diag, rows[i].path);
		CHECK_EQ(rows[i].path, config_read(rows[i].path, &diag, &config), -EINVAL);
		if (CHECK_EQ(rows[i].path, diag.n_entries, 1)) {
			CHECK_STR_EQ(rows[i].path, diag.entries[0].text, rows[i].text);
			CHECK_EQ("the file as a whole", diag.entries[0].place.line, 0);
		}
		diag_release(&diag);
	}
}

CHECK_SUITE(config, { "an empty map has every default", test_file_defaults },
	    { "a limiter's defaults", test_limiter_defaults },
	    { "a listener's defaults", test_listener_defaults },
	    { "every key of a limiter", test_limiter }, { "every word of a limiter", test_words },
	    { "every key of a listener", test_listener }, { "every other key", test_rest },
	    { "metrics can be switched off", test_no_metrics },
	    { "the safe defaults", test_safe_defaults },
	    { "a mistake leaves the caller's object alone", test_mistakes },
	    { "what cannot be read is no draft", test_no_draft },
	    { "files that are none", test_file });
