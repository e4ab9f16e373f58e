/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One epoll loop over slots. Connections that are not held are closed with a reset, so that no
 * TIME_WAIT of ours uses up the source ports of a long storm.
 */
#include "engine.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define SCAN_NS (10 * NSEC_PER_MSEC) /* how often deadlines are looked at */
#define BATCH 32		     /* connections begun between two looks at what came back */
#define HEAD "HTTP/1.1 200"
#define HEAD_SIZE (sizeof(HEAD) - 1)

enum state { STATE_FREE, STATE_CONNECTING, STATE_ASKED, STATE_HELD };

struct attempt {
	enum state state;
	int fd;
	uint64_t began, deadline; /* ns */
	char head[HEAD_SIZE];
	unsigned int n_head;
};

struct engine {
	const struct engine_plan *plan;
	struct engine_result result;
	struct attempt *attempts;
	unsigned int *free, n_free;
	int epoll, error;
	uint64_t began, stop, scan; /* ns */
};

const char *const engine_outcome_names[_ENGINE_OUTCOME_MAX] = {
	[ENGINE_SUCCEEDED] = "succeeded", [ENGINE_REFUSED] = "refused", [ENGINE_RESET] = "reset",
	[ENGINE_TIMED_OUT] = "timed_out", [ENGINE_FAILED] = "failed",
};

static void attempt_close(struct engine *engine, struct attempt *attempt)
{
	const struct linger reset = { .l_onoff = 1 };

	/* A request that was answered ends as a well-behaved client ends it. */
	if (attempt->state != STATE_ASKED)
		(void)setsockopt(attempt->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(attempt->fd);
	attempt->state = STATE_FREE;
	engine->free[engine->n_free++] = (unsigned int)(attempt - engine->attempts);
}

static void engine_count(struct engine *engine, enum engine_outcome outcome, uint64_t began)
{
	uint64_t now = sample_now();
	uint64_t microseconds = (now - began) / 1000;
	int r = 0;

	engine->result.outcomes[outcome]++;
	if (outcome == ENGINE_SUCCEEDED)
		r = sample_add(&engine->result.success, microseconds);
	else if (outcome == ENGINE_REFUSED)
		r = sample_add(&engine->result.refusal, microseconds);
	if (r < 0)
		engine->error = r;
	if (engine->plan->series)
		fprintf(engine->plan->series, "%.3f %s %llu\n",
			(double)(began - engine->began) / NSEC_PER_SEC,
			engine_outcome_names[outcome], (unsigned long long)microseconds);
}

static void engine_count_error(struct engine *engine, int error, uint64_t began)
{
	enum engine_outcome outcome = ENGINE_FAILED;

	if (error == ECONNREFUSED)
		outcome = ENGINE_REFUSED;
	else if (error == ECONNRESET || error == EPIPE)
		outcome = ENGINE_RESET;
	else if (error == ETIMEDOUT)
		outcome = ENGINE_TIMED_OUT;
	else
		engine->result.last_error = error;
	engine_count(engine, outcome, began);
}

static void attempt_fail(struct engine *engine, struct attempt *attempt, int error)
{
	engine_count_error(engine, error, attempt->began);
	attempt_close(engine, attempt);
}

static int attempt_watch(struct engine *engine, struct attempt *attempt, int operation,
			 uint32_t events)
{
	struct epoll_event event = {
		.events = events,
		.data.u32 = (uint32_t)(attempt - engine->attempts),
	};

	return epoll_ctl(engine->epoll, operation, attempt->fd, &event) < 0 ? -errno : 0;
}

static void attempt_ask(struct engine *engine, struct attempt *attempt)
{
	char request[256];
	int length = snprintf(request, sizeof(request),
			      "GET %s HTTP/1.1\r\nHost: service\r\nAccept-Encoding: gzip\r\n"
			      "Connection: close\r\n\r\n",
			      engine->plan->path);

	if (send(attempt->fd, request, (size_t)length, MSG_NOSIGNAL) != length) {
		attempt_fail(engine, attempt, errno);
		return;
	}
	attempt->state = STATE_ASKED;
	(void)attempt_watch(engine, attempt, EPOLL_CTL_MOD, EPOLLIN); /* it is watched already */
}

static void attempt_connected(struct engine *engine, struct attempt *attempt)
{
	const struct engine_plan *plan = engine->plan;

	if (plan->path) {
		attempt_ask(engine, attempt);
		return;
	}
	engine_count(engine, ENGINE_SUCCEEDED, attempt->began);
	if (!plan->hold) {
		attempt_close(engine, attempt);
		return;
	}
	attempt->state = STATE_HELD;
	attempt->deadline = engine->stop;
	if (plan->hold_ms)
		attempt->deadline = sample_now() + plan->hold_ms * NSEC_PER_MSEC;
	(void)attempt_watch(engine, attempt, EPOLL_CTL_MOD, EPOLLIN); /* it is watched already */
}

static void attempt_answered(struct engine *engine, struct attempt *attempt)
{
	bool whole = attempt->n_head == HEAD_SIZE && memcmp(attempt->head, HEAD, HEAD_SIZE) == 0;

	if (!whole)
		engine->result.last_error = 0;
	engine_count(engine, whole ? ENGINE_SUCCEEDED : ENGINE_FAILED, attempt->began);
	attempt_close(engine, attempt);
}

/* Reads what is there; the end of the answer is the end of the connection. */
static void attempt_read(struct engine *engine, struct attempt *attempt)
{
	char buffer[65536];
	ssize_t n;

	do {
		n = recv(attempt->fd, buffer, sizeof(buffer), 0);
		for (ssize_t i = 0; i < n && attempt->n_head < HEAD_SIZE; i++)
			attempt->head[attempt->n_head++] = buffer[i];
	} while (n > 0);
	if (n == 0)
		attempt_answered(engine, attempt);
	else if (errno != EAGAIN)
		attempt_fail(engine, attempt, errno);
}

/* Something happened to a held connection: the other side closed it, or sent what nobody reads. */
static void attempt_check_held(struct engine *engine, struct attempt *attempt)
{
	char byte;

	if (recv(attempt->fd, &byte, 1, 0) > 0 || errno == EAGAIN)
		return;
	engine->result.dropped++;
	attempt_close(engine, attempt);
}

static void attempt_event(struct engine *engine, struct attempt *attempt)
{
	socklen_t length = sizeof(int);
	int error = 0;

	switch (attempt->state) {
	case STATE_CONNECTING:
		(void)getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &error, &length);
		if (error)
			attempt_fail(engine, attempt, error);
		else
			attempt_connected(engine, attempt);
		break;
	case STATE_ASKED:
		attempt_read(engine, attempt);
		break;
	case STATE_HELD:
		attempt_check_held(engine, attempt);
		break;
	case STATE_FREE:
		break;
	}
}

