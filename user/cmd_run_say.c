/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon says of what it did: to the log, to the service manager, to whoever asked. */
#include <inttypes.h>
#include <string.h>

#include "cmd_run_service.h"
#include "log.h"
#include "names.h"
#include "notify.h"
#include "util.h"

/* The names of those interfaces that are attached, or of those that are not. Returns @text. */
static const char *list_interfaces(const struct apply_result *applied, bool attached, char *text,
				   size_t size)
{
	size_t at = 0;

	*text = '\0';
	for (unsigned int i = 0; i < applied->n_interfaces && at < size; i++) {
		if ((applied->interfaces[i].ifindex != 0) == attached)
			at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "",
					       applied->interfaces[i].name);
	}
	return text;
}

void run_tell_manager(const struct run *run)
{
	const struct apply_result *applied = &run->applied;
	char here[STILE_INTERFACES_MAX * (sizeof(applied->interfaces[0].name) + 2)];
	char missing[sizeof(here)];

	list_interfaces(applied, true, here, sizeof(here));
	list_interfaces(applied, false, missing, sizeof(missing));
	notify("READY=1\nSTATUS=Generation %" PRIu64 " on %s%s%s", applied->generation, here,
	       *missing ? "; waiting for " : "", missing);
}

void run_log_applied(const struct run *run)
{
	for (unsigned int i = 0; i < run->applied.n_interfaces; i++) {
		const struct apply_interface *interface = &run->applied.interfaces[i];

		if (interface->ifindex)
			log_info("%s: %s in %s mode", interface->name,
				 interface->adopted ? "swapped in place" : "attached",
				 policy_mode_names[interface->mode]);
	}
}

const char *run_tables_text(const struct apply_result *applied, char text[RUN_TABLES_SIZE])
{
	snprintf(text, RUN_TABLES_SIZE, "%u kept, %u copied, %u new",
		 applied->n_tables[POLICY_TABLE_KEPT], applied->n_tables[POLICY_TABLE_COPIED],
		 applied->n_tables[POLICY_TABLE_NEW]);
	return text;
}

char *run_describe_reload(const struct run *run, const struct diag *diag, bool ok)
{
	char tables[RUN_TABLES_SIZE];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	diag_print(diag, out);
	if (ok)
		fprintf(out, "generation %" PRIu64 " in force, bucket tables: %s\n",
			run->applied.generation, run_tables_text(&run->applied, tables));
	else
		fputs("nothing was changed\n", out);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

void run_log_gone(struct run *run)
{
	log_warning("nothing is attached any more: 'stile reload' puts it back");
	run_shedding_gone(run);
}
