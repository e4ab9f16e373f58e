/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The backlog of a running nginx, which is neither changed nor told, made longer from outside by a
 * daemon that is no longer root.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define USER "nobody"

/* The same as in test_user.c, and the bit of CAP_SYS_PTRACE. */
#define CAPABILITIES "000000c000081404"

#define CONFIG(backlog)                                                                            \
	"interfaces: {srv0: {}}\n"                                                                 \
	"listeners: {web: {ports: [80, 81], " backlog "}}\n"                                       \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"                                                  \
	"user: " USER "\n"

/* nginx asks for its backlog anew where a reload finds another one. */
static bool write_nginx(const struct live *live, unsigned int backlog)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log error.log warn;\n"
		 "events { worker_connections 64; }\n"
		 "http {\n"
		 "	access_log off;\n"
		 "	client_body_temp_path body; proxy_temp_path proxy;\n"
		 "	fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"
		 "	server { listen [::]:80 ipv6only=off backlog=%u;\n"
		 "		location / { return 200 \"the service\\n\"; } }\n"
		 "}\n",
		 backlog);
	return live_write(live, "nginx.conf", text);
}

static bool start_nginx(struct live *live)
{
	char config[128], log[128];
	char *argv[] = { "nginx", "-p", live->directory, "-c", config, NULL };
	const struct process process = {
		.netns = live->netns[LIVE_SERVER],
		.log = log,
		.argv = argv,
	};
	pid_t pid;

	snprintf(config, sizeof(config), "%s/nginx.conf", live->directory);
	snprintf(log, sizeof(log), "%s/server.log", live->directory);
	pid = process_start(&process);
	if (pid > 0)
		live->others[live->n_others++] = pid;
	return CHECK("nginx starts", pid > 0);
}

static void end_nginx(struct live *live)
{
	(void)process_end(live->others[--live->n_others], SIGTERM);
}

static void reload_nginx(const struct live *live, unsigned int backlog)
{
	if (write_nginx(live, backlog))
		(void)kill(live->others[live->n_others - 1], SIGHUP);
}

/* Send-Q of the socket, as ss has it; 0: there is none. */
struct socket_wait {
	const struct live *live;
	unsigned int port, backlog;
};

static unsigned int backlog_at(const struct live *live, unsigned int port)
{
	autooutput struct output output =
		process_shell(live->netns[LIVE_SERVER], "ss -Hltn 'sport = :%u'", port);
	unsigned int backlog = 0;

	if (output.text)
		(void)sscanf(output.text, "%*s %*u %u", &backlog); /* 0: there is none */
	return backlog;
}

static bool has_backlog(void *context)
{
	const struct socket_wait *wait = context;

	return backlog_at(wait->live, wait->port) == wait->backlog;
}

static void check_backlog(const struct live *live, const char *what, unsigned int backlog)
{
	struct socket_wait wait = { live, 80, backlog };

	if (!CHECK(what, live_wait(has_backlog, &wait)))
		printf("it is %u, and should be %u\n", backlog_at(live, 80), backlog);
}

static bool log_has(const struct live *live, const char *text)
{
	autooutput struct output output =
		process_shell(-1, "grep -qF \"%s\" %s/stile.log", text, live->directory);

	return output.code == 0;
}

struct log_wait {
	const struct live *live;
	const char *text;
};

static bool is_logged(void *context)
{
	const struct log_wait *wait = context;

	return log_has(wait->live, wait->text);
}

static void check_logged(const struct live *live, const char *text)
{
	struct log_wait wait = { live, text };

	CHECK(text, live_wait(is_logged, &wait));
}

static void reload(const struct live *live, const char *config)
{
	autooutput struct output output = { 0 };

	if (!live_write(live, "stile.yaml", config))
		return;
	output = live_stile(live, "reload");
	if (!CHECK_EQ("the configuration is loaded", output.code, 0))
		printf("%s", output.text ? output.text : "");
}

static void check_capabilities(const struct live *live)
{
	autooutput struct output output =
		process_shell(-1, "grep -c -e 'Cap[EPB][a-z]*:.%s' -e 'Seccomp:.2' /proc/%d/status",
			      CAPABILITIES, (int)live->daemon);

	CHECK_STR_EQ("with one more capability, behind the filter", output.text, "4\n");
}

static void check_reloads(struct live *live)
{
	reload_nginx(live, 32);
	check_logged(live, "port 80: from 32 to 512");
	check_backlog(live, "raised again after nginx asked for another", 512);
	reload_nginx(live, 600);
	check_backlog(live, "a longer one", 600);
	/* A reload looks before it answers. */
	reload(live, CONFIG("listen_backlog: 513"));
	CHECK_EQ("is left alone", backlog_at(live, 80), 600);
	reload(live, CONFIG("listen_backlog: {exactly: 64}"));
	check_backlog(live, "but made shorter where that is asked for", 64);
	CHECK_EQ("the metric says so",
		 live_metric_now(live, "stile_accept_queue_limit", "listener=\"web\""), 64);
}

static void check_cap(struct live *live)
{
	live_shell(live, LIVE_SERVER, "sysctl -qw net.core.somaxconn=128");
	reload(live, CONFIG("listen_backlog: 512"));
	check_backlog(live, "no longer than the kernel lets it be", 128);
	check_logged(live, "listen_backlog 512 of 'web': net.core.somaxconn caps it at 128");
	live_shell(live, LIVE_SERVER, "sysctl -qw net.core.somaxconn=4096");
	check_backlog(live, "which is looked at again", 512);
}

static void test_nginx(void)
{
	autolive struct live live;

	if (!live_begin(&live, "backlog") || !write_nginx(&live, 16) || !start_nginx(&live))
		return;
	check_backlog(&live, "nginx runs with its own backlog", 16);
	if (!live_start(&live, CONFIG("listen_backlog: 512")))
		return;
	check_backlog(&live, "which is raised", 512);
	check_logged(&live, "port 80: from 16 to 512");
	check_capabilities(&live);
	CHECK("nginx goes on", live_served(&live, CLIENT_ONE));
	check_reloads(&live);
	check_cap(&live);
	end_nginx(&live);
	if (!write_nginx(&live, 16) || !start_nginx(&live))
		return;
	check_backlog(&live, "a service that starts again", 512);
	CHECK("nothing was refused the daemon", !log_has(&live, "was refused"));
	CHECK("nor tried in vain", !log_has(&live, "stays"));
	live_shell(&live, LIVE_SERVER, "chown root:root /run/stile /sys/fs/bpf/stile");
}

/* What takes a capability that the daemon gave up is said, and nothing is tried. */
static void test_later(void)
{
	autolive struct live live;
	autooutput struct output output = { 0 };

	if (!live_begin(&live, "backlog-later") || !write_nginx(&live, 16) || !start_nginx(&live) ||
	    !live_start(&live, CONFIG("")))
		return;
	if (!live_write(&live, "stile.yaml", CONFIG("listen_backlog: 512")))
		return;
	output = live_stile(&live, "reload");
	CHECK("a reload says what it does not do",
	      output.text && strstr(output.text, "until the next start"));
	CHECK_EQ("and is done", output.code, 0);
	CHECK_EQ("the backlog stays", backlog_at(&live, 80), 16);
	CHECK_EQ("the daemon goes on", live_stop(&live, SIGTERM), 0);
	if (!live_start_again(&live))
		return;
	check_backlog(&live, "the next start raises it", 512);
	live_shell(&live, LIVE_SERVER, "chown root:root /run/stile /sys/fs/bpf/stile");
}

CHECK_SUITE(backlog, { "of a running nginx", test_nginx }, { "asked for by a reload", test_later });
