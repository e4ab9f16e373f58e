/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Real services, unmodified, that run and have connections open when Stile starts: an event loop, a
 * single thread that answers by itself, and one that forks for each connection.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "check.h"
#include "live.h"
#include "sockets.h"
#include "util.h"

struct program {
	const char *name;
	struct service service;
	const char *prepare; /* a line of shell, in the test's folder; NULL: nothing */
	const char *run;     /* the same; it stays in the foreground */
};

static const struct program programs[] = {
	{ "nginx",
	  { "nginx", 80 },
	  "printf 'daemon off; master_process off; pid p; error_log e; events { } http { "
	  "access_log off; server { listen [::]:80 ipv6only=off; } }' > nginx.conf",
	  "exec nginx -p $PWD -c $PWD/nginx.conf" },
	{ "redis",
	  { "redis", 6379 },
	  NULL,
	  "exec redis-server --port 6379 --bind 0.0.0.0 :: --protected-mode no --save '' --dir ." },
	{ "postgresql",
	  { "postgresql", 5432 },
	  "mkdir data && chown postgres data && runuser -u postgres -- "
	  "/usr/lib/postgresql/*/bin/initdb -N -D data > initdb.log",
	  "exec setpriv --reuid postgres --regid postgres --clear-groups "
	  "$(echo /usr/lib/postgresql/*/bin/postgres) -D data "
	  "-c 'listen_addresses=*' -c unix_socket_directories= -c fsync=off" },
};

static const char config[] = "interfaces: {srv0: {}}\n"
			     "rate_limiters: {a: {limit: 100000, window: 1m}}\n"
			     "listeners:\n"
			     "  nginx: {ports: [80], rate_limiter_name: a}\n"
			     "  redis: {ports: [6379], rate_limiter_name: a}\n"
			     "  postgresql: {ports: [5432], rate_limiter_name: a}\n"
			     "metrics: {listen: none}\n";

static const char config_places[] = "interfaces: {srv0: {}}\n"
				    "rate_limiters: {a: {algorithm: concurrency, limit: 20}}\n"
				    "listeners:\n"
				    "  nginx: {ports: [80], rate_limiter_name: a}\n"
				    "  redis: {ports: [6379], rate_limiter_name: a}\n"
				    "  postgresql: {ports: [5432], rate_limiter_name: a}\n"
				    "metrics: {listen: none}\n";

static char cgroup[PATH_MAX + 16]; /* of the service */

static bool make_cgroup(void)
{
	char root[PATH_MAX];

	if (!CHECK_EQ("cgroup2 is mounted", cgroup_root(root), 0))
		return false;
	snprintf(cgroup, sizeof(cgroup), "%s/service", root);
	return CHECK("a cgroup can be made", mkdir(cgroup, 0755) == 0);
}

struct listening {
	const struct live *live;
	uint16_t port;
};

static bool is_listening(void *context)
{
	const struct listening *wanted = context;
	autooutput struct output output = process_shell(wanted->live->netns[LIVE_SERVER],
							"ss -HOltn 'sport = :%u'", wanted->port);

	return output.code == 0 && output.text && *output.text;
}

static bool start(struct live *live, const struct program *program)
{
	struct listening listening = { live, program->service.port };
	char log[128], line[PATH_MAX + 1024];
	char *argv[] = { "sh", "-c", line, NULL };
	const struct process process = {
		.netns = live->netns[LIVE_SERVER],
		.log = log,
		.argv = argv,
	};
	pid_t pid;

	snprintf(log, sizeof(log), "%s/service.log", live->directory);
	snprintf(line, sizeof(line), "echo $$ > %s/cgroup.procs; cd %s; %s", cgroup,
		 live->directory, program->run);
	pid = process_start(&process);
	if (!CHECK("the service is started", pid > 0))
		return false;
	live->others[live->n_others++] = pid;
	return CHECK("the service listens", live_wait(is_listening, &listening));
}

static bool is_empty(void *context)
{
	autooutput struct output output = process_shell(-1, "cat %s/cgroup.procs", cgroup);

	(void)context; /* there is one cgroup */
	return output.text && !*output.text;
}

/* All of its processes at once. */
static void kill_service(struct live *live)
{
	live_shell(live, LIVE_SERVER, "echo 1 > %s/cgroup.kill", cgroup);
	(void)process_end(live->others[--live->n_others], SIGKILL);
	CHECK("all of the service is gone", live_wait(is_empty, NULL));
}

