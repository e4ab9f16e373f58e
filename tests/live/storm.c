/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections of the client's side, in the test or in a process beside it. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define STORM_SECONDS 60

static volatile sig_atomic_t stop;

static bool make_plan(const struct live_storm *storm, struct engine_plan *plan)
{
	*plan = (struct engine_plan){
		.connections = storm->connections,
		.concurrency = storm->concurrency ? storm->concurrency : 1,
		.seconds = STORM_SECONDS,
		.timeout_ms = storm->timeout_ms ? storm->timeout_ms : 3000,
		.stop = &stop,
		.path = storm->path,
	};
	return endpoint_parse(storm->to ? storm->to : SERVER_IPV4 ":80", &plan->target) == 0 &&
	       sources_parse(storm->from, &plan->sources) == 0;
}

bool live_connect(const struct live *live, const struct live_storm *storm,
		  struct engine_result *ret_result)
{
	struct engine_plan plan;
	int r;

	if (!CHECK("the addresses of the storm can be read", make_plan(storm, &plan)))
		return false;
	live_enter(live, storm->side);
	r = engine_run(&plan, ret_result);
	live_leave(live);
	return CHECK_EQ("the client can connect", r, 0);
}

bool live_served(const struct live *live, const char *from)
{
	const struct live_storm storm = { .from = from, .connections = 1 };
	autoresult struct engine_result result = {};

	return live_connect(live, &storm, &result) && result.outcomes[ENGINE_SUCCEEDED] == 1;
}

unsigned int live_count_served(const struct live *live, const char *from, unsigned int n)
{
	const struct live_storm storm = { .from = from, .connections = n };
	autoresult struct engine_result result = {};

	return live_connect(live, &storm, &result) ? (unsigned int)result.outcomes[ENGINE_SUCCEEDED]
						   : 0;
}

static void on_stop(int number)
{
	(void)number;
	stop = 1;
}

__attribute__((noreturn)) static void storm_child(int netns, const struct engine_plan *plan,
						  int out)
{
	struct engine_result result = {};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGTERM, on_stop);
	(void)setpriority(PRIO_PROCESS, 0, BACKGROUND_NICE); /* only the test takes longer */
	if (setns(netns, CLONE_NEWNET) < 0 || engine_run(plan, &result) < 0)
		_exit(1);
	result.success = result.refusal = (struct sample){};
	_exit(write(out, &result, sizeof(result)) != sizeof(result));
}

bool live_storm_begin(const struct live *live, const struct live_storm *storm,
		      struct live_background *ret_background)
{
	struct engine_plan plan;
	int ends[2];
	pid_t pid;

	if (!CHECK("the addresses of the storm can be read", make_plan(storm, &plan)) ||
	    !CHECK("the storm gets a pipe", pipe(ends) == 0))
		return false;
	pid = fork();
	if (pid == 0)
		storm_child(live->netns[storm->side], &plan, ends[1]);
	close(ends[1]);
	*ret_background = (struct live_background){ .pid = pid, .result = ends[0] };
	return CHECK("the storm begins", pid > 0);
}

static bool finish(struct live_background *background, int status, struct engine_result *ret_result)
{
	ssize_t n = read(background->result, ret_result, sizeof(*ret_result));

	close(background->result);
	background->pid = 0;
	return CHECK("the storm says what became of it",
		     WIFEXITED(status) && WEXITSTATUS(status) == 0 && n == sizeof(*ret_result));
}

bool live_storm_end(struct live_background *background, struct engine_result *ret_result)
{
	return finish(background, process_end(background->pid, SIGTERM), ret_result);
}

bool live_storm_wait(struct live_background *background, struct engine_result *ret_result)
{
	int status = 0;

	if (!process_wait(background->pid, LIVE_BOUND_MS, &status))
		status = process_end(background->pid, SIGKILL);
	return finish(background, status, ret_result);
}
