/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every line runs in the test's directory, in a shell of its own. */
#include "service.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

#define WORDS_MAX 4096
#define ADDRESSES                                                                                  \
	"SERVER=" SERVER_IPV4 " SERVER6=" SERVER_IPV6 " CLIENT=" CLIENT_ONE                        \
	" CLIENT6=" CLIENT_SIX_ONE " CLIENT_TWO=" CLIENT_TWO

struct question {
	const struct live *live;
	enum live_side side;
	const char *line, *words; /* words NULL: that it succeeds */
};

static struct output ask(const struct question *question)
{
	return process_shell(question->live->netns[question->side], "cd %s; " ADDRESSES "; %s",
			     question->live->directory, question->line);
}

static bool is_answered(void *context)
{
	const struct question *question = context;
	autooutput struct output output = ask(question);

	if (!question->words)
		return output.code == 0;
	return output.text && strstr(output.text, question->words);
}

bool service_start(struct live *live, const char *line, const char *ready)
{
	struct question question = { live, LIVE_SERVER, ready, NULL };
	char shell[WORDS_MAX], log[128];
	char *argv[] = { "sh", "-c", shell, NULL };
	const struct process process = {
		.netns = live->netns[LIVE_SERVER],
		.log = log,
		.argv = argv,
	};
	pid_t pid;

	snprintf(log, sizeof(log), "%s/service-%u.log", live->directory, live->n_others);
	snprintf(shell, sizeof(shell), "cd %s; %s", live->directory, line);
	pid = process_start(&process);
	if (!CHECK("the service starts", pid > 0))
		return false;
	live->others[live->n_others++] = pid;
	return CHECK(ready, live_wait(is_answered, &question));
}

struct output service_ask(const struct live *live, const char *line)
{
	struct question question = { live, LIVE_CLIENT, line, NULL };
	struct output output = ask(&question);

	printf("$ %s\n%s", line, output.text ? output.text : "");
	return output;
}

void service_says(const struct live *live, const char *line, const char *words)
{
	autooutput struct output output = service_ask(live, line);

	CHECK(words, output.text && strstr(output.text, words));
}

void service_says_soon(const struct live *live, const char *line, const char *words)
{
	struct question question = { live, LIVE_CLIENT, line, words };
	autooutput struct output output = {};

	CHECK(words, live_wait(is_answered, &question));
	output = service_ask(live, line);
	CHECK(words, output.text && strstr(output.text, words));
}