/* Begins a connection; what fails at once is counted at once. */
static void attempt_begin(struct engine *engine)
{
	const struct engine_plan *plan = engine->plan;
	struct attempt *attempt = &engine->attempts[engine->free[engine->n_free - 1]];
	const struct sockaddr *target = (const struct sockaddr *)&plan->target.address;
	uint64_t number = engine->result.attempts++;
	struct endpoint source;

	if (plan->sources.total)
		sources_pick(&plan->sources, number, &source);
	*attempt = (struct attempt){ .state = STATE_CONNECTING, .began = sample_now() };
	attempt->deadline = attempt->began + plan->timeout_ms * NSEC_PER_MSEC;
	attempt->fd =
		endpoint_socket(&plan->target, plan->sources.total ? &source : NULL, SOCK_STREAM);
	if (attempt->fd < 0) {
		attempt->state = STATE_FREE;
		engine_count_error(engine, -attempt->fd, attempt->began);
		return;
	}
	engine->n_free--;
	if ((connect(attempt->fd, target, plan->target.length) < 0 && errno != EINPROGRESS) ||
	    attempt_watch(engine, attempt, EPOLL_CTL_ADD, EPOLLOUT) < 0)
		attempt_fail(engine, attempt, errno);
}

static bool engine_may_begin(const struct engine *engine, uint64_t now)
{
	const struct engine_plan *plan = engine->plan;

	if (plan->stop && *plan->stop)
		return false;
	return engine->result.attempts < plan->connections && now < engine->stop;
}

