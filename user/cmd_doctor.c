/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stile doctor: what this kernel, its drivers and a configuration can and cannot do. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_check.h"
#include "doctor.h"
#include "policy.h"
#include "reading.h"
#include "review.h"
#include "sockdiag.h"
#include "util.h"

#define INTERFACES_MAX STILE_INTERFACES_MAX
#define NAMESPACES_MAX 256
#define NS_PER_S 1000000000ULL

struct visit {
	struct doctor *doctor;
	const char *path; /* of the configuration; NULL: the usual one, if it is there */
	struct netif_name interfaces[INTERFACES_MAX];
	size_t n_interfaces;
	long long somaxconn;
	const struct config *config;	 /* NULL: it has mistakes */
	const struct snapshot *snapshot; /* NULL: nothing is pinned */
};

/* Of listener @listener, the port of @socket? */
static bool covers(const struct config_listener *listener, const struct sockdiag_socket *socket)
{
	bool port = listener->n_ports == 0;

	if (listener->protocol != STILE_PROTOCOL_TCP)
		return false;
	for (size_t i = 0; i < listener->n_ports; i++)
		port |= listener->ports[i].first <= socket->local_port &&
			socket->local_port <= listener->ports[i].last;
	return port;
}

static void on_socket(const struct sockdiag_socket *socket, void *context)
{
	const struct visit *visit = context;
	struct doctor_service service = { .queued = socket->queued, .backlog = socket->room };
	struct prefix prefix = { .bits = 128 };
	char address[PREFIX_TEXT_SIZE];

	memcpy(prefix.address, socket->local, sizeof(prefix.address));
	for (size_t i = 0; i < visit->config->n_listeners; i++) {
		const struct config_listener *listener = &visit->config->listeners[i];

		if (!covers(listener, socket))
			continue;
		snprintf(service.listener, sizeof(service.listener), "%s", listener->name.text);
		snprintf(service.local, sizeof(service.local), "%s port %u",
			 prefix_format(&prefix, address), socket->local_port);
		doctor_judge_service(&service, visit->somaxconn, visit->doctor);
		return;
	}
}

static void visit_services(struct visit *visit)
{
	const struct sockdiag_query query = { .states = 1U << SOCKDIAG_LISTEN };
	struct sockdiag *diag;
	int error = sockdiag_open(&diag);

	doctor_about(visit->doctor, "services");
	if (error == 0) {
		error = sockdiag_each(diag, &query, on_socket, visit);
		sockdiag_close(diag);
	}
	if (error)
		doctor_say(visit->doctor, DOCTOR_UNKNOWN, NULL, "who listens cannot be told: %s",
			   strerror(-error));
}

static void add_interface(struct visit *visit, const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < visit->n_interfaces; i++) {
		if (strcmp(visit->interfaces[i].text, name) == 0)
			return;
	}
	if (visit->n_interfaces < INTERFACES_MAX && length < NETIF_NAME_SIZE)
		memcpy(visit->interfaces[visit->n_interfaces++].text, name, length + 1);
}

/* Where nobody says which: those of the configuration, else those with a default route. */
static void choose_interfaces(struct visit *visit)
{
	const size_t n_config = visit->config && !visit->n_interfaces ? visit->config->n_interfaces
								      : 0;
	int n;

	for (size_t i = 0; i < n_config; i++)
		add_interface(visit, visit->config->interfaces[i].name.text);
	if (visit->n_interfaces > 0)
		return;
	doctor_about(visit->doctor, "interfaces");
	n = netif_default_routes(visit->interfaces, INTERFACES_MAX);
	if (n <= 0)
		doctor_say(visit->doctor, DOCTOR_WARNING,
			   "name the one to protect: 'interfaces' in the configuration, or -i",
			   "none carries a default route");
	else
		visit->n_interfaces = (size_t)n;
}

static uint32_t own_program(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; snapshot && i < STILE_INTERFACES_MAX; i++) {
		if (strcmp(snapshot->policy.interfaces[i].name, name) == 0 &&
		    snapshot->interfaces[i].attached)
			return snapshot->interfaces[i].program;
	}
	return 0;
}

static void visit_interfaces(struct visit *visit)
{
	struct doctor_interface interface;

	choose_interfaces(visit);
	for (size_t i = 0; i < visit->n_interfaces; i++) {
		const char *name = visit->interfaces[i].text;

		doctor_look_interface(name, own_program(visit->snapshot, name), &interface);
		doctor_judge_interface(&interface, visit->doctor);
	}
}

static void visit_namespaces(struct visit *visit)
{
	struct doctor_namespace namespaces[NAMESPACES_MAX];
	size_t hidden, n = doctor_look_namespaces(namespaces, NAMESPACES_MAX, &hidden);

	doctor_judge_namespaces(namespaces, n, hidden, visit->doctor);
}

static void visit_silence(struct visit *visit, const struct pins *pins)
{
	const struct snapshot *snapshot = visit->snapshot;

	if (snapshot->silence > 3 * NS_PER_S)
		doctor_say(visit->doctor, DOCTOR_WARNING,
			   snapshot_is_unattended(snapshot)
				   ? "start 'stile run': the watchdog has ended protection"
				   : "protection goes on; 'stile run' takes it over",
			   "its daemon was not heard of for %.0f s",
			   (double)snapshot->silence / (double)NS_PER_S);
	else
		doctor_say(visit->doctor, DOCTOR_OK, NULL,
			   "instance %s protects, and its daemon lives", reading_instance(pins));
}

