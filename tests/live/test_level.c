/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The service level, and a load balancer that heeds it: HAProxy before two web servers, each behind
 * a Stile of its own. It runs on the client's side of the first one's world, and has a second link
 * to the other's.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define REQUESTS 200
#define STORM_CONNECTIONS 100000000 /* until it is told to stop */
#define OTHER_IPV4 "10.77.2.1"	    /* the second server, on the second link */

static const char server_config[] =
	"interfaces: {%s: {mode: generic}}\n"
	"trusted: [10.77.1.9, 10.77.2.9]\n"
	"rate_limiters: {all: {keys: [], limit: 20, window: 1s}}\n"
	"listeners:\n"
	"  web: {ports: [80], rate_limiter_name: all, agent_check: {listen: \"%s:9467\"}}\n"
	"metrics: {listen: \"127.0.0.1:9466\"}\n";

static const char proxy_config[] =
	"global\n"
	"	stats socket %1$s/haproxy.sock\n"
	"defaults\n"
	"	mode http\n"
	"	timeout connect 3s\n"
	"	timeout client 10s\n"
	"	timeout server 10s\n"
	"frontend web\n"
	"	bind 127.0.0.1:8080\n"
	"	default_backend nodes\n"
	"backend nodes\n"
	"	balance roundrobin\n"
	"	option httpclose\n"
	"	default-server weight 100 agent-check agent-port 9467 agent-inter 100ms\n"
	"	server one " SERVER_IPV4 ":80 source 10.77.1.9 agent-addr " SERVER_IPV4 "\n"
	"	server other " OTHER_IPV4 ":80 source 10.77.2.9 agent-addr " OTHER_IPV4 "\n";

struct balanced {
	struct live one, other;
	const char *server; /* of a wait */
	long long weight;
};

static bool start_server(struct live *live, const char *interface, const char *address)
{
	char config[1024];

	snprintf(config, sizeof(config), server_config, interface, address);
	return live_start_web(live) && live_start(live, config);
}

static void link_other(const struct balanced *balanced)
{
	live_shell(&balanced->one, LIVE_CLIENT,
		   "ip link add lb0 type veth peer name srv1 netns /run/netns/" LIVE_PREFIX
		   "%s-srv && ip address add 10.77.2.9/24 dev lb0 && ip link set lb0 up",
		   balanced->other.name);
	live_shell(&balanced->other, LIVE_SERVER,
		   "ip address add " OTHER_IPV4 "/24 dev srv1 && ip link set srv1 up");
}

/* A field of what HAProxy tells of a server, -1: it does not. */
static long long proxy_stat(const struct balanced *balanced, const char *server, int field)
{
	autooutput struct output output =
		process_shell(-1,
			      "echo 'show stat' | socat - UNIX:%s/haproxy.sock | "
			      "awk -F, '$1 == \"nodes\" && $2 == \"%s\" { print $%d }'",
			      balanced->one.directory, server, field);

	return output.text && *output.text ? strtoll(output.text, NULL, 10) : -1;
}

static long long proxy_weight(const struct balanced *balanced, const char *server)
{
	return proxy_stat(balanced, server, 19);
}

static long long proxy_served(const struct balanced *balanced, const char *server)
{
	return proxy_stat(balanced, server, 8); /* sessions in all */
}

static bool weighs_as_much(void *context)
{
	const struct balanced *balanced = context;

	return proxy_weight(balanced, balanced->server) >= balanced->weight;
}

static bool weighs_as_little(void *context)
{
	const struct balanced *balanced = context;
	long long weight = proxy_weight(balanced, balanced->server);

	return weight >= 0 && weight <= balanced->weight;
}

static bool wait_weight(struct balanced *balanced, bool (*weighs)(void *context),
			const char *server, long long weight)
{
	balanced->server = server;
	balanced->weight = weight;
	return live_wait(weighs, balanced);
}

/* So many requests to HAProxy, four at a time: how many were served. */
static uint64_t request(const struct balanced *balanced, unsigned int n)
{
	struct engine_plan plan = {
		.connections = n,
		.concurrency = 4,
		.seconds = LIVE_BOUND_MS / 1000.0,
		.timeout_ms = 5000,
		.path = "/",
	};
	autoresult struct engine_result result = {};
	int r;

	(void)endpoint_parse("127.0.0.1:8080", &plan.target);
	live_enter(&balanced->one, LIVE_CLIENT);
	r = engine_run(&plan, &result);
	live_leave(&balanced->one);
	return r == 0 ? result.outcomes[ENGINE_SUCCEEDED] : 0;
}

static bool proxy_answers(void *context)
{
	return request(context, 1) == 1;
}

