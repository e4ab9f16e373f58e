/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Standard error is the only place: systemd, a container's runtime or a terminal takes it from
 * there. A line begins with the priority that sd-daemon(3) describes only where the journal
 * reads it, since anyone else would see "<6>".
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include <jansson.h>

#include "log.h"
#include "util.h"

struct log_level {
	const char *name;
	const char *priority;
};

static const struct log_level levels[] = {
	[CONFIG_LOG_ERROR] = { "error", SD_ERR },
	[CONFIG_LOG_WARNING] = { "warning", SD_WARNING },
	[CONFIG_LOG_INFO] = { "info", SD_INFO },
	[CONFIG_LOG_DEBUG] = { "debug", SD_DEBUG },
};

static enum config_log_level log_highest = CONFIG_LOG_INFO;
static bool log_as_json;

/* JOURNAL_STREAM names the journal's socket; it is inherited even where stderr was redirected. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat status;

	if (!stream || sscanf(stream, "%llu:%llu", &device, &inode) != 2)
		return false;
	return fstat(STDERR_FILENO, &status) == 0 && status.st_dev == device &&
	       status.st_ino == inode;
}

static void write_json(enum config_log_level level, const char *text)
{
	char time_text[sizeof("2026-01-01T00:00:00")];
	autofree char *line = NULL;
	struct timespec now;
	struct tm parts;
	json_t *object;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail: the clock exists */
	if (!gmtime_r(&now.tv_sec, &parts) ||
	    strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%S", &parts) == 0)
		time_text[0] = '\0';
	object = json_pack("{s:o, s:s, s:o}", "time",
			   json_sprintf("%s.%03ldZ", time_text, now.tv_nsec / 1000000), "level",
			   levels[level].name, "message", json_string_nocheck(text));
	line = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	if (line)
		fprintf(stderr, "%s\n", line);
}

static void write_line(enum config_log_level level, const char *text)
{
	if (log_as_json)
		write_json(level, text);
	else if (stderr_is_journal())
		fprintf(stderr, "%s%s\n", levels[level].priority, text);
	else
		fprintf(stderr, "stile: %s: %s\n", levels[level].name, text);
}

static void write_format(enum config_log_level level, const char *format, va_list arguments)
{
	autofree char *text = NULL;

	if (level > log_highest)
		return;
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL; /* undefined after a failure */
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	write_line(level, text);
}

void log_message(enum config_log_level level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_format(level, format, arguments);
	va_end(arguments);
}

void log_diag(const struct diag *diag)
{
	for (size_t i = 0; i < diag->n_entries; i++) {
		const struct diag_entry *entry = &diag->entries[i];
		enum config_log_level level = entry->severity == DIAG_ERROR ? CONFIG_LOG_ERROR
									    : CONFIG_LOG_WARNING;

		if (entry->place.line == 0)
			log_message(level, "%s: %s", diag->file, entry->text);
		else
			log_message(level, "%s:%u:%u: %s", diag->file, entry->place.line,
				    entry->place.column, entry->text);
	}
}

void log_setup(enum config_log_level level, bool json)
{
	log_highest = level;
	log_as_json = json;
}