static void visit_instance(struct visit *visit, const struct pins *pins, int error)
{
	const struct snapshot *snapshot = visit->snapshot;
	uint64_t bytes = 0;

	doctor_about(visit->doctor, "instance");
	if (!snapshot && error != -ENOENT) {
		doctor_say(visit->doctor, DOCTOR_UNKNOWN, "run it as root",
			   "what is pinned cannot be read: %s", strerror(-error));
		return;
	}
	if (!snapshot) {
		doctor_say(visit->doctor, DOCTOR_OK, NULL, "nothing is attached by instance %s",
			   reading_instance(pins));
		return;
	}
	visit_silence(visit, pins);
	for (size_t i = 0; i < STILE_LIMITERS_MAX; i++)
		bytes += policy_table_bytes(&snapshot->policy.limiters[i]);
	doctor_about(visit->doctor, "memory");
	doctor_say(visit->doctor, DOCTOR_OK, NULL, "the tables of clients take %.1f MiB",
		   (double)bytes / (1 << 20));
}

/* What can only be told of a configuration without mistakes. */
static void visit_parts(struct visit *visit, const struct pins *pins, int error)
{
	visit_instance(visit, pins, error);
	visit_interfaces(visit);
	if (visit->config)
		visit_services(visit);
	visit_namespaces(visit);
}

static int read_config(const char *path, struct diag *diag, struct config *ret_config)
{
	if (!path && access(STILE_CONFIG_PATH, F_OK) < 0 && errno == ENOENT) {
		diag_init(diag, "the safe defaults");
		return config_default(ret_config);
	}
	diag_init(diag, path ? path : STILE_CONFIG_PATH);
	return review_read(path ? path : STILE_CONFIG_PATH, diag, ret_config);
}

static void visit_config(struct visit *visit, const struct pins *pins, int error)
{
	struct policy policy;
	struct config config;
	struct diag diag;
	bool read = read_config(visit->path, &diag, &config) == 0;

	if (read && review_compile(&config, &diag, &policy) == 0) {
		review_warn(&config, &diag);
		check_host(&config, &policy, &diag);
		policy_release(&policy);
		visit->config = &config;
	}
	doctor_judge_config(&diag, visit->doctor);
	visit_parts(visit, pins, error);
	if (read)
		config_release(&config);
	diag_release(&diag);
}

static json_t *finding_json(const struct doctor_finding *finding)
{
	return json_pack("{s:s, s:s, s:s, s:s?}", "grade", doctor_grade_names[finding->grade],
			 "subject", finding->subject, "found", finding->found, "advice",
			 *finding->advice ? finding->advice : NULL);
}

static int print_json(const struct doctor *doctor)
{
	json_t *findings = json_array();

	for (size_t i = 0; i < doctor->n && findings; i++)
		reading_append(&findings, finding_json(&doctor->findings[i]));
	return reading_print_json(
		findings ? json_pack("{s:o, s:I, s:I}", "findings", findings, "faults",
				     (json_int_t)doctor_count(doctor, DOCTOR_FAULT), "warnings",
				     (json_int_t)doctor_count(doctor, DOCTOR_WARNING))
			 : NULL);
}

static int print_text(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->n; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		printf("%-7s  %-16s  %s\n", doctor_grade_names[finding->grade], finding->subject,
		       finding->found);
		if (*finding->advice)
			printf("%27s-> %s\n", "", finding->advice);
	}
	printf("%zu fault%s, %zu warning%s\n", doctor_count(doctor, DOCTOR_FAULT),
	       doctor_count(doctor, DOCTOR_FAULT) == 1 ? "" : "s",
	       doctor_count(doctor, DOCTOR_WARNING),
	       doctor_count(doctor, DOCTOR_WARNING) == 1 ? "" : "s");
	return COMMAND_DONE;
}

static int visit_all(struct visit *visit, const struct pins *pins, bool json)
{
	autosnapshot struct snapshot *snapshot = NULL;
	struct doctor_kernel kernel;
	int error = snapshot_take(pins, &snapshot), code;

	visit->snapshot = error ? NULL : snapshot;
	doctor_look_kernel(&kernel);
	doctor_judge_kernel(&kernel, visit->doctor);
	visit->somaxconn = kernel.somaxconn;
	visit_config(visit, pins, error);
	if (visit->doctor->failed)
		return command_failed("doctor: %s", strerror(ENOMEM));
	code = json ? print_json(visit->doctor) : print_text(visit->doctor);
	return code == COMMAND_DONE && doctor_count(visit->doctor, DOCTOR_FAULT) ? COMMAND_FAILED
										 : code;
}

int cmd_doctor(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "interface", required_argument, NULL, 'i' },
		{ "json", no_argument, NULL, 'j' },
		{},
	};
	struct doctor doctor = { 0 };
	struct visit visit = { .doctor = &doctor };
	bool json = false;
	int option, code;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:i:", options, NULL)) != -1) {
		if (option == 'c')
			visit.path = optarg;
		else if (option == 'i' && strlen(optarg) >= NETIF_NAME_SIZE)
			return command_usage(command,
					     "interface '%s': expected a name of at most "
					     "15 characters",
					     optarg);
		else if (option == 'i')
			add_interface(&visit, optarg);
		else if (option == 'j')
			json = true;
		else
			return command_bad_option(command, option, argv);
	}
	if (optind < argc)
		return command_too_many(command, argv[optind]);
	code = visit_all(&visit, pins, json);
	doctor_release(&doctor);
	return code;
}