static bool start_proxy(struct balanced *balanced)
{
	struct live *live = &balanced->one;
	char config[2048], path[128], log[128];
	char *argv[] = { "haproxy", "-db", "-f", path, NULL };
	const struct process process = {
		.netns = live->netns[LIVE_CLIENT],
		.log = log,
		.argv = argv,
	};
	pid_t pid;

	snprintf(path, sizeof(path), "%s/haproxy.cfg", live->directory);
	snprintf(log, sizeof(log), "%s/haproxy.log", live->directory);
	snprintf(config, sizeof(config), proxy_config, live->directory);
	if (!live_write(live, "haproxy.cfg", config))
		return false;
	pid = process_start(&process);
	if (pid > 0)
		live->others[live->n_others++] = pid;
	return CHECK("HAProxy starts", pid > 0) &&
	       CHECK("and answers", live_wait(proxy_answers, balanced)) &&
	       CHECK("and gives both the same weight",
		     wait_weight(balanced, weighs_as_much, "one", 100) &&
			     wait_weight(balanced, weighs_as_much, "other", 100));
}

static bool begin(struct balanced *balanced)
{
	*balanced = (struct balanced){};
	if (!live_begin(&balanced->one, "level-one") ||
	    !live_begin(&balanced->other, "level-other"))
		return false;
	link_other(balanced);
	return start_server(&balanced->one, SERVER_LINK, SERVER_IPV4) &&
	       start_server(&balanced->other, "srv1", OTHER_IPV4) && start_proxy(balanced);
}

static void end(struct balanced *balanced)
{
	live_end(&balanced->other);
	live_end(&balanced->one);
}

/* How many of the requests to HAProxy the first server got. */
static long long ask(const struct balanced *balanced)
{
	long long before = proxy_served(balanced, "one");

	CHECK_EQ("every request is served", request(balanced, REQUESTS), REQUESTS);
	return proxy_served(balanced, "one") - before;
}

static struct output curl_level(const struct balanced *balanced, const char *options)
{
	return process_shell(balanced->one.netns[LIVE_SERVER],
			     "curl -s %s http://127.0.0.1:9466/service-level/web", options);
}

static void check_loaded(const struct balanced *balanced)
{
	autooutput struct output answer = curl_level(balanced, "-i");
	long long level =
		live_metric_now(&balanced->one, "stile_service_level", "listener=\"web\"");
	json_t *status = live_json(&balanced->one, "status");
	const json_t *web = json_array_get(json_object_get(status, "listeners"), 0);

	CHECK("a health check is told so", answer.text && strstr(answer.text, "HTTP/1.1 503 "));
	CHECK("and when to ask again", answer.text && strstr(answer.text, "\r\nRetry-After: "));
	CHECK("the metric is low", level >= 1 && level < 26);
	CHECK("and so is the status",
	      json_integer_value(json_object_get(web, "service_level")) < 26 &&
		      json_is_integer(json_object_get(web, "service_level")));
	json_decref(status);
}

static void check_idle(const struct balanced *balanced)
{
	autooutput struct output answer = curl_level(balanced, "-w '%{http_code}'");

	CHECK_STR_EQ("a health check is told that all is well", answer.text, "255\n200");
	CHECK_EQ("as the metric says",
		 live_metric_now(&balanced->one, "stile_service_level", "listener=\"web\""), 255);
}

static void test_balance(void)
{
	const struct live_storm storm = {
		.from = CLIENT_TWO,
		.connections = STORM_CONNECTIONS,
		.concurrency = 4,
	};
	struct balanced balanced __attribute__((cleanup(end)));
	struct engine_result result = {};
	struct live_background background;
	long long served;

	if (!begin(&balanced))
		return;
	check_idle(&balanced);
	served = ask(&balanced);
	CHECK("both idle: half of the requests each",
	      served >= REQUESTS * 2 / 5 && served <= REQUESTS * 3 / 5);
	if (!live_storm_begin(&balanced.one, &storm, &background))
		return;
	CHECK("a storm on the first: HAProxy takes weight from it",
	      wait_weight(&balanced, weighs_as_little, "one", 10));
	check_loaded(&balanced);
	CHECK("the other one gets nearly all", ask(&balanced) <= REQUESTS / 4);
	(void)live_storm_end(&background, &result);
	CHECK("the storm is over: its weight comes back",
	      wait_weight(&balanced, weighs_as_much, "one", 10));
	CHECK("half of it", wait_weight(&balanced, weighs_as_much, "one", 50));
	CHECK("all of it", wait_weight(&balanced, weighs_as_much, "one", 100));
	check_idle(&balanced);
	served = ask(&balanced);
	CHECK("and its requests", served >= REQUESTS * 2 / 5 && served <= REQUESTS * 3 / 5);
}

