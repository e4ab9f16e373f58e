/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small world for one test: a server's and a client's network namespace with a veth pair between
 * them, real servers, and a daemon with an instance of its own. All of it goes away with
 * live_end(), and what an earlier run left behind goes away with live_begin().
 */
#ifndef STILE_LIVE_H
#define STILE_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>

#include "process.h"
#include "traffic/engine.h"

#define LIVE_PREFIX "stile-live-" /* of every namespace; the instance is live-NAME */
#define LIVE_BOUND_MS 15000	  /* for whatever a test waits for */

#define SERVER_LINK "srv0"
#define CLIENT_LINK "cli0"
#define SERVER_IPV4 "10.77.1.1"
#define SERVER_IPV6 "fd77:1::1"
#define CLIENT_ONE "10.77.1.9"
#define CLIENT_TWO "10.77.1.10"
#define CLIENT_THREE "10.77.1.11"
#define CLIENT_RANGE "10.77.1.100-10.77.1.115" /* sixteen more */
#define CLIENT_SIX_ONE "fd77:1::9"	       /* these two are of one /64 */
#define CLIENT_SIX_TWO "fd77:1::10"
#define CLIENT_SIX_OTHER "fd77:2::9"
#define PORT_WEB 80
#define PORT_ECHO 7
#define PORT_METRICS 9466

enum live_side { LIVE_CLIENT, LIVE_SERVER };

struct live {
	const char *name;
	char instance[32];
	char directory[64]; /* for files of the test */
	int home, netns[2]; /* fds of network namespaces */
	int notify;	    /* the daemon's READY arrives here */
	int peer;	    /* link of the XDP program at the client's end, or -1 */
	bool no_file;	    /* the daemon is started without a configuration */
	pid_t daemon;
	pid_t others[8];
	unsigned int n_others;
};

/* False where it could not be made; that has been reported as a failed check then. */
bool live_begin(struct live *live, const char *name);
void live_end(struct live *live);
#define autolive __attribute__((cleanup(live_end)))

/* Removes namespaces, pins and files of live tests that are still there. The number of them. */
int live_sweep(void);

/* Sockets made between these two belong to that side. */
void live_enter(const struct live *live, enum live_side side);
void live_leave(const struct live *live);

/* Runs a line of shell on that side; its exit code is checked to be 0. */
__attribute__((format(printf, 3, 4))) void live_shell(const struct live *live, enum live_side side,
						      const char *format, ...);

/* Asks @done until it says yes, within LIVE_BOUND_MS. */
bool live_wait(bool (*done)(void *context), void *context);

/* link.c: native XDP at the client's end; a VLAN tag on everything that crosses the link. */
bool live_peer_native(struct live *live);
bool live_tag(const struct live *live, uint16_t vlan);

/* server.c: real servers on the server's side, ready when the call returns. */
bool live_start_web(struct live *live);
bool live_start_echo(struct live *live);

/* daemon.c */
bool live_write(const struct live *live, const char *file, const char *text);
bool live_start(struct live *live, const char *config);	   /* text; ready when the call returns */
bool live_start_again(struct live *live);		   /* with the file as it is now */
bool live_launch(struct live *live);			   /* the same, but without waiting */
int live_stop(struct live *live, int signal);		   /* its wait status */
bool live_told(const struct live *live, const char *text); /* waits until the manager is */
bool live_pinned(const struct live *live);		   /* is anything of the instance pinned? */

/* stile --instance INSTANCE arguments..., on the server's side. */
__attribute__((format(printf, 2, 3))) struct output live_stile(const struct live *live,
							       const char *format, ...);

/* ask.c: what the command prints with --json, NULL where it failed; released by json_decref(). */
__attribute__((format(printf, 2, 3))) json_t *live_json(const struct live *live, const char *format,
							...);

/* Checks the reason that explain gives for a connection of @from to web. */
void live_check_explained(const struct live *live, const char *from, const char *reason);

/* The same of the wait: no connection is admitted before it, and the first one after it is. */
void live_check_wait(const struct live *live, const char *from, const char *to);

/* metrics.c: the page as it is now, NULL where there is none; freed by the caller. */
char *live_page(const struct live *live, const char *path);

/*
 * The sum of the samples of @name that have every label in @labels ('limiter="a",result="b"', or
 * ""); -1 where there is none.
 */
long long live_metric(const char *page, const char *name, const char *labels);
long long live_metric_now(const struct live *live, const char *name, const char *labels);

/* A counter of /proc/net/snmp or netstat of that side, such as "TcpRetransSegs"; -1: none. */
long long live_counter(const struct live *live, enum live_side side, const char *name);

/* Waits until @more connections of the client's side have been refused; false past the bound. */
bool live_wait_refused(const struct live *live, long long more);

/* storm.c: connections from @from (see sources_parse) one after the other, without a pause. */
struct live_storm {
	enum live_side side; /* where it begins */
	const char *from;
	const char *to; /* ADDRESS:PORT; NULL: the web server's IPv4 address */
	unsigned int connections;
	unsigned int timeout_ms;  /* of one; 0: 3 s */
	unsigned int concurrency; /* 0: one at a time */
	const char *path;	  /* NULL: nothing is asked for */
};
bool live_connect(const struct live *live, const struct live_storm *storm,
		  struct engine_result *ret_result);
#define autoresult __attribute__((cleanup(engine_release)))

/* One connection: true where it was accepted. Many: how many were. */
bool live_served(const struct live *live, const char *from);
unsigned int live_count_served(const struct live *live, const char *from, unsigned int n);

/*
 * A storm in a process of its own; live_storm_end() stops it, live_storm_wait() lets it come to its
 * end. Both give its result, but no samples.
 */
#define BACKGROUND_NICE 5 /* the daemon is to have its turn beside it */
struct live_background {
	pid_t pid;
	int result;
};
bool live_storm_begin(const struct live *live, const struct live_storm *storm,
		      struct live_background *ret_background);
bool live_storm_end(struct live_background *background, struct engine_result *ret_result);
bool live_storm_wait(struct live_background *background, struct engine_result *ret_result);

#endif /* STILE_LIVE_H */
