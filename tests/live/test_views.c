/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What other people's tools and our own commands see: promtool, bpftool, clients, explain. */
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

static const char config[] = "interfaces: {srv0: {}}\n"
			     "rate_limiters:\n"
			     "  per-client: {limit: 5, window: 1h}\n"
			     "  all-of-web: {keys: [], limit: 1000, window: 1h}\n"
			     "listeners:\n"
			     "  web: {ports: [80], rate_limiter_name: [per-client, all-of-web]}\n"
			     "metrics: {listen: \"127.0.0.1:9466\"}\n";

static bool begin(struct live *live, const char *name)
{
	return live_begin(live, name) && live_start_web(live) && live_start(live, config) &&
	       CHECK_EQ("the limit gets in", live_count_served(live, CLIENT_ONE, 12), 5);
}

static void test_promtool(void)
{
	autofree char *page = NULL, *health = NULL;
	autolive struct live live;

	if (!begin(&live, "promtool"))
		return;
	page = live_page(&live, "/metrics");
	health = live_page(&live, "/healthz");
	CHECK("there is a page", page != NULL);
	CHECK("and it is healthy", health != NULL);
	CHECK("no label holds a client's address", page && !strstr(page, CLIENT_ONE));
	if (page && live_write(&live, "page", page))
		live_shell(&live, LIVE_SERVER, "promtool check metrics < %s/page", live.directory);
}

static void test_bpftool(void)
{
	autooutput struct output show = {}, dump = {};
	autolive struct live live;

	if (!begin(&live, "bpftool"))
		return;
	show = process_shell(-1, "bpftool map show pinned /sys/fs/bpf/stile/%s/current/limiter-%s",
			     live.instance, "per-client");
	CHECK("map show tells the limiter's name",
	      show.text && strstr(show.text, "name per_client "));
	output_release(&show);
	show = process_shell(-1, "bpftool map show name per_client");
	CHECK_EQ("and finds it by its name", show.code, 0);
	dump = process_shell(-1,
			     "bpftool map dump pinned /sys/fs/bpf/stile/%s/current/limiter-%s "
			     "| tr -d ' \n' | grep -c '10,77,1,9'",
			     live.instance, "per-client");
	CHECK_EQ("map dump shows a client's address as people read it", dump.code, 0);
}

/* The number at @name of the first client that the command lists. */
static long long client_number(const struct live *live, const char *name)
{
	json_t *json = live_json(live, "clients --limiter per-client");
	const json_t *first = json_array_get(json_object_get(json, "clients"), 0);
	const json_t *number = json_object_get(first, name);
	long long value = json_is_integer(number) ? json_integer_value(number) : -1;

	json_decref(json);
	return value;
}

static void test_clients(void)
{
	autooutput struct output text = {};
	autolive struct live live;

	if (!begin(&live, "clients"))
		return;
	CHECK_EQ("clients knows what was admitted", client_number(&live, "admitted"), 5);
	CHECK_EQ("and what was refused", client_number(&live, "refused"), 7);
	text = live_stile(&live, "clients");
	CHECK("the table has the client's address", text.text && strstr(text.text, CLIENT_ONE));
}

static void test_explain(void)
{
	autolive struct live live;

	if (!begin(&live, "explain"))
		return;
	live_check_explained(&live, CLIENT_ONE, "limited");
	live_check_explained(&live, CLIENT_TWO, "allowed");
	CHECK_EQ("explaining charges nobody", live_count_served(&live, CLIENT_TWO, 12), 5);
}

CHECK_SUITE(views, { "promtool accepts the page", test_promtool },
	    { "bpftool shows limiters and clients", test_bpftool },
	    { "clients lists them", test_clients }, { "explain foretells", test_explain });
