/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the daemon listens on: the metrics port and the control socket, and what they answer. */
#include <errno.h>
#include <string.h>

#include "cmd_run.h"
#include "cmd_run_service.h"
#include "control.h"
#include "http.h"
#include "snapshot.h"
#include "util.h"

static const struct place nowhere = { 0, 0 };

static bool take_snapshot(const struct run *run, FILE *out, struct snapshot **ret_snapshot)
{
	int error = snapshot_take(run->pins, ret_snapshot);

	if (error == -ENOENT)
		fputs("nothing is attached: protection was taken out of the kernel\n", out);
	else if (error)
		fprintf(out, "read the kernel's maps: %s\n", strerror(-error));
	return error == 0;
}

/* What is to be attached, and is not. */
static struct snapshot *snapshot_of_nothing(const struct run *run)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	for (size_t i = 0; snapshot && i < run->applied.n_interfaces; i++) {
		const struct apply_interface *interface = &run->applied.interfaces[i];

		memcpy(snapshot->policy.interfaces[i].name, interface->name,
		       sizeof(interface->name));
		snapshot->interfaces[i].mode = interface->mode;
	}
	return snapshot;
}

static bool write_metrics(FILE *out, void *context)
{
	const struct run *run = context;
	struct snapshot *snapshot;

	if (run_is_detached(run))
		snapshot = snapshot_of_nothing(run);
	else if (!take_snapshot(run, out, &snapshot))
		return false;
	if (!snapshot)
		return false;
	metrics_render(snapshot, &run->counts, out);
	snapshot_free(snapshot);
	return true;
}

static bool write_health(FILE *out, void *context)
{
	const struct run *run = context;
	struct snapshot *snapshot;
	bool healthy = true;

	if (!take_snapshot(run, out, &snapshot))
		return false;
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		const char *name = snapshot->policy.interfaces[slot].name;

		if (*name && !snapshot->interfaces[slot].attached) {
			fprintf(out, "not attached to '%s', which should be protected\n", name);
			healthy = false;
		}
	}
	if (healthy)
		fputs("ok\n", out);
	snapshot_free(snapshot);
	return healthy;
}

static enum http_found write_level(const struct http_level *asked, FILE *out,
				   unsigned int *ret_wait, void *context)
{
	return run_level_write(context, asked, out, ret_wait);
}

static bool handle_request(const char *request, char **ret_text, void *context)
{
	struct run *run = context;

	if (strcmp(request, "reload") == 0)
		return run_reload(run, ret_text);
	if (strcmp(request, "detached") == 0) {
		run->detached = run_is_detached(run);
		return true;
	}
	if (asprintf(ret_text, "unknown request '%s', expected 'reload'\n", request) < 0)
		*ret_text = NULL; /* undefined after a failure */
	return false;
}

static int listen_http(struct run *run, const struct config *config, struct http **ret_http)
{
	const struct http_pages pages = {
		.metrics = write_metrics,
		.healthz = write_health,
		.level = write_level,
		.context = run,
	};

	return http_listen(run->base, config->metrics_host, config->metrics_port, &pages, ret_http);
}

static bool same_listen(const struct config *one, const struct config *other)
{
	if (!one->metrics_host || !other->metrics_host)
		return one->metrics_host == other->metrics_host;
	return strcmp(one->metrics_host, other->metrics_host) == 0 &&
	       one->metrics_port == other->metrics_port;
}

static int bind_http(struct run *run, const struct config *next, struct diag *diag,
		     struct http **ret_http)
{
	int error;

	if (!next->metrics_host || (run->http && same_listen(&run->config, next)))
		return 0;
	error = listen_http(run, next, ret_http);
	if (error == -EADDRINUSE && run->http && run->config.metrics_port == next->metrics_port)
		return 0; /* by ourselves, at another address: adopted after that one is closed */
	if (error)
		diag_error(diag, nowhere, "metrics: listen on '%s' port %u: %s", next->metrics_host,
			   next->metrics_port, strerror(-error));
	return error;
}

static const char *control_path(const struct run *run, const struct config *config)
{
	return config->control ? config->control : run->pins->control;
}

/* A group that is named may ask too. */
static int share_control(const struct config *config, const struct control *control,
			 struct diag *diag)
{
	const struct config_name *group = &config->control_group;
	gid_t gid;
	int error;

	if (!*group->text)
		return 0;
	error = privilege_find_group(group->text, &gid);
	if (error == 0)
		error = control_share(control, gid);
	if (error)
		diag_error(diag, group->place, "control_group: give the socket to '%s': %s",
			   group->text, strerror(-error));
	return error;
}

/* What a reload says of the group is for the next start. */
static void warn_group(const struct config_name *was, const struct config_name *next,
		       struct diag *diag)
{
	gid_t gid;

	if (*next->text && privilege_find_group(next->text, &gid) < 0)
		diag_warning(diag, next->place,
			     "control_group: there is no group '%s': the next start will be "
			     "refused",
			     next->text);
	else if (strcmp(next->text, was->text) != 0)
		diag_warning(diag, next->place,
			     "control_group: the socket changes hands at the next start");
}

/* A reload may have been asked for by this very socket, so it stays as it is until the end. */
static int bind_control(struct run *run, const struct config *next, struct diag *diag,
			struct control **ret_control)
{
	const char *path = control_path(run, next);
	int error;

	if (run->control) {
		if (strcmp(path, run->control_path) != 0)
			diag_warning(diag, nowhere,
				     "control: the socket moves to '%s' at the next start", path);
		warn_group(&run->config.control_group, &next->control_group, diag);
		return 0;
	}
	error = control_listen(run->base, path, handle_request, run, ret_control);
	if (error) {
		diag_error(diag, nowhere, "control: listen on '%s': %s", path, strerror(-error));
		return error;
	}
	return share_control(next, *ret_control, diag);
}

int run_servers_bind(struct run *run, const struct config *next, struct diag *diag,
		     struct run_servers *ret_servers)
{
	struct run_servers servers = {};
	int error;

	error = bind_http(run, next, diag, &servers.http);
	if (error == 0)
		error = run_agents_bind(run, next, diag, &servers.agents);
	if (error == 0)
		error = bind_control(run, next, diag, &servers.control);
	if (error) {
		run_servers_free(&servers);
		return error;
	}
	*ret_servers = servers;
	return 0;
}

void run_servers_free(struct run_servers *servers)
{
	if (servers->http)
		http_free(servers->http);
	if (servers->control)
		control_free(servers->control);
	run_agents_free(servers->agents);
	*servers = (struct run_servers){};
}

static void adopt_http(struct run *run, const struct config *next, struct http *http,
		       struct diag *diag)
{
	int error;

	if (run->http && same_listen(&run->config, next))
		return;
	if (run->http)
		http_free(run->http);
	run->http = http;
	if (http || !next->metrics_host)
		return;
	error = listen_http(run, next, &run->http);
	if (error)
		diag_warning(diag, nowhere, "metrics: listen on '%s' port %u: %s: no metrics",
			     next->metrics_host, next->metrics_port, strerror(-error));
}

void run_servers_adopt(struct run *run, const struct config *next, struct run_servers *servers,
		       struct diag *diag)
{
	adopt_http(run, next, servers->http, diag);
	run_agents_adopt(run, next, servers->agents, diag);
	if (servers->control) {
		run->control = servers->control;
		snprintf(run->control_path, sizeof(run->control_path), "%s",
			 control_path(run, next));
	}
	*servers = (struct run_servers){};
}
