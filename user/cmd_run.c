/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stile run: the daemon. It is not in the path of any packet: it puts configurations in force, lets
 * entries of the lists expire, and answers. Ports are bound before anything is attached, so that
 * a start that is refused leaves no trace.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "cmd_run.h"
#include "cmd_run_service.h"
#include "command.h"
#include "control.h"
#include "http.h"
#include "lists.h"
#include "loader.h"
#include "log.h"
#include "notify.h"
#include "pidfile.h"
#include "util.h"

enum run_event { RUN_TERM, RUN_INT, RUN_HUP, RUN_TICK, RUN_WATCHDOG, RUN_EVENTS };

int run_load(struct run *run, struct diag *diag)
{
	struct run_servers servers = {};
	struct apply_result applied;
	struct config config;
	int error;

	error = run_source_read(&run->source, diag, &config);
	if (error)
		return error;
	log_setup(config.log_level, config.log_json);
	error = run_user_find(run, &config, diag);
	if (error == 0)
		error = run_servers_bind(run, &config, diag, &servers);
	if (error == 0)
		error = apply_config(run->pins, &config, diag, &applied);
	if (error) {
		if (run->control)
			log_setup(run->config.log_level, run->config.log_json);
		run_servers_free(&servers);
		config_release(&config);
		return error;
	}
	run_servers_adopt(run, &config, &servers, diag);
	config_release(&run->config);
	run->config = config;
	run->file = diag->file;
	run->applied = applied;
	run->lists_error = 0;
	run->detached = false;
	run_links_note(run);
	run_connections_recount(run);
	run_evict_load(run);
	run_proofs_load(run);
	(void)run_levels_step(run, true); /* what fails is told a second later */
	return 0;
}

bool run_is_detached(const struct run *run)
{
	uint64_t generation;

	return pins_current(run->pins, &generation) == -ENOENT;
}

/*
 * A reload that was asked for before a detach, and comes after it because the daemon was stopped or
 * at work, would undo it. So the first one after a detach that nobody told of is refused.
 */
static int load_wanted(struct run *run, struct diag *diag)
{
	static const struct place nowhere = { 0, 0 };

	if (run->detached || !run_is_detached(run))
		return run_load(run, diag);
	run->detached = true;
	diag_error(diag, nowhere,
		   "'stile detach' has taken out what was attached, perhaps after this reload was "
		   "asked for: once more puts it back");
	return -ECANCELED;
}

/* The names that were chosen by their default routes are as good as if the file had them. */
static void choose_again(const struct run *run, struct config *config,
			 struct config_interface room[STILE_INTERFACES_MAX])
{
	if (config->n_interfaces)
		return;
	for (unsigned int i = 0; i < run->applied.n_interfaces; i++) {
		room[i] = (struct config_interface){ .mode = STILE_MODE_AUTO };
		memcpy(room[i].name.text, run->applied.interfaces[i].name,
		       sizeof(run->applied.interfaces[i].name));
	}
	config->interfaces = room;
	config->n_interfaces = run->applied.n_interfaces;
}

int run_load_again(struct run *run, struct diag *diag)
{
	struct config_interface room[STILE_INTERFACES_MAX];
	struct config config = run->config;
	struct apply_result applied;
	int error;

	choose_again(run, &config, room);
	error = apply_config(run->pins, &config, diag, &applied);
	if (error)
		return error;
	run->applied = applied;
	run_links_note(run);
	run_connections_recount(run);
	run_evict_load(run);
	run_proofs_load(run);
	(void)run_levels_step(run, true); /* the same */
	return 0;
}

