/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is misspelt is looked for among those that the host lists: a directory may list none. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "util.h"

#define LISTED_MAX 512

struct listed {
	char *names[LISTED_MAX + 1]; /* NULL-terminated */
	size_t n;
};

static void keep(struct listed *listed, const char *name)
{
	char *copy = listed->n < LISTED_MAX ? strdup(name) : NULL;

	if (copy)
		listed->names[listed->n++] = copy;
}

static void list_users(struct listed *listed)
{
	const struct passwd *user;

	setpwent();
	while (listed->n < LISTED_MAX && (user = getpwent()))
		keep(listed, user->pw_name);
	endpwent();
}

static void list_groups(struct listed *listed)
{
	const struct group *group;

	setgrent();
	while (listed->n < LISTED_MAX && (group = getgrent()))
		keep(listed, group->gr_name);
	endgrent();
}

static void report(const struct config_name *wanted, const char *key, const char *expected,
		   struct listed *listed, struct diag *diag)
{
	const char *nearest = diag_nearest(wanted->text, (const char *const *)listed->names);

	if (nearest)
		diag_error(diag, wanted->place, "%s: found '%s', expected %s; did you mean '%s'?",
			   key, wanted->text, expected, nearest);
	else
		diag_error(diag, wanted->place, "%s: found '%s', expected %s", key, wanted->text,
			   expected);
	while (listed->n)
		free(listed->names[--listed->n]);
}

int account_check(const struct config *config, struct diag *diag)
{
	struct listed listed = { 0 };
	int error = 0;

	if (*config->user.text && !getpwnam(config->user.text)) {
		list_users(&listed);
		report(&config->user, "user", "a user of this host", &listed, diag);
		error = -EINVAL;
	}
	if (*config->control_group.text && !getgrnam(config->control_group.text)) {
		listed = (struct listed){ 0 };
		list_groups(&listed);
		report(&config->control_group, "control_group", "a group of this host", &listed,
		       diag);
		error = -EINVAL;
	}
	return error;
}
