/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A log that nobody reads: no line waits for its reader, and what is lost is told. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "log.h"
#include "util.h"

#define PATIENCE_S 20 /* a line that waits ends the test */

/* What standard error was; [0] is read instead. */
struct reader {
	int stderr_was, fd;
};

static bool begin(struct reader *reader, int ends[2])
{
	fflush(stderr);
	reader->fd = ends[0];
	reader->stderr_was = dup(STDERR_FILENO);
	alarm(PATIENCE_S);
	return reader->stderr_was >= 0 && dup2(ends[1], STDERR_FILENO) >= 0 && close(ends[1]) == 0;
}

static void end(struct reader *reader)
{
	alarm(0);
	dup2(reader->stderr_was, STDERR_FILENO);
	close(reader->stderr_was);
	close(reader->fd);
}

static void fill(void)
{
	char byte = '.';
	int flags = fcntl(STDERR_FILENO, F_GETFL);

	fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
	while (write(STDERR_FILENO, &byte, 1) == 1)
		;
	fcntl(STDERR_FILENO, F_SETFL, flags);
}

/* All that is there now; the end of it is kept in @text. */
static void drain(const struct reader *reader, char *text, size_t size)
{
	char block[4096];
	ssize_t n;

	text[0] = '\0';
	fcntl(reader->fd, F_SETFL, O_NONBLOCK);
	while ((n = read(reader->fd, block, sizeof(block) - 1)) > 0) {
		block[n] = '\0';
		snprintf(text, size, "%s", block);
	}
}

static void check_unread(const char *what, int ends[2])
{
	struct reader reader;
	char text[4096];
	bool begun = begin(&reader, ends);

	if (begun) {
		fill();
		for (int i = 0; i < 3; i++)
			log_info("nobody reads this");
		drain(&reader, text, sizeof(text));
		log_info("read again");
		log_info("and again");
		drain(&reader, text, sizeof(text));
	}
	end(&reader);
	CHECK(what, begun);
	CHECK_STR_EQ(what, text,
		     "stile: warning: 3 lines of the log are lost: they were not read in time\n"
		     "stile: info: read again\n"
		     "stile: info: and again\n");
}

static void test_unread(void)
{
	int ends[2];

	log_setup(CONFIG_LOG_INFO, false);
	CHECK("a pipe", pipe(ends) == 0);
	check_unread("a pipe", ends);
	CHECK("a socket", socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	check_unread("a socket", ends);
}

/* A pipe that is ready takes PIPE_BUF bytes: no line is longer, whatever it holds. */
static void test_long(void)
{
	static char quotes[10000];
	struct reader reader;
	char text[8192];
	int ends[2];
	size_t length;

	memset(quotes, '"', sizeof(quotes) - 1);
	quotes[0] = '\x1b';
	CHECK("a pipe", pipe(ends) == 0);
	CHECK("is standard error", begin(&reader, ends));
	log_setup(CONFIG_LOG_INFO, true);
	log_info("%s", quotes);
	log_setup(CONFIG_LOG_INFO, false);
	drain(&reader, text, sizeof(text));
	end(&reader);
	length = strlen(text);
	CHECK("it is cut", length > 3000 && length < 4096);
	CHECK("it is whole", strncmp(text, "{\"time\":", 8) == 0 && text[length - 1] == '\n' &&
				     text[length - 2] == '}');
	CHECK("nobody's terminal acts on it", strstr(text, "\"message\":\"?\\\"") != NULL);
}

static void log_one(bool json, char *text, size_t size)
{
	static const struct log_field fields[] = {
		{ "event", "shedding_ends", 0 },
		{ "refused", NULL, 18446744073709ULL },
	};
	struct reader reader;
	int ends[2];

	text[0] = '\0';
	if (!CHECK("a pipe", pipe(ends) == 0))
		return;
	CHECK("is standard error", begin(&reader, ends));
	log_setup(CONFIG_LOG_INFO, json);
	log_event(CONFIG_LOG_DEBUG, "nobody wants this", fields, ARRAY_SIZE(fields));
	log_event(CONFIG_LOG_WARNING, "it is over:", fields, ARRAY_SIZE(fields));
	log_setup(CONFIG_LOG_INFO, false);
	drain(&reader, text, size);
	end(&reader);
}

/* The same fields in both forms, and one line. */
static void test_event(void)
{
	char text[4096];

	log_one(false, text, sizeof(text));
	CHECK_STR_EQ("text", text,
		     "stile: warning: it is over: event=shedding_ends refused=18446744073709\n");
	log_one(true, text, sizeof(text));
	CHECK_STR_EQ("JSON, but for the time", strstr(text, "\"level\""),
		     "\"level\":\"warning\",\"message\":\"it is over:\","
		     "\"event\":\"shedding_ends\",\"refused\":18446744073709}\n");
}

CHECK_SUITE(log, { "unread", test_unread }, { "long", test_long }, { "event", test_event });
