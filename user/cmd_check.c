/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stile check: what is wrong with a configuration, or else what would be in force with it. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_check.h"
#include "command.h"
#include "review.h"

void check_each_judge(const struct check *check, const uint16_t judges[STILE_JUDGES_MAX],
		      void (*each)(const struct stile_limiter *limiter, void *context),
		      void *context)
{
	const struct stile_policy *kernel = &check->policy->kernel;

	for (size_t i = 0; i < STILE_JUDGES_MAX && judges[i]; i++)
		if (!kernel->attachments[judges[i]].new_sources)
			each(&kernel->limiters[kernel->attachments[judges[i]].limiter], context);
}

const struct stile_limiter *check_new_sources(const struct check *check,
					      const uint16_t judges[STILE_JUDGES_MAX])
{
	const struct stile_policy *kernel = &check->policy->kernel;

	for (size_t i = 0; i < STILE_JUDGES_MAX && judges[i]; i++)
		if (kernel->attachments[judges[i]].new_sources)
			return &kernel->limiters[kernel->attachments[judges[i]].limiter];
	return NULL;
}

const struct stile_listener *check_listener(const struct check *check, const char *name)
{
	const struct stile_listener *listener = check->policy->kernel.listeners;

	while (strcmp(listener->name, name) != 0)
		listener++;
	return listener;
}

const struct stile_limiter *check_limiter(const struct check *check, const char *name)
{
	const struct stile_limiter *limiter = check->policy->kernel.limiters;

	while (strcmp(limiter->name, name) != 0)
		limiter++;
	return limiter;
}

const struct policy_source *check_sources(const struct check *check,
					  const struct config_listener *listener)
{
	const struct policy_source *sources = check->policy->sources;

	/* Compiled in the order of the configuration. */
	for (const struct config_listener *before = check->config->listeners; before < listener;
	     before++)
		sources += before->n_sources;
	return sources;
}

static int print(const struct check *check)
{
	size_t n = check->diag->n_errors;

	if (check->json)
		return check_print_json(check);
	diag_print(check->diag, stderr);
	if (n)
		return command_failed("%s: %zu mistake%s", check->diag->file, n, n == 1 ? "" : "s");
	if (check_print_text(check, stdout) < 0)
		return command_failed("check: %s", strerror(ENOMEM));
	return COMMAND_DONE;
}

/* What would be in force with @config. */
static int check_config(struct check check, const struct config *config, struct diag *diag)
{
	struct policy policy;
	int code;

	if (review_compile(config, diag, &policy) < 0)
		return print(&check);
	review_warn(config, diag);
	if (!check.elsewhere)
		check_host(config, &policy, diag);
	if (diag->n_errors == 0) {
		check.config = config;
		check.policy = &policy;
	}
	code = print(&check);
	policy_release(&policy);
	return code;
}

static int check_file(const char *path, struct check check)
{
	struct diag diag;
	struct config config;
	int code, err;

	check.diag = &diag;
	check.defaults = !path && access(STILE_CONFIG_PATH, F_OK) < 0 && errno == ENOENT;
	if (!path)
		path = check.defaults ? "safe defaults" : STILE_CONFIG_PATH;
	diag_init(&diag, path);
	err = check.defaults ? config_default(&config) : review_read(path, &diag, &config);
	if (err == -ENOMEM)
		diag_error(&diag, (struct place){ 0 }, "out of memory");
	code = err ? print(&check) : check_config(check, &config, &diag);
	if (!err)
		config_release(&config);
	if (diag.n_errors)
		code = COMMAND_FAILED;
	diag_release(&diag);
	return code;
}

int cmd_check(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "elsewhere", no_argument, NULL, 'e' },
		{ "json", no_argument, NULL, 'j' },
		{},
	};
	struct check check = { 0 };
	const char *path = NULL;
	int option;

	(void)pins; /* nothing of the kernel is looked at */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:", options, NULL)) != -1) {
		if (option == 'c')
			path = optarg;
		else if (option == 'j')
			check.json = true;
		else if (option == 'e')
			check.elsewhere = true;
		else
			return command_bad_option(command, option, argv);
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	if (path && !*path)
		return command_usage(command, "config '': expected the path of a file");
	return check_file(path, check);
}
