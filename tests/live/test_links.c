/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The links that Stile stands on: loopback, tagged and untagged, both modes; and what is asked. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"

#define LIMIT 20
#define CONNECTIONS 60
#define VLAN 77

#define CONFIG(interface, mode)                                                                    \
	"interfaces: {" interface ": {mode: " mode "}}\n"                                          \
	"rate_limiters:\n"                                                                         \
	"  per-client: {limit: 20, window: 1h}\n"                                                  \
	"listeners:\n"                                                                             \
	"  web: {ports: [80], rate_limiter_name: per-client}\n"

static void check_storm(const struct live *live, enum live_side side, const char *from,
			const char *to)
{
	const struct live_storm storm = {
		.side = side,
		.from = from,
		.to = to,
		.connections = CONNECTIONS,
	};
	autoresult struct engine_result result = {};

	if (!live_connect(live, &storm, &result))
		return;
	CHECK_EQ("exactly the limit succeeds", result.outcomes[ENGINE_SUCCEEDED], LIMIT);
	CHECK_EQ("all others are refused", result.outcomes[ENGINE_REFUSED], CONNECTIONS - LIMIT);
	CHECK_EQ("at once", live_counter(live, side, "TcpRetransSegs"), 0);
}

static void test_loopback(void)
{
	autolive struct live live;

	if (!live_begin(&live, "lo") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("lo", "auto")))
		return;
	check_storm(&live, LIVE_SERVER, "127.0.0.2", "127.0.0.1:80");
	check_storm(&live, LIVE_SERVER, "127.0.0.3", SERVER_IPV4 ":80");
	check_storm(&live, LIVE_SERVER, "::1", "[::1]:80");
}

static void check_tagged(struct live *live, const char *config)
{
	if (!live_start_web(live) || !live_tag(live, VLAN) || !live_start(live, config))
		return;
	check_storm(live, LIVE_CLIENT, CLIENT_ONE, SERVER_IPV4 ":80");
	check_storm(live, LIVE_CLIENT, CLIENT_SIX_ONE, "[" SERVER_IPV6 "]:80");
}

static void test_tagged_generic(void)
{
	autolive struct live live;

	if (live_begin(&live, "vlan-generic"))
		check_tagged(&live, CONFIG("srv0", "generic"));
}

static void test_tagged_native(void)
{
	autolive struct live live;

	if (live_begin(&live, "vlan-native") && live_peer_native(&live))
		check_tagged(&live, CONFIG("srv0", "native"));
}

/* The mode as it is attached, in the words of status; to be freed by the caller. */
static void check_mode(const struct live *live, const char *interface, const char *want)
{
	char labels[64];

	snprintf(labels, sizeof(labels), "interface=\"%s\",mode=\"%s\"", interface, want);
	CHECK_EQ(want, live_metric_now(live, "stile_attached", labels), 1);
}

/* The same for whoever asks from a network namespace that has no such interface, or another. */
static void check_mode_from_outside(const struct live *live, const char *interface,
				    const char *want)
{
	autooutput struct output output = process_shell(
		-1, "%s --instance %s status | awk '$1 == \"%s\" { printf $2; exit }'",
		check_stile(), live->instance, interface);

	CHECK_STR_EQ(interface, output.text, want);
}

static void test_modes(void)
{
	autolive struct live live;

	if (!live_begin(&live, "modes") || !live_peer_native(&live) || !live_start_web(&live) ||
	    !live_start(&live, "interfaces: {srv0: {mode: native}, lo: {}}\n"
			       "rate_limiters: {per-client: {limit: 20, window: 1h}}\n"
			       "listeners: {web: {ports: [80], rate_limiter_name: per-client}}\n"
			       "metrics: {listen: \"127.0.0.1:9466\"}\n"))
		return;
	check_mode(&live, "srv0", "native");
	check_mode(&live, "lo", "generic");
	check_mode_from_outside(&live, "srv0", "native");
	check_mode_from_outside(&live, "lo", "generic");
	check_storm(&live, LIVE_CLIENT, CLIENT_ONE, SERVER_IPV4 ":80");
	check_storm(&live, LIVE_SERVER, "127.0.0.2", "127.0.0.1:80");
}

static void test_no_ethernet(void)
{
	autooutput struct output reload = {};
	autolive struct live live;

	if (!live_begin(&live, "tun"))
		return;
	live_shell(&live, LIVE_SERVER, "ip tuntap add mode tun name tun0");
	if (!live_start(&live, "interfaces: {srv0: {}, tun0: {}}\n"))
		return;
	reload = live_stile(&live, "reload");
	CHECK_EQ("it is attached", reload.code, 0);
	CHECK("a warning says that it protects nothing",
	      reload.text && strstr(reload.text, "'tun0' has no Ethernet headers"));
	CHECK("and only there", reload.text && !strstr(reload.text, "'srv0' has"));
}

#define NATIVE(action)                                                                             \
	"interfaces: {srv0: {mode: native}, lo: {}}\n"                                             \
	"rate_limiters: {a: {limit: 20, action: " action "}}\n"                                    \
	"listeners: {web: {ports: [80], rate_limiter_name: a}}\n"

/* Answers that XDP sends there are lost, unless its peer has a program as well. */
static void test_native_veth(void)
{
	static const char warning[] = "interface 'srv0' is a veth in native mode";
	autooutput struct output answers = {}, silent = {};
	autolive struct live live;

	if (!live_begin(&live, "native-veth") || !live_start(&live, NATIVE("reject")))
		return;
	answers = live_stile(&live, "reload");
	CHECK("a warning says so", answers.text && strstr(answers.text, warning));
	CHECK("of no other", answers.text && !strstr(answers.text, "'lo' is a veth"));
	if (!live_write(&live, "stile.yaml", NATIVE("drop")))
		return;
	silent = live_stile(&live, "reload");
	CHECK_EQ("what answers nothing is attached", silent.code, 0);
	CHECK("without a warning", silent.text && !strstr(silent.text, warning));
}

CHECK_SUITE(links, { "loopback", test_loopback },
	    { "a tagged link in generic mode", test_tagged_generic },
	    { "a tagged link in native mode", test_tagged_native },
	    { "two interfaces, each in its mode", test_modes },
	    { "an interface without Ethernet headers", test_no_ethernet },
	    { "a veth in native mode", test_native_veth });
