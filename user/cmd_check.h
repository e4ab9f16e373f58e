/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of stile check share: cmd_check.c and cmd_check_*.c. */
#ifndef STILE_CMD_CHECK_H
#define STILE_CMD_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "config.h"
#include "diag.h"
#include "policy.h"

struct check {
	bool defaults;	/* no file was read */
	bool elsewhere; /* it is for another host */
	bool json;
	const struct diag *diag;     /* which names the file */
	const struct config *config; /* NULL where there are mistakes, and so is policy */
	const struct policy *policy;
};

/* Calls @each with every limiter of @judges, in the order of judgement, but the next. */
void check_each_judge(const struct check *check, const uint16_t judges[STILE_JUDGES_MAX],
		      void (*each)(const struct stile_limiter *limiter, void *context),
		      void *context);

/* The one of them that judges new sources only, or NULL. */
const struct stile_limiter *check_new_sources(const struct check *check,
					      const uint16_t judges[STILE_JUDGES_MAX]);

/* The compiled listener or limiter of that name, which the configuration has. */
const struct stile_listener *check_listener(const struct check *check, const char *name);
const struct stile_limiter *check_limiter(const struct check *check, const char *name);

/* The limiters of the sources of @listener in the configuration, in their order there. */
const struct policy_source *check_sources(const struct check *check,
					  const struct config_listener *listener);

/* Warns of what is not there on this host; a mistake is what a start would be refused for. */
void check_host(const struct config *config, const struct policy *policy, struct diag *diag);

/* 0 or -ENOMEM. */
int check_print_text(const struct check *check, FILE *out);

/* An exit code. */
int check_print_json(const struct check *check);

#endif /* STILE_CMD_CHECK_H */
