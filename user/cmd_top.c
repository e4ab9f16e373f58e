/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stile top: a frame an interval, on the terminal or, with --once and --json, as text. What is
 * pinned is all that it reads, so it goes on while the daemon is dead; where nothing is pinned any
 * more it keeps the last frame and says so.
 */
#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "diag.h"
#include "duration.h"
#include "reading.h"
#include "top_say.h"
#include "top_screen.h"
#include "top_session.h"
#include "util.h"

#define NS_PER_SEC 1000000000ULL
#define NS_PER_MS 1000000ULL
#define INTERVAL_MIN (100 * NS_PER_MS)
#define INTERVAL_MAX (3600 * NS_PER_SEC)
#define ONCE_COLUMNS 80
#define ONCE_LINES 24

struct request {
	uint64_t interval;
	bool once, json;
	struct top_view view;
};

static volatile sig_atomic_t ended_by;

static void on_signal(int number)
{
	ended_by = number;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: Linux has that clock */
	return (uint64_t)now.tv_sec * NS_PER_SEC + (uint64_t)now.tv_nsec;
}

/* *frame becomes the next one. 0 or negative errno, and *frame is what it was. */
static int advance(const struct pins *pins, struct top_frame **frame)
{
	struct snapshot_client *clients = NULL;
	struct snapshot *snapshot = NULL;
	struct top_frame *next;
	size_t n_clients = 0;
	int r;

	r = snapshot_take(pins, &snapshot);
	if (r < 0)
		return r;
	r = snapshot_clients(pins, snapshot, 0, &clients, &n_clients);
	if (r == 0)
		r = snapshot_holders_fill(pins, snapshot, false, &clients, &n_clients);
	if (r < 0) {
		free(clients);
		snapshot_free(snapshot);
		return r;
	}
	next = top_frame_new(*frame, snapshot, clients, n_clients);
	if (!next)
		return -ENOMEM;
	top_frame_free(*frame);
	*frame = next;
	return 0;
}

