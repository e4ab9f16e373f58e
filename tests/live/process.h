/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that a test starts in a network namespace, and what they print. */
#ifndef STILE_LIVE_PROCESS_H
#define STILE_LIVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
	int netns;	    /* to run in; -1: the one of the test */
	const char *log;    /* file that gets what it prints */
	const char *notify; /* NULL, or its NOTIFY_SOCKET */
	char *const *argv;
};

/* Starts @process; it ends with the test at the latest. Its pid, or negative errno. */
pid_t process_start(const struct process *process);

/* Sends @signal and waits for the end, with a bound, then with SIGKILL. Its wait status. */
int process_end(pid_t pid, int signal);

/* Waits at most @timeout_ms. True where it ended; then *ret_status is its wait status. */
bool process_wait(pid_t pid, int timeout_ms, int *ret_status);

/* What a command printed, to standard output and error together; released with output_release(). */
struct output {
	int code; /* exit code; -1: it did not run, or did not end in time */
	char *text;
};

/* Runs argv in @netns (-1: here), with a bound of ten seconds. */
struct output process_run(int netns, char *const *argv);

/* The same for a line of shell. */
__attribute__((format(printf, 2, 3))) struct output process_shell(int netns, const char *format,
								  ...);

void output_release(struct output *output);
#define autooutput __attribute__((cleanup(output_release)))

#endif /* STILE_LIVE_PROCESS_H */
