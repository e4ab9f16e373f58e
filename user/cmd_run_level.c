/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The service levels, looked at once a second. They go into the pinned maps, for whoever reads
 * those, and to health checks and load balancers.
 */
#include <errno.h>
#include <string.h>

#include "cmd_run_service.h"
#include "level.h"
#include "log.h"
#include "snapshot.h"
#include "util.h"

struct listener_level {
	char name[STILE_NAME_SIZE];
	struct level level;
	struct level_input input; /* that it came from last */
	bool unavailable;	  /* so it was said */
};

struct run_levels {
	struct listener_level listeners[STILE_LISTENERS_MAX]; /* by slot */
	/* Decisions of the last seconds, the oldest at @oldest. */
	struct stile_decisions past[LEVEL_SECONDS][STILE_ATTACHMENTS_MAX];
	unsigned int oldest;
};

static void remember(struct run_levels *levels, const struct snapshot *snapshot)
{
	memcpy(levels->past[levels->oldest], snapshot->decisions, sizeof(snapshot->decisions));
	levels->oldest = (levels->oldest + 1) % LEVEL_SECONDS;
}

static struct run_levels *levels_new(const struct snapshot *snapshot)
{
	struct run_levels *levels = calloc(1, sizeof(*levels));

	for (int i = 0; levels && i < LEVEL_SECONDS; i++)
		remember(levels, snapshot);
	return levels;
}

static const struct config_listener *find_config(const struct run *run, const char *listener)
{
	for (size_t i = 0; i < run->config.n_listeners; i++)
		if (strcmp(run->config.listeners[i].name.text, listener) == 0)
			return &run->config.listeners[i];
	return NULL;
}

/* Health checks are told so. */
static bool is_unavailable(const struct config_listener *listener, const struct level *level)
{
	return level->value < listener->level.unavailable_below;
}

static void log_change(const struct run *run, struct listener_level *of)
{
	const struct config_listener *listener = find_config(run, of->name);
	bool unavailable = listener && is_unavailable(listener, &of->level);

	if (unavailable && !of->unavailable)
		log_warning("%s: service level %u, below %u: health checks are told that it is "
			    "unavailable",
			    of->name, of->level.value, listener->level.unavailable_below);
	else if (of->unavailable && !unavailable)
		log_info("%s: service level %u: available again", of->name, of->level.value);
	of->unavailable = unavailable;
}

/* A slot that changed hands knows nothing of its listener. */
static void step(struct run_levels *levels, const struct snapshot *snapshot, uint32_t slot,
		 bool loaded)
{
	struct listener_level *of = &levels->listeners[slot];
	const char *name = snapshot->policy.listeners[slot].name;

	if (strcmp(of->name, name) != 0)
		memset(of, 0, sizeof(*of));
	memcpy(of->name, name, sizeof(of->name));
	if (!*name || (loaded && of->level.known))
		return;
	level_gather(snapshot, levels->past[levels->oldest], slot, &of->input);
	level_step(&of->level, &of->input);
}

static int note(const struct run *run, uint64_t now)
{
	autofree struct stile_level *noted = calloc(STILE_LISTENERS_MAX, sizeof(*noted));

	if (!noted)
		return -ENOMEM;
	for (size_t i = 0; i < STILE_LISTENERS_MAX; i++) {
		const struct level *level = &run->levels->listeners[i].level;

		if (level->known)
			noted[i] = (struct stile_level){ .at = now, .level = level->value };
	}
	return apply_levels(run->pins, noted);
}

int run_levels_step(struct run *run, bool loaded)
{
	struct snapshot *snapshot;
	int error;

	error = snapshot_take_load(run->pins, &snapshot);
	if (error)
		return error;
	if (!run->levels)
		run->levels = levels_new(snapshot);
	error = run->levels ? 0 : -ENOMEM;
	for (uint32_t slot = 1; error == 0 && slot < STILE_LISTENERS_MAX; slot++) {
		step(run->levels, snapshot, slot, loaded);
		log_change(run, &run->levels->listeners[slot]);
	}
	if (error == 0) {
		run_proofs_second(run, snapshot);
		if (!loaded)
			remember(run->levels, snapshot);
		error = note(run, snapshot->now);
	}
	if (error == 0)
		error = run_shedding_step(run, snapshot);
	snapshot_free(snapshot);
	return error;
}

static const struct listener_level *find(const struct run *run, const char *listener)
{
	for (size_t i = 1; run->levels && i < STILE_LISTENERS_MAX; i++) {
		const struct listener_level *of = &run->levels->listeners[i];

		if (*of->name && strcmp(of->name, listener) == 0)
			return of;
	}
	return NULL;
}

/* Once all was taken out of the kernel, what was known is of the past. */
int run_level(const struct run *run, const char *listener)
{
	const struct listener_level *of = find(run, listener);

	return of && !run_is_detached(run) ? of->level.value : -1;
}

static void write_unknown(const struct run *run, const char *listener, FILE *out)
{
	fprintf(out, "there is no listener '%s'; there %s", listener,
		run->config.n_listeners == 0 ? "is none" : "are:");
	for (size_t i = 0; i < run->config.n_listeners; i++)
		fprintf(out, " %s", run->config.listeners[i].name.text);
	fputc('\n', out);
}

/* @level -1: nobody knows. Names have no letters that JSON would have to escape. */
static void write_level(const struct config_listener *listener, int level,
			const struct http_level *asked, FILE *out)
{
	char text[16];

	if (level < 0)
		snprintf(text, sizeof(text), asked->json ? "null" : "unknown");
	else
		snprintf(text, sizeof(text), "%d", level);
	if (asked->json)
		fprintf(out,
			"{\"listener\": \"%s\", \"service_level\": %s, "
			"\"unavailable_below\": %u}\n",
			listener->name.text, text, listener->level.unavailable_below);
	else
		fprintf(out, "%s\n", text);
}

enum http_found run_level_write(const struct run *run, const struct http_level *asked, FILE *out,
				unsigned int *ret_wait)
{
	const struct config_listener *listener = find_config(run, asked->listener);
	const struct listener_level *of = find(run, asked->listener);

	if (!listener) {
		write_unknown(run, asked->listener, out);
		return HTTP_UNKNOWN;
	}
	/* The service may well do without Stile: a load balancer is not to take it away. */
	if (!of || run_is_detached(run)) {
		write_level(listener, -1, asked, out);
		return HTTP_GOOD;
	}
	write_level(listener, of->level.value, asked, out);
	if (!is_unavailable(listener, &of->level))
		return HTTP_GOOD;
	*ret_wait = level_wait(&of->level, listener->level.unavailable_below);
	return HTTP_UNAVAILABLE;
}
