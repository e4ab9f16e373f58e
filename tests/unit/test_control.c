/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket, in a directory of its own. control_call() waits, so it has a thread; the
 * server's loop ends when the thread says through a pipe that it is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>

#include "check.h"
#include "control.h"
#include "util.h"

#define BOUND_S 20

static char directory[] = "/tmp/stile-test-control-XXXXXX";
static char path[sizeof(directory) + 16];

static int setup(void)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/control.sock", directory);
	return 0;
}

static int teardown(void)
{
	(void)unlink(path);
	return rmdir(directory);
}

struct call {
	const char *request;
	char *text;
	int result;
	int done[2];
};

static void *call_thread(void *context)
{
	struct call *call = context;

	call->result = control_call(path, call->request, BOUND_S, &call->text);
	(void)!write(call->done[1], "", 1); /* the loop is bounded anyway */
	return NULL;
}

static void call_done(int fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)event_base_loopbreak(context);
}

/* Asks @request while @base runs. call->text is the caller's. */
static void ask(struct event_base *base, const char *request, struct call *ret_call)
{
	const struct timeval bound = { .tv_sec = BOUND_S };
	struct event *done;
	pthread_t thread;

	*ret_call = (struct call){ .request = request, .result = -EINPROGRESS };
	if (!CHECK_EQ("a pipe", pipe2(ret_call->done, O_CLOEXEC), 0))
		return;
	done = event_new(base, ret_call->done[0], EV_READ, call_done, base);
	(void)event_add(done, NULL);
	(void)event_base_loopexit(base, &bound);
	if (CHECK_EQ("a thread", pthread_create(&thread, NULL, call_thread, ret_call), 0)) {
		(void)event_base_dispatch(base);
		(void)pthread_join(thread, NULL);
	}
	event_free(done);
	close(ret_call->done[0]);
	close(ret_call->done[1]);
}

/* Answers with what it was asked; "bad" is a mistake, "quiet" has nothing to say. */
static bool echo(const char *request, char **ret_text, void *context)
{
	++*(unsigned int *)context;
	if (strcmp(request, "quiet") != 0)
		*ret_text = strdup(request);
	return strcmp(request, "bad") != 0;
}

static void test_calls(void)
{
	static char longest[255], too_long[256];
	static const struct {
		const char *what, *request, *text;
		int result;
		unsigned int handled;
	} rows[] = {
		{ "a request that is done", "reload", "reload\n", 1, 1 },
		{ "a request that fails", "bad", "bad\n", 0, 1 },
		{ "an answer without text", "quiet", "", 1, 1 },
		{ "lines end as they did", "a b", "a b\n", 1, 1 },
		{ "an empty line", "", "", 1, 1 },
		{ "only the first line counts", "one\ntwo", "one\n", 1, 1 },
		{ "the longest line", longest, NULL, 1, 1 },
		{ "too long a line", too_long, "expected a line of at most 254 bytes\n", 0, 0 },
	};
	struct event_base *base = event_base_new();
	struct control *control = NULL;
	unsigned int handled = 0;

	memset(longest, 'x', sizeof(longest) - 1);
	memset(too_long, 'x', sizeof(too_long) - 1);
	CHECK_EQ("the daemon listens", control_listen(base, path, echo, &handled, &control), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows) && control; i++) {
		struct call call;

		handled = 0;
		ask(base, rows[i].request, &call);
		CHECK_EQ(rows[i].what, call.result, rows[i].result);
		CHECK_EQ(rows[i].what, handled, rows[i].handled);
		if (rows[i].text)
			CHECK_STR_EQ(rows[i].what, call.text, rows[i].text);
		free(call.text);
	}
	control_free(control);
	event_base_free(base);
}

static int socket_at(const char *where)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", where);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return take_fd(&fd);
}

static int connect_to(const char *where)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	autofd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", where);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return take_fd(&fd);
}

/* The file that a daemon finds when it starts, and what becomes of it. */
static void test_file(void)
{
	struct event_base *base = event_base_new();
	struct control *control = NULL, *other = NULL;
	unsigned int handled = 0;
	struct stat found = { 0 };
	int left;

	left = socket_at(path);
	close(left);
	CHECK_EQ("what a killed daemon left gives way",
		 control_listen(base, path, echo, &handled, &control), 0);
	CHECK_EQ("the socket is there", stat(path, &found), 0);
	CHECK_EQ("only its owner may ask", found.st_mode & 07777, 0600);
	CHECK_EQ("a second daemon is told", control_listen(base, path, echo, &handled, &other),
		 -EADDRINUSE);
	control_free(control);
	CHECK_EQ("the socket goes with the daemon", access(path, F_OK), -1);

	CHECK_EQ("again", control_listen(base, path, echo, &handled, &control), 0);
	CHECK_EQ("somebody takes it away", unlink(path), 0);
	left = socket_at(path);
	control_free(control);
	CHECK_EQ("another's socket stays", access(path, F_OK), 0);
	close(left);
	(void)unlink(path);

	left = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(left);
	CHECK_EQ("a file that is no socket is not ours to remove",
		 control_listen(base, path, echo, &handled, &control), -EEXIST);
	CHECK_EQ("it is still there", unlink(path), 0);
	CHECK_EQ("a path that no socket can have",
		 control_listen(base,
				"/tmp/a-name-that-is-longer-than-the-hundred-and-eight-bytes-"
				"of-an-address-of-a-local-socket-can-be-on-this-system.sock",
				echo, &handled, &control),
		 -ENAMETOOLONG);
	event_base_free(base);
}

static void test_no_daemon(void)
{
	char *text = NULL;
	int left;

	CHECK_EQ("no daemon was ever there", control_call(path, "reload", BOUND_S, &text), -ENOENT);
	left = socket_at(path);
	close(left);
	CHECK_EQ("a daemon was killed", control_call(path, "reload", BOUND_S, &text),
		 -ECONNREFUSED);
	CHECK("nothing was written", text == NULL);
	(void)unlink(path);
}

/* Somebody connects and says nothing, or half a line. */
static void test_slow_clients(void)
{
	struct event_base *base = event_base_new();
	struct control *control = NULL;
	unsigned int handled = 0;
	struct call call;
	int silent, slow;

	if (!CHECK_EQ("the daemon listens", control_listen(base, path, echo, &handled, &control),
		      0))
		return;
	silent = connect_to(path);
	slow = connect_to(path);
	CHECK_EQ("half a line", send(slow, "relo", 4, MSG_NOSIGNAL), 4);
	ask(base, "reload", &call);
	CHECK_EQ("another client is answered meanwhile", call.result, 1);
	CHECK_EQ("only what was whole was handled", handled, 1);
	free(call.text);
	close(silent);
	close(slow);
	control_free(control);
	event_base_free(base);
}

CHECK_SUITE_WITH(control, setup, teardown, { "calls", test_calls }, { "the file", test_file },
		 { "no daemon", test_no_daemon }, { "slow clients", test_slow_clients });