/* When the next connection is due, ns; far away where none is. */
static uint64_t engine_due(const struct engine *engine, uint64_t now)
{
	if (!engine_may_begin(engine, now) || engine->n_free == 0)
		return UINT64_MAX;
	if (engine->plan->rate <= 0)
		return now;
	return engine->began + (uint64_t)((double)engine->result.attempts / engine->plan->rate *
					  (double)NSEC_PER_SEC);
}

static void engine_begin_due(struct engine *engine, uint64_t now)
{
	for (int i = 0; i < BATCH && engine_due(engine, now) <= now; i++)
		attempt_begin(engine);
}

/* Ends what is past its deadline; with @all set, every connection that is held. */
static void engine_expire(struct engine *engine, uint64_t now, bool all)
{
	for (unsigned int i = 0; i < engine->plan->concurrency; i++) {
		struct attempt *attempt = &engine->attempts[i];

		if (attempt->state == STATE_HELD && (all || now >= attempt->deadline))
			attempt_close(engine, attempt);
		else if (attempt->state != STATE_FREE && now >= attempt->deadline)
			attempt_fail(engine, attempt, ETIMEDOUT);
	}
	engine->scan = now + SCAN_NS;
}

static int engine_wait(struct engine *engine, uint64_t now)
{
	struct epoll_event events[256];
	uint64_t until = engine_due(engine, now), wait;
	struct timespec timeout = {};
	int n;

	if (until > engine->scan)
		until = engine->scan;
	wait = until > now ? until - now : 0;
	timeout.tv_nsec = (long)(wait < SCAN_NS ? wait : SCAN_NS);
	n = epoll_pwait2(engine->epoll, events, 256, &timeout, NULL);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++)
		attempt_event(engine, &engine->attempts[events[i].data.u32]);
	return engine->error;
}

static int engine_loop(struct engine *engine)
{
	uint64_t now = sample_now();
	bool stopped;
	int r = 0;

	while (r == 0 &&
	       (engine_may_begin(engine, now) || engine->n_free < engine->plan->concurrency)) {
		stopped = engine->plan->stop && *engine->plan->stop;
		engine_begin_due(engine, now);
		if (now >= engine->scan || stopped)
			engine_expire(engine, now, stopped);
		r = engine_wait(engine, now);
		now = sample_now();
	}
	engine->result.seconds = (double)(now - engine->began) / (double)NSEC_PER_SEC;
	return r;
}

static int engine_init(struct engine *engine, const struct engine_plan *plan)
{
	struct rlimit limit;

	if (plan->concurrency == 0 || plan->concurrency > ENGINE_CONCURRENCY_MAX)
		return -EINVAL;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit); /* too few shows as EMFILE, counted */
	}
	engine->plan = plan;
	engine->attempts = calloc(plan->concurrency, sizeof(*engine->attempts));
	engine->free = calloc(plan->concurrency, sizeof(*engine->free));
	if (!engine->attempts || !engine->free)
		return -ENOMEM;
	for (unsigned int i = 0; i < plan->concurrency; i++)
		engine->free[engine->n_free++] = i;
	engine->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (engine->epoll < 0)
		return -errno;
	engine->began = sample_now();
	engine->stop = engine->began + (uint64_t)(plan->seconds * (double)NSEC_PER_SEC);
	engine->scan = engine->began + SCAN_NS;
	return 0;
}

static void engine_close_all(struct engine *engine)
{
	for (unsigned int i = 0; engine->attempts && i < engine->plan->concurrency; i++)
		if (engine->attempts[i].state != STATE_FREE)
			attempt_close(engine, &engine->attempts[i]);
	if (engine->epoll >= 0)
		close(engine->epoll);
	free(engine->attempts);
	free(engine->free);
}

int engine_run(const struct engine_plan *plan, struct engine_result *ret_result)
{
	struct engine engine = { .epoll = -1 };
	int r = engine_init(&engine, plan);

	if (r == 0)
		r = engine_loop(&engine);
	engine_close_all(&engine);
	if (r < 0)
		engine_release(&engine.result);
	else
		*ret_result = engine.result;
	return r;
}

void engine_release(struct engine_result *result)
{
	sample_release(&result->success);
	sample_release(&result->refusal);
}
