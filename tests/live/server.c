/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The services that are protected: nginx and a UDP echo by socat, unmodified and unaware. */
#include <stdio.h>

#include "check.h"
#include "live.h"
#include "traffic/ping.h"

static const char web_config[] = "daemon off;\n"
				 "master_process off;\n"
				 "pid nginx.pid;\n"
				 "error_log error.log warn;\n"
				 "events { worker_connections 1024; }\n"
				 "http {\n"
				 "	access_log off;\n"
				 "	client_body_temp_path body;\n"
				 "	proxy_temp_path proxy;\n"
				 "	fastcgi_temp_path fastcgi;\n"
				 "	uwsgi_temp_path uwsgi;\n"
				 "	scgi_temp_path scgi;\n"
				 "	server {\n"
				 "		listen [::]:80 ipv6only=off;\n"
				 "		location / { return 200 \"the service\\n\"; }\n"
				 "	}\n"
				 "}\n";

static bool start(struct live *live, char *const *argv)
{
	char log[128];
	const struct process process = {
		.netns = live->netns[LIVE_SERVER],
		.log = log,
		.argv = argv,
	};
	pid_t pid;

	snprintf(log, sizeof(log), "%s/server.log", live->directory);
	pid = process_start(&process);
	if (pid > 0)
		live->others[live->n_others++] = pid;
	return CHECK("the server starts", pid > 0);
}

/* Asked on the server's own loopback, past Stile. */
static bool web_answers(void *context)
{
	const struct live *live = context;
	struct engine_plan plan = {
		.connections = 1,
		.concurrency = 1,
		.seconds = 1,
		.timeout_ms = 1000,
		.path = "/",
	};
	autoresult struct engine_result result = {};
	int r;

	(void)endpoint_parse("127.0.0.1:80", &plan.target);
	live_enter(live, LIVE_SERVER);
	r = engine_run(&plan, &result);
	live_leave(live);
	return r == 0 && result.outcomes[ENGINE_SUCCEEDED] == 1;
}

bool live_start_web(struct live *live)
{
	char config[128];
	char *argv[] = { "nginx", "-p", live->directory, "-c", config, NULL };

	snprintf(config, sizeof(config), "%s/nginx.conf", live->directory);
	return live_write(live, "nginx.conf", web_config) && start(live, argv) &&
	       CHECK("nginx answers", live_wait(web_answers, live));
}

static bool echo_answers(void *context)
{
	const struct live *live = context;
	struct ping_plan plan = { .count = 1, .timeout_ms = 200 };
	struct ping_result result = {};
	int r;

	(void)endpoint_parse("127.0.0.1:7", &plan.target);
	live_enter(live, LIVE_SERVER);
	r = ping_run(&plan, &result);
	live_leave(live);
	ping_release(&result);
	return r == 0 && result.answered == 1;
}

bool live_start_echo(struct live *live)
{
	char *argv[] = { "socat", "UDP6-RECVFROM:7,ipv6only=0,fork", "PIPE", NULL };

	return start(live, argv) && CHECK("the echo answers", live_wait(echo_answers, live));
}