static void wait_until(uint64_t when)
{
	struct timespec at = { .tv_sec = (time_t)(when / NS_PER_SEC),
			       .tv_nsec = (long)(when % NS_PER_SEC) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static int print_json(const struct request *request, const struct top_frame *frame)
{
	json_t *json = top_json(&request->view, frame);
	int r;

	if (!json)
		return command_failed("%s", strerror(ENOMEM));
	r = json_dumpf(json, stdout, JSON_COMPACT);
	json_decref(json);
	(void)fputc('\n', stdout); /* main() looks at what became of it */
	if (r < 0 || fflush(stdout) == EOF)
		return command_failed("write to standard output: %s", strerror(errno));
	return COMMAND_DONE;
}

static int print_text(const struct request *request, const struct top_frame *frame)
{
	autofree struct top_line *lines = calloc(request->view.lines, sizeof(*lines));
	unsigned int n = request->view.lines;

	if (!lines || top_lines(&request->view, frame, lines) < 0)
		return command_failed("%s", strerror(ENOMEM));
	while (n > 0 && !*lines[n - 1].text)
		n--;
	for (unsigned int i = 0; i < n; i++)
		printf("%s\n", lines[i].text);
	return COMMAND_DONE;
}

/* Without a terminal: one frame, or one after the other until nobody reads them. */
static int print(const struct pins *pins, const struct request *request, struct top_frame **frame)
{
	uint64_t next = now_ns();
	int r = COMMAND_DONE;

	do {
		next += request->interval;
		wait_until(next);
		r = advance(pins, frame);
		if (r < 0)
			return reading_failed(pins, r);
		r = request->json ? print_json(request, *frame) : print_text(request, *frame);
	} while (r == COMMAND_DONE && !request->once);
	return r;
}

static int draw(struct top_session *session)
{
	autofree struct top_line *lines = NULL;
	int r;

	top_screen_size(&session->view);
	lines = calloc(session->view.lines + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	r = top_session_lines(session, lines);
	if (r == 0)
		top_screen_draw(lines, session->view.lines);
	return r;
}

/* The next frame where it is time for one. Only lack of memory ends it. */
static int keep_up(const struct pins *pins, struct top_session *session, struct top_frame **frame)
{
	int r;

	if (session->view.paused)
		return 0;
	r = advance(pins, frame);
	session->frame = *frame;
	session->view.lost = r == -ENOENT
				     ? "nothing is attached any more: this was the last; q quits"
			     : r < 0 ? "it cannot be read now: this was the last; q quits"
				     : NULL;
	return r == -ENOMEM ? r : 0;
}

static int follow(const struct pins *pins, const struct request *request,
		  struct top_session *session, struct top_frame **frame)
{
	uint64_t next = now_ns() + request->interval;
	int r = 0;

	while (r == 0 && !session->quit && !ended_by) {
		uint64_t now = now_ns();

		if (now >= next) {
			r = keep_up(pins, session, frame);
			next = now_ns() + request->interval;
			now = next - request->interval;
		}
		if (r == 0)
			r = draw(session);
		if (r == 0)
			top_session_key(session,
					top_screen_key((int)((next - now) / NS_PER_MS) + 1));
	}
	return r;
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		(void)sigaction(numbers[i], &action, NULL); /* these can be caught */
}

static int show(const struct pins *pins, const struct request *request, struct top_frame **frame)
{
	struct top_session session = { .view = request->view, .frame = *frame, .say = top_say };
	const char *unfit;
	int r;

	catch_signals();
	unfit = top_screen_open();
	if (unfit)
		return command_failed("top: this terminal will not do: %s; 'stile top --once' "
				      "prints one screen as text",
				      unfit);
	session.view.interactive = true;
	r = follow(pins, request, &session, frame);
	top_screen_close();
	top_session_release(&session);
	if (ended_by) {
		(void)signal(ended_by, SIG_DFL);
		(void)raise(ended_by); /* so that who waits for us knows what ended us */
	}
	return r < 0 ? command_failed("top: %s", strerror(-r)) : COMMAND_DONE;
}

static int parse_interval(const struct command *command, const char *text, struct request *request)
{
	uint64_t interval;

	if (duration_parse(text, &interval) < 0 || interval < INTERVAL_MIN ||
	    interval > INTERVAL_MAX)
		return command_usage(command,
				     "expected a time from 100ms to 1h after --interval, got '%s'",
				     text);
	request->interval = interval;
	return COMMAND_DONE;
}

static int parse_sort(const struct command *command, const char *text, struct request *request)
{
	const char *nearest;

	for (unsigned int i = 0; i < _TOP_SORT_MAX; i++) {
		if (strcmp(text, top_sort_names[i]) == 0) {
			request->view.sort = (enum top_sort)i;
			return COMMAND_DONE;
		}
	}
	nearest = diag_nearest(text, top_sort_names);
	if (nearest)
		return command_usage(command, "cannot sort by '%s', did you mean '%s'?", text,
				     nearest);
	return command_usage(command,
			     "cannot sort by '%s', expected refusing, admitting, refused, "
			     "admitted, open, wait or address",
			     text);
}

static int parse_filter(const struct command *command, const char *text, struct request *request)
{
	if (strlen(text) >= sizeof(request->view.filter))
		return command_usage(command, "a filter has at most %d characters, got '%s'",
				     TOP_FILTER_SIZE - 1, text);
	snprintf(request->view.filter, sizeof(request->view.filter), "%s", text);
	return COMMAND_DONE;
}

static int parse_option(const struct command *command, int option, char **argv,
			struct request *request)
{
	switch (option) {
	case 'i':
		return parse_interval(command, optarg, request);
	case 's':
		return parse_sort(command, optarg, request);
	case 'f':
		return parse_filter(command, optarg, request);
	case 'o':
		request->once = true;
		return COMMAND_DONE;
	case 'j':
		request->json = true;
		return COMMAND_DONE;
	default:
		return command_bad_option(command, option, argv);
	}
}

/* The number in the environment, as shells and terminals set it; or @otherwise. */
static unsigned int from_environment(const char *name, unsigned int otherwise, unsigned int most)
{
	const char *text = getenv(name);
	unsigned long number = text ? strtoul(text, NULL, 10) : 0;

	return number >= 1 && number <= most ? (unsigned int)number : otherwise;
}

static int run(const struct pins *pins, struct request *request)
{
	struct top_frame *frame = NULL;
	int r;

	(void)setlocale(LC_CTYPE, ""); /* an unknown one is C */
	request->view.unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	request->view.instance = reading_instance(pins);
	request->view.columns = from_environment("COLUMNS", ONCE_COLUMNS, TOP_COLUMNS_MAX);
	request->view.lines = from_environment("LINES", ONCE_LINES, 500);
	r = advance(pins, &frame);
	if (r < 0)
		return reading_failed(pins, r);
	r = request->once || request->json ? print(pins, request, &frame)
					   : show(pins, request, &frame);
	top_frame_free(frame);
	return r;
}

int cmd_top(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = {
		{ "interval", required_argument, NULL, 'i' },
		{ "sort", required_argument, NULL, 's' },
		{ "filter", required_argument, NULL, 'f' },
		{ "once", no_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	struct request request = { .interval = NS_PER_SEC };
	int option, r;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		r = parse_option(command, option, argv, &request);
		if (r != COMMAND_DONE)
			return r;
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	if (!request.once && !request.json && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return command_failed("top: this is no terminal; 'stile top --once' prints one "
				      "screen, --json a line an interval");
	return run(pins, &request);
}