struct script {
	struct live *live;
	const struct program *program;
	char ipv4[64], ipv6[64];
	struct sockets sockets;
};

static void script_release(struct script *script)
{
	sockets_release(&script->sockets);
}

static void check(struct script *script, const char *what, long long want)
{
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", script->program->name, what);
	live_check_open(script->live, &script->program->service, text, want);
}

static void open_more(struct script *script, unsigned int over_ipv4, unsigned int over_ipv6)
{
	sockets_open(script->live, &script->sockets, CLIENT_ONE, script->ipv4, over_ipv4);
	sockets_open(script->live, &script->sockets, CLIENT_SIX_ONE, script->ipv6, over_ipv6);
}

static void check_life(struct script *script)
{
	check(script, "open before Stile starts", 9);
	open_more(script, 5, 3);
	check(script, "more are opened", 17);
	sockets_close(&script->sockets, 4);
	check(script, "older ones are closed", 13);
	sockets_reset(&script->sockets, 6);
	check(script, "and reset", 7);
	kill_service(script->live);
	check(script, "the service is killed", 0);
	sockets_close(&script->sockets, 7);
	if (!start(script->live, script->program))
		return;
	open_more(script, 2, 4);
	check(script, "it is started again", 6);
}

static void check_restart(struct script *script)
{
	(void)live_stop(script->live, SIGKILL);
	sockets_close(&script->sockets, 2);
	open_more(script, 3, 0);
	if (!live_start_again(script->live))
		return;
	check(script, "the daemon is killed and started", 7);
	CHECK_EQ("nothing had to be put right",
		 live_connections(script->live, script->program->service.listener,
				  "recounted_total"),
		 0);
	sockets_close(&script->sockets, 7);
	check(script, "all are closed", 0);
}

/* A limit of 20 places, of which the connections that are older than Stile have five. */
static void check_places(struct script *script)
{
	const struct burst burst = {
		.from = CLIENT_ONE, .to = script->ipv4, .n = 500, .quiet_ms = 300
	};

	open_more(script, 5, 0);
	if (!live_start(script->live, config_places))
		return;
	check(script, "open before Stile starts", 5);
	CHECK_EQ("of 500 at once, 15", sockets_burst(script->live, &script->sockets, &burst), 15);
	check(script, "20 are open", 20);
	sockets_close(&script->sockets, 20);
	check(script, "all are closed", 0);
	CHECK_EQ("of 500 at once, 20", sockets_burst(script->live, &script->sockets, &burst), 20);
	check(script, "20 are open", 20);
	kill_service(script->live);
	check(script, "the service is killed", 0);
	if (start(script->live, script->program))
		CHECK_EQ("of 500 at once, 20",
			 sockets_burst(script->live, &script->sockets, &burst), 20);
}

static void check_counts(struct script *script)
{
	open_more(script, 7, 2);
	if (!live_start(script->live, config))
		return;
	check_life(script);
	check_restart(script);
}

static void play(const struct program *program, void (*check_all)(struct script *script))
{
	struct script script __attribute__((cleanup(script_release))) = { .program = program };
	autolive struct live live;

	if (!live_begin(&live, program->name))
		return;
	script.live = &live;
	snprintf(script.ipv4, sizeof(script.ipv4), SERVER_IPV4 ":%u", program->service.port);
	snprintf(script.ipv6, sizeof(script.ipv6), "[" SERVER_IPV6 "]:%u", program->service.port);
	if (program->prepare)
		live_shell(&live, LIVE_SERVER, "cd %s; %s", live.directory, program->prepare);
	if (!start(&live, program))
		return;
	check_all(&script);
	kill_service(&live);
}

static void run(const struct program *program, void (*check_all)(struct script *script))
{
	if (!make_cgroup())
		return;
	play(program, check_all);
	CHECK("nothing of the service is left", live_wait(is_empty, NULL) && rmdir(cgroup) == 0);
}

static void test_nginx(void)
{
	run(&programs[0], check_counts);
	run(&programs[0], check_places);
}

static void test_redis(void)
{
	run(&programs[1], check_counts);
	run(&programs[1], check_places);
}

static void test_postgresql(void)
{
	run(&programs[2], check_counts);
	run(&programs[2], check_places);
}

CHECK_SUITE(services, { "nginx", test_nginx }, { "redis", test_redis },
	    { "postgresql", test_postgresql });
