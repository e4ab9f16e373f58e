/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration with mistakes is compiled as well, as far as it goes: whoever mends five values
 * should not learn only then that a limiter is named wrongly. What the draft is warned of is
 * dropped, because it may come from what is missing in it.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "policy.h"
#include "review.h"

#define TICK 4000000ULL /* ns: a kernel of 250 ticks a second */

static const struct place whole;

/* Nothing is loaded, and so nothing has to be kept secret. */
static uint64_t no_secret(void *context)
{
	uint64_t *count = context;

	return ++*count;
}

int review_compile(const struct config *config, struct diag *diag, struct policy *ret_policy)
{
	uint64_t count = 0;
	const struct policy_machine machine = {
		.tick = TICK,
		.queue_length = 1, /* as if the kernel told */
		.queue_backlog = 1,
		.random = no_secret,
		.context = &count,
	};
	int err = policy_compile(config, NULL, &machine, diag, ret_policy);

	if (err == -ENOMEM)
		diag_error(diag, whole, "out of memory");
	return err;
}

static void add_errors(struct diag *diag, const struct diag *found)
{
	size_t untold = found->n_errors;

	for (size_t i = 0; i < found->n_entries; i++) {
		if (found->entries[i].severity != DIAG_ERROR)
			continue;
		diag_error(diag, found->entries[i].place, "%s", found->entries[i].text);
		untold--;
	}
	diag->n_errors += untold;
	diag->n_dropped += untold;
}

/* The draft's own mistakes are in @diag. */
static void compile_draft(const struct config *draft, struct diag *diag)
{
	struct policy policy;
	struct diag found;

	diag_init(&found, diag->file);
	if (review_compile(draft, &found, &policy) == 0)
		policy_release(&policy);
	add_errors(diag, &found);
	diag_release(&found);
}

/* A pipe with a name, to which perhaps nobody ever writes; one of the shell's has none. */
static bool is_named_pipe(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISFIFO(status.st_mode) &&
	       strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0;
}

int review_read(const char *path, struct diag *diag, struct config *ret_config)
{
	size_t errors = diag->n_errors;
	struct config draft;

	if (is_named_pipe(path)) {
		diag_error(diag, whole,
			   "found a named pipe, expected a file; '-' is the standard input");
		return -EINVAL;
	}
	if (!config_read_draft(path, diag, &draft))
		return -EINVAL;
	if (diag->n_errors == errors) {
		*ret_config = draft;
		return 0;
	}
	compile_draft(&draft, diag);
	config_release(&draft);
	return -EINVAL;
}
