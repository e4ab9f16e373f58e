/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which configuration the daemon reads, and what the command line changes in it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd_run.h"
#include "command.h"
#include "review.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

static const char *choose_path(const struct run_source *source)
{
	if (source->path)
		return source->path;
	if (!source->from_file && access(STILE_CONFIG_PATH, F_OK) < 0 && errno == ENOENT)
		return NULL;
	return STILE_CONFIG_PATH;
}

static const struct config_interface *find_interface(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_interfaces; i++) {
		if (strcmp(config->interfaces[i].name.text, name) == 0)
			return &config->interfaces[i];
	}
	return NULL;
}

/* An interface that the configuration names keeps what it says of it. */
static int replace_interfaces(const struct run_source *source, struct config *config)
{
	struct config_interface *interfaces;

	if (source->n_interfaces == 0)
		return 0;
	interfaces = calloc(source->n_interfaces, sizeof(*interfaces));
	if (!interfaces)
		return -ENOMEM;
	for (unsigned int i = 0; i < source->n_interfaces; i++) {
		const char *name = source->interfaces[i];
		const struct config_interface *found = find_interface(config, name);

		if (found)
			interfaces[i] = *found;
		else
			snprintf(interfaces[i].name.text, sizeof(interfaces[i].name.text), "%s",
				 name);
	}
	free(config->interfaces);
	config->interfaces = interfaces;
	config->n_interfaces = source->n_interfaces;
	return 0;
}

static int read_file(struct run_source *source, struct diag *diag, struct config *ret_config)
{
	int error;

	if (source->from_file && strcmp(diag->file, "-") == 0) {
		diag_error(diag, nowhere, "standard input cannot be read again");
		return -EINVAL;
	}
	error = review_read(diag->file, diag, ret_config);
	if (error)
		return error;
	review_warn(ret_config, diag);
	source->from_file = true;
	return 0;
}

int run_source_read(struct run_source *source, struct diag *diag, struct config *ret_config)
{
	const char *path = choose_path(source);
	struct config config;
	int error;

	diag->file = path ? path : "safe defaults";
	error = path ? read_file(source, diag, &config) : config_default(&config);
	if (error)
		return error;
	error = replace_interfaces(source, &config);
	if (error) {
		config_release(&config);
		return error;
	}
	*ret_config = config;
	return 0;
}
