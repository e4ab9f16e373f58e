/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Standard error is the only place: systemd, a container's runtime or a terminal takes it from
 * there. A line begins with the priority that sd-daemon(3) describes only where the journal
 * reads it, since anyone else would see "<6>".
 *
 * Whoever reads the log must not be able to stop the daemon by not reading: a line is written where
 * there is room for it now, and otherwise only counted.
 */
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "log.h"
#include "util.h"

/*
 * A pipe is ready for writing where PIPE_BUF bytes fit. Twice this, for the escapes of JSON, and
 * what stands around a text are less.
 */
#define TEXT_MAX 1900
_Static_assert(2 * TEXT_MAX + 128 < PIPE_BUF, "a line fits where there is room");

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

/* What is to be written. */
struct log_line {
	enum config_log_level level;
	const char *text;
	const struct log_field *fields;
	size_t n_fields;
};

static enum config_log_level log_highest = CONFIG_LOG_INFO;
static bool log_as_json;
static unsigned long long log_lost; /* lines since one was last written */

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

/* Not within a character of UTF-8; nobody's terminal is to act on a message. */
static void tidy(char *text)
{
	size_t length = strcspn(text, "\n");

	if (length > TEXT_MAX) {
		length = TEXT_MAX;
		while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
			length--;
	}
	text[length] = '\0';
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20)
			*c = '?';
}

static void add_fields(json_t *object, const struct log_line *of)
{
	for (size_t i = 0; object && i < of->n_fields; i++) {
		const struct log_field *field = &of->fields[i];
		json_t *value = field->text ? json_string(field->text)
					    : json_integer((json_int_t)field->number);

		(void)json_object_set_new(object, field->name,
					  value); /* without memory: left out */
	}
}

static char *format_json(const struct log_line *of)
{
	char time_text[sizeof("2026-01-01T00:00:00")];
	autofree char *object_text = NULL;
	struct timespec now;
	struct tm parts;
	json_t *object;
	char *line;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail: the clock exists */
	if (!gmtime_r(&now.tv_sec, &parts) ||
	    strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%S", &parts) == 0)
		time_text[0] = '\0';
	object = json_pack("{s:o, s:s, s:o}", "time",
			   json_sprintf("%s.%03ldZ", time_text, now.tv_nsec / 1000000), "level",
			   levels[of->level].name, "message", json_string_nocheck(of->text));
	add_fields(object, of);
	object_text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	if (!object_text || asprintf(&line, "%s\n", object_text) < 0)
		return NULL;
	return line;
}

/* malloc'ed, or NULL. */
static char *format_line(const struct log_line *of)
{
	char *line = NULL;
	size_t size;
	FILE *out;

	if (log_as_json)
		return format_json(of);
	out = open_memstream(&line, &size);
	if (!out)
		return NULL;
	if (stderr_is_journal())
		fprintf(out, "%s%s", levels[of->level].priority, of->text);
	else
		fprintf(out, "stile: %s: %s", levels[of->level].name, of->text);
	for (size_t i = 0; i < of->n_fields; i++) {
		const struct log_field *field = &of->fields[i];

		if (field->text)
			fprintf(out, " %s=%s", field->name, field->text);
		else
			fprintf(out, " %s=%llu", field->name, field->number);
	}
	fputc('\n', out);
	(void)fclose(out); /* to memory: what fails shows as a missing line */
	return line;
}

/* A file is always ready; a pipe, a socket and a terminal are where a line fits. */
static bool has_room(void)
{
	struct pollfd poll_fd = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&poll_fd, 1, 0) > 0 && poll_fd.revents & POLLOUT;
}

static bool write_line(const struct log_line *of)
{
	autofree char *line = format_line(of);
	size_t length = line ? strlen(line) : 0;

	return line && has_room() && write(STDERR_FILENO, line, length) == (ssize_t)length;
}

static void tell_lost(void)
{
	char text[96];

	if (log_lost == 0)
		return;
	snprintf(text, sizeof(text),
		 log_lost == 1 ? "%llu line of the log is lost: it was not read in time"
			       : "%llu lines of the log are lost: they were not read in time",
		 log_lost);
	if (write_line(&(struct log_line){ .level = CONFIG_LOG_WARNING, .text = text }))
		log_lost = 0;
}

static void write_whole(const struct log_line *of)
{
	tell_lost();
	if (log_lost || !write_line(of))
		log_lost++;
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
	tidy(text);
	write_whole(&(struct log_line){ .level = level, .text = text });
}

void log_event(enum config_log_level level, const char *text, const struct log_field *fields,
	       size_t n_fields)
{
	if (level <= log_highest)
		write_whole(&(struct log_line){ level, text, fields, n_fields });
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
	if (diag->n_dropped)
		log_warning("%s: %zu more not shown", diag->file, diag->n_dropped);
}

void log_setup(enum config_log_level level, bool json)
{
	log_highest = level;
	log_as_json = json;
}