static const char one_config[] =
	"interfaces: {srv0: {mode: generic}}\n"
	"rate_limiters: {all: {keys: [], limit: 1000, window: 1s}}\n"
	"listeners:\n"
	"  web: {ports: [80], rate_limiter_name: all, agent_check: {listen: \"127.0.0.1:9467\"}}\n"
	"  slow: {ports: [81], rate_limiter_name: all}\n"
	"metrics: {listen: \"127.0.0.1:9466\"}\n";

/* A level that is waited for. */
struct wanted {
	const struct live *live;
	const char *listener;
	long long level;
};

static bool is_level(void *context)
{
	const struct wanted *wanted = context;
	char label[64];

	snprintf(label, sizeof(label), "listener=\"%s\"", wanted->listener);
	return live_metric_now(wanted->live, "stile_service_level", label) == wanted->level;
}

static void check_level(const char *what, const struct live *live, const char *listener,
			long long level)
{
	struct wanted wanted = { live, listener, level };

	CHECK(what, live_wait(is_level, &wanted));
}

static void check_agent(const struct live *live, const char *want)
{
	autooutput struct output output =
		process_shell(live->netns[LIVE_SERVER], "socat -u TCP:127.0.0.1:9467 -");

	CHECK_STR_EQ("the agent-check says", output.text, want);
}

static void test_restart(void)
{
	autolive struct live live;

	if (!live_begin(&live, "level-web") || !live_start_web(&live) ||
	    !live_start(&live, one_config))
		return;
	check_level("a service that listens", &live, "web", 255);
	check_agent(&live, "up 100%\n");
	(void)process_end(live.others[--live.n_others], SIGKILL);
	check_level("a service that is gone", &live, "web", 0);
	check_agent(&live, "down#nobody listens\n");
	live_shell(&live, LIVE_SERVER,
		   "test $(curl -s -o %s/answer -w '%%{http_code}' "
		   "http://127.0.0.1:9466/service-level/web?json) = 503 && "
		   "grep -q '\"service_level\": 0' %s/answer",
		   live.directory, live.directory);
	check_level("a service that was never there", &live, "slow", 255);
	if (live_start_web(&live))
		check_level("a service that is back, for a while", &live, "web", 255);
}

/* A socket of the test's own that nobody accepts from, and those that wait. */
struct slow {
	int listener, clients[6];
};

static bool slow_open(const struct live *live, struct slow *slow)
{
	struct endpoint address;
	bool good;

	(void)endpoint_parse("127.0.0.1:81", &address);
	live_enter(live, LIVE_SERVER);
	slow->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	good = bind(slow->listener, (struct sockaddr *)&address.address, address.length) == 0 &&
	       listen(slow->listener, 7) == 0;
	for (size_t i = 0; i < ARRAY_SIZE(slow->clients); i++) {
		slow->clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		good = good && connect(slow->clients[i], (struct sockaddr *)&address.address,
				       address.length) == 0;
	}
	live_leave(live);
	return CHECK("six wait to be accepted", good);
}

static void slow_close(const struct slow *slow)
{
	for (size_t i = 0; i < ARRAY_SIZE(slow->clients); i++)
		close(slow->clients[i]);
	close(slow->listener);
}

static void test_queue(void)
{
	autolive struct live live;
	struct slow slow;

	if (!live_begin(&live, "level-queue") || !live_start(&live, one_config))
		return;
	if (slow_open(&live, &slow))
		check_level("two places of eight are free", &live, "slow", 63);
	slow_close(&slow);
	check_level("it closed", &live, "slow", 0);
}

static const char held_config[] =
	"interfaces: {srv0: {mode: generic}}\n"
	"rate_limiters: {places: {keys: [], algorithm: concurrency, limit: 4}}\n"
	"listeners: {web: {ports: [80], rate_limiter_name: places}}\n"
	"metrics: {listen: \"127.0.0.1:9466\"}\n";

static void test_held(void)
{
	struct endpoint target;
	autolive struct live live;
	int fds[2];

	(void)endpoint_parse(SERVER_IPV4 ":80", &target);
	if (!live_begin(&live, "level-held") || !live_start_web(&live) ||
	    !live_start(&live, held_config))
		return;
	live_enter(&live, LIVE_CLIENT);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CHECK_EQ("there is a place",
			 connect(fds[i], (struct sockaddr *)&target.address, target.length), 0);
	}
	live_leave(&live);
	check_level("two places of four are free", &live, "web", 127);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	check_level("and all of them again", &live, "web", 255);
}

CHECK_SUITE(level, { "a service that goes and comes", test_restart },
	    { "an accept queue that fills", test_queue }, { "places that are held", test_held },
	    { "HAProxy moves traffic by agent-check", test_balance });
