/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the verifier refuses, libbpf prints the verifier's whole log as one message. The complaint
 * in it is the last line before the statistics, and that line is the reason people need.
 */
#include <stdarg.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "loader.h"
#include "loader_messages.h"
#include "util.h"

/* libbpf's callback has no context, so these cannot be anyone's members. */
static void (*message_sink)(const char *line);
static char reason[256];

static void keep_complaint(const char *text)
{
	const char *end = strstr(text, "\nprocessed ");
	const char *line;

	if (!end)
		return;
	line = memrchr(text, '\n', (size_t)(end - text));
	line = line ? line + 1 : text;
	snprintf(reason + strlen(reason), sizeof(reason) - strlen(reason), ": %.*s",
		 (int)(end - line), line);
}

static void keep_reason(const char *text)
{
	static const char prefix[] = "libbpf: ";

	if (strstr(text, "PROG LOAD LOG")) {
		keep_complaint(text);
		return;
	}
	if (reason[0] != '\0')
		return;
	if (strncmp(text, prefix, strlen(prefix)) == 0)
		text += strlen(prefix);
	snprintf(reason, sizeof(reason), "%.*s", (int)strcspn(text, "\n"), text);
}

static int on_message(enum libbpf_print_level level, const char *format, va_list arguments)
{
	autofree char *text = NULL;
	char *rest, *line;

	if (level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, format, arguments) < 0) {
		text = NULL; /* undefined after a failure */
		return 0;
	}
	if (level == LIBBPF_WARN)
		keep_reason(text);
	rest = text;
	while (message_sink && (line = strsep(&rest, "\n"))) {
		if (*line)
			message_sink(line);
	}
	return 0;
}

void loader_messages_begin(void)
{
	reason[0] = '\0';
	(void)libbpf_set_print(on_message); /* returns the one before, which is not called again */
}

void loader_messages(void (*sink)(const char *line))
{
	message_sink = sink;
}

const char *loader_reason(void)
{
	return reason;
}
