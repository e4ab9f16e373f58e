/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stile replay: who of a capture would have been admitted, and who shed. */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd_replay.h"
#include "command.h"
#include "review.h"
#include "util.h"

#define TOP 20

static void show_progress(const struct replay *replay, uint64_t position)
{
	if (position == 0) {
		fprintf(stderr, "\r%llu packets", (unsigned long long)replay->packets);
		return;
	}
	fprintf(stderr, "\r%llu packets, %llu MB", (unsigned long long)replay->packets,
		(unsigned long long)position / 1000000);
}

/* The capture through the configuration that @diag is named after. */
static int replay_policy(const struct replay_request *request, struct policy *policy)
{
	char reason[CAPTURE_REASON_SIZE];
	struct replay replay = { .n_servers = request->n_servers };
	struct capture *capture;
	int code, result;

	if (capture_open(request->capture, &capture, reason) < 0)
		return command_failed("%s: %s", request->capture, reason);
	memcpy(replay.servers, request->servers, sizeof(replay.servers));
	if (isatty(STDERR_FILENO))
		replay.progress = show_progress;
	result = replay_run(&replay, policy, capture);
	if (replay.progress)
		fputs("\r\033[K", stderr);
	if (result < 0)
		code = command_failed("%s: %s", request->capture, replay.reason);
	else
		code = replay_print(request, &replay, policy);
	replay_release(&replay);
	capture_close(capture);
	return code;
}

static int replay_config(const struct replay_request *request)
{
	bool defaults = !request->config && access(STILE_CONFIG_PATH, F_OK) < 0 && errno == ENOENT;
	const char *path = request->config ? request->config : STILE_CONFIG_PATH;
	struct config config;
	struct policy policy;
	struct diag diag;
	int code = COMMAND_FAILED, error;

	diag_init(&diag, defaults ? "safe defaults" : path);
	error = defaults ? config_default(&config) : review_read(path, &diag, &config);
	if (error == 0) {
		error = review_compile(&config, &diag, &policy);
		config_release(&config);
	}
	if (error) {
		diag_print(&diag, stderr);
		(void)command_failed("%s: it cannot be used; 'stile check' says more", diag.file);
	} else {
		code = replay_policy(request, &policy);
		policy_release(&policy);
	}
	diag_release(&diag);
	return code;
}

static int parse_top(const struct command *command, const char *text,
		     struct replay_request *request)
{
	char *end;

	errno = 0;
	request->top = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-')
		return command_usage(command, "expected a number of clients, got '%s'", text);
	return COMMAND_DONE;
}

static int parse_server(const struct command *command, const char *text,
			struct replay_request *request)
{
	if (request->n_servers == REPLAY_SERVERS_MAX)
		return command_usage(command, "more than %d servers", REPLAY_SERVERS_MAX);
	if (prefix_parse(text, &request->servers[request->n_servers]) < 0)
		return command_usage(command, "server '%s': expected an address or a prefix", text);
	request->n_servers++;
	return COMMAND_DONE;
}

static int parse_option(const struct command *command, int option, char **argv,
			struct replay_request *request)
{
	switch (option) {
	case 'c':
		request->config = optarg;
		return COMMAND_DONE;
	case 's':
		return parse_server(command, optarg, request);
	case 't':
		return parse_top(command, optarg, request);
	case 'j':
		request->json = true;
		return COMMAND_DONE;
	default:
		return command_bad_option(command, option, argv);
	}
}

int cmd_replay(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "server", required_argument, NULL, 's' },
		{ "top", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{},
	};
	struct replay_request request = { .top = TOP };
	int option, code;

	(void)pins; /* an instance that runs is not looked at */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:", options, NULL)) != -1) {
		code = parse_option(command, option, argv, &request);
		if (code != COMMAND_DONE)
			return code;
	}
	if (optind == argc)
		return command_usage(command, "which capture?");
	if (optind + 1 < argc)
		return command_too_many(command, argv[optind + 1]);
	request.capture = argv[optind];
	if (request.config && strcmp(request.config, "-") == 0 && strcmp(request.capture, "-") == 0)
		return command_usage(command, "only one of two can be the standard input");
	return replay_config(&request);
}