bool run_reload(struct run *run, char **ret_text)
{
	char tables[RUN_TABLES_SIZE];
	struct timespec now;
	struct diag diag;
	bool ok;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	notify("RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
	       (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
	diag_init(&diag, "");
	ok = load_wanted(run, &diag) == 0;
	log_diag(&diag);
	if (ok) {
		run->counts.reloads_ok++;
		run_backlog_load(run);
		run_log_applied(run);
		log_info("reloaded: generation %" PRIu64 ", bucket tables: %s",
			 run->applied.generation, run_tables_text(&run->applied, tables));
	} else {
		run->counts.reloads_failed++;
		log_error("reload refused: nothing was changed");
	}
	run->counts.last_reload_ok = ok;
	*ret_text = run_describe_reload(run, &diag, ok);
	diag_release(&diag);
	run_tell_manager(run);
	return ok;
}

static void on_stop(evutil_socket_t signal, short what, void *context)
{
	struct run *run = context;

	(void)what; /* a signal is all it can be */
	log_info("%s: stopping", strsignal((int)signal));
	(void)event_base_loopbreak(run->base); /* fails only without a base */
}

static void on_hangup(evutil_socket_t signal, short what, void *context)
{
	autofree char *text = NULL;

	(void)signal;
	(void)what;
	(void)run_reload(context, &text); /* the log has it; nobody waits for an answer */
}

static void on_tick(evutil_socket_t fd, short what, void *context)
{
	struct run *run = context;
	int result;

	(void)fd;
	(void)what;
	run_user_watch();
	run_backlog_watch(run);
	run_links_retry(run);
	run_connections_tick(run);
	run_evict_second(run);
	result = apply_heartbeat(run->pins);
	if (result >= 0)
		result = lists_expire(run->pins);
	if (result >= 0)
		result = run_levels_step(run, false);
	if (result >= 0)
		result = apply_sweep(run->pins, &run->cookies);
	/* Not at once: reloads may be waiting that were asked for before. */
	run->detached = run->detached || (result == -ENOENT && run->lists_error == -ENOENT);
	if (result >= 0 || result == run->lists_error)
		return;
	run->lists_error = result;
	if (result == -ENOENT)
		run_log_gone(run);
	else
		log_warning("look after what is in force: %s", strerror(-result));
}

/* The manager ends a service that has not said for a while that it lives. */
static void on_watchdog(evutil_socket_t fd, short what, void *context)
{
	(void)fd;
	(void)what;
	(void)context;
	notify("WATCHDOG=1");
}

/* Twice in the time that the manager waits; never where it does not. */
static bool add_watchdog(struct event *event)
{
	struct timeval half;
	uint64_t usec;

	if (sd_watchdog_enabled(0, &usec) <= 0)
		return true;
	half.tv_sec = (time_t)(usec / 2 / 1000000);
	half.tv_usec = (suseconds_t)(usec / 2 % 1000000);
	return event_add(event, &half) == 0;
}

static bool add_events(struct run *run, struct event *events[RUN_EVENTS])
{
	const struct timeval second = { .tv_sec = 1 };

	events[RUN_TERM] = evsignal_new(run->base, SIGTERM, on_stop, run);
	events[RUN_INT] = evsignal_new(run->base, SIGINT, on_stop, run);
	events[RUN_HUP] = evsignal_new(run->base, SIGHUP, on_hangup, run);
	events[RUN_TICK] = event_new(run->base, -1, EV_PERSIST, on_tick, run);
	events[RUN_WATCHDOG] = event_new(run->base, -1, EV_PERSIST, on_watchdog, NULL);
	for (size_t i = 0; i < RUN_WATCHDOG; i++) {
		if (!events[i] || event_add(events[i], i == RUN_TICK ? &second : NULL) < 0)
			return false;
	}
	return events[RUN_WATCHDOG] && add_watchdog(events[RUN_WATCHDOG]);
}

static int start(struct run *run)
{
	char tables[RUN_TABLES_SIZE];
	struct diag diag;
	int error;

	syncookies_look(&run->cookies); /* before any handshake that is counted */
	diag_init(&diag, "");
	error = run_load(run, &diag);
	log_diag(&diag);
	diag_release(&diag);
	if (error) {
		log_error("not started, and nothing was changed: %s",
			  error == -EINVAL ? "mistakes in the configuration" : strerror(-error));
		return error;
	}
	if (!run->source.from_file)
		log_info("no " STILE_CONFIG_PATH ": safe defaults, 500 connections a second and "
			 "client on every TCP port");
	run_log_applied(run);
	log_info("stile " STILE_VERSION ": generation %" PRIu64 ", bucket tables: %s",
		 run->applied.generation, run_tables_text(&run->applied, tables));
	if (run->http)
		log_info("metrics on %s port %u", run->config.metrics_host, http_port(run->http));
	run->counts.last_reload_ok = true;
	error = run_user_become(run);
	if (error)
		return error;
	run_backlog_load(run);
	run_tell_manager(run);
	return 0;
}

static int stop(struct run *run)
{
	struct run_servers servers = { run->http, run->control, run->agents };
	int error;

	notify("STOPPING=1");
	run_servers_free(&servers);
	if (access(run->control_path, F_OK) == 0)
		log_warning("control: '%s' stays: the daemon's user may not remove it",
			    run->control_path);
	if (run->config.keep_on_stop) {
		log_info("stopped: protection stays in place (on_stop: keep)");
		return COMMAND_DONE;
	}
	error = apply_detach(run->pins);
	if (error) {
		log_error("detach: %s", strerror(-error));
		return COMMAND_FAILED;
	}
	log_info("stopped: nothing is attached any more");
	return COMMAND_DONE;
}

static int serve(struct run *run)
{
	struct event *events[RUN_EVENTS] = {};
	int result = COMMAND_FAILED;

	run->base = event_base_new();
	if (!run->base || !add_events(run, events))
		log_error("event loop: %s", strerror(ENOMEM));
	else if (start(run) == 0) {
		run_links_follow(run);
		if (event_base_dispatch(run->base) < 0)
			log_error("event loop: %s", strerror(errno));
		result = stop(run);
	}
	for (size_t i = 0; i < RUN_EVENTS; i++) {
		if (events[i])
			event_free(events[i]);
	}
	run_links_free(run);
	run_backlog_free(run);
	run_evict_free(run);
	run_proofs_free(run);
	run_shedding_free(run);
	if (run->base)
		event_base_free(run->base);
	config_release(&run->config);
	free(run->levels);
	return result;
}

static int run_alone(struct run *run)
{
	const char *path = run->pins->pid;
	pid_t other = 0;
	int fd, result;

	fd = pidfile_take(path, &other);
	if (fd == -EBUSY && other == 0)
		return command_failed("another daemon runs already: it has only just started");
	if (fd == -EBUSY)
		return command_failed("another daemon runs already, process %ld", (long)other);
	if (fd == -EACCES || fd == -EPERM)
		return command_failed("%s: %s: it takes root", path, strerror(-fd));
	if (fd < 0)
		return command_failed("%s: %s: its folder must be there, and writable", path,
				      strerror(-fd));
	result = serve(run);
	pidfile_remove(path, fd);
	return result;
}

static int add_interface(const struct command *command, struct run_source *source, const char *name)
{
	if (*name == '\0' || strlen(name) >= sizeof(((struct stile_interface *)NULL)->name))
		return command_usage(command, "interface '%s': expected 1 to 15 characters", name);
	if (source->n_interfaces == STILE_INTERFACES_MAX)
		return command_usage(command, "more than %d interfaces", STILE_INTERFACES_MAX);
	for (unsigned int i = 0; i < source->n_interfaces; i++) {
		if (strcmp(source->interfaces[i], name) == 0)
			return COMMAND_DONE;
	}
	source->interfaces[source->n_interfaces++] = name;
	return COMMAND_DONE;
}

static void log_libbpf(const char *line)
{
	log_debug("%s", line);
}

int cmd_run(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "interface", required_argument, NULL, 'i' },
		{ NULL, 0, NULL, 0 },
	};
	struct run run = { .pins = pins, .links.fd = -1 };
	int option, result;

	while ((option = getopt_long(argc, argv, ":c:i:", options, NULL)) != -1) {
		result = COMMAND_DONE;
		if (option == 'c')
			run.source.path = optarg;
		else if (option == 'i')
			result = add_interface(command, &run.source, optarg);
		else
			result = command_bad_option(command, option, argv);
		if (result != COMMAND_DONE)
			return result;
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	if (run.source.path && !*run.source.path)
		return command_usage(command, "config '': expected the path of a file");
	(void)signal(SIGPIPE, SIG_IGN); /* a client that hangs up is no reason to end */
	loader_messages(log_libbpf);
	return run_alone(&run);
}
