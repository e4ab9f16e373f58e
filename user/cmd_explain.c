/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stile explain: what would become of a client now, rule by rule. A listener is explained once for
 * all interfaces that bring the same limiter with them.
 */
#include <getopt.h>
#include <string.h>

#include "explain_print.h"
#include "explain_where.h"
#include "names.h"
#include "reading.h"
#include "util.h"

struct request {
	const char *address, *listener, *interface; /* NULL: every one */
	struct explain_where where;
	bool json;
};

struct explanation {
	const struct pins *pins;
	const struct snapshot *snapshot;
	struct snapshot_event event; /* listener and interface where they were named */
	bool one_interface;
	const struct explain_where *where;
	bool at[STILE_LISTENERS_MAX]; /* the listeners that are explained */
	json_t **json;		      /* NULL: as text */
};

static int parse_option(const struct command *command, int option, char **argv,
			struct request *request)
{
	switch (option) {
	case 'l':
		request->listener = optarg;
		return COMMAND_DONE;
	case 'i':
		request->interface = optarg;
		return COMMAND_DONE;
	case 'j':
		request->json = true;
		return COMMAND_DONE;
	case 'p':
		if (explain_where_parse(optarg, &request->where))
			return COMMAND_DONE;
		return command_usage(command,
				     "port '%s': expected a port such as 443, tcp/443 or udp/53",
				     optarg);
	case 't':
		request->where.to_one = true;
		if (prefix_parse_address(optarg, request->where.address) == 0)
			return COMMAND_DONE;
		return command_usage(command, "to '%s': expected an address of this host", optarg);
	default:
		return command_bad_option(command, option, argv);
	}
}

/* Whether packets that come in there are asked about. */
static bool concerns(const struct explanation *explanation, uint32_t interface)
{
	if (explanation->one_interface)
		return interface == explanation->event.interface;
	return *explanation->snapshot->policy.interfaces[interface].name;
}

/* The interfaces from @first on that bring the same limiter with them as it does. */
static uint32_t interfaces_like(const struct explanation *explanation, uint32_t listener,
				uint32_t first)
{
	const uint16_t *edges = explanation->snapshot->policy.listeners[listener].edges;
	uint32_t like = 0;

	for (uint32_t i = first; i < STILE_INTERFACES_MAX; i++) {
		if (concerns(explanation, i) && edges[i] == edges[first])
			like |= 1U << i;
	}
	return like;
}

static int explain_one(const struct explanation *explanation, uint32_t listener, uint32_t interface,
		       uint32_t interfaces)
{
	struct explain_subject subject = { explanation->snapshot, explanation->event.address,
					   listener, interfaces, 0 };
	struct snapshot_event event = explanation->event;
	struct snapshot_verdict verdict;
	int r;

	event.listener = listener;
	event.interface = interface;
	r = snapshot_held(explanation->pins, explanation->snapshot, &event, &subject.open);
	if (r == 0)
		r = snapshot_explain(explanation->pins, explanation->snapshot, &event, &verdict);
	if (r < 0)
		return reading_failed(explanation->pins, r);
	if (explanation->json) {
		reading_append(explanation->json, explain_json(&subject, &verdict));
		return COMMAND_DONE;
	}
	r = explain_print(&subject, &verdict, stdout);
	return r < 0 ? command_failed("explain: %s", strerror(-r)) : COMMAND_DONE;
}

static int explain_listener(const struct explanation *explanation, uint32_t listener)
{
	uint32_t done = 0;
	int r = COMMAND_DONE;

	for (uint32_t i = 0; r == COMMAND_DONE && i < STILE_INTERFACES_MAX; i++) {
		uint32_t like;

		if (!concerns(explanation, i) || done & 1U << i)
			continue;
		like = interfaces_like(explanation, listener, i);
		r = explain_one(explanation, listener, i, like);
		done |= like;
	}
	return r;
}

static int explain_all(const struct explanation *explanation)
{
	const struct stile_policy *policy = &explanation->snapshot->policy;
	int r = COMMAND_DONE;

	for (uint32_t i = 1; r == COMMAND_DONE && i < STILE_LISTENERS_MAX; i++) {
		if (explanation->at[i] && *policy->listeners[i].name)
			r = explain_listener(explanation, i);
	}
	return r;
}

/* Which listeners are asked about: the one that was named, those at a port, or all. */
static int choose(struct explanation *explanation)
{
	const struct explain_where *where = explanation->where;
	uint32_t one = explanation->event.listener;
	bool found = false;
	int r;

	for (uint32_t i = 1; i < STILE_LISTENERS_MAX; i++)
		explanation->at[i] = one == 0 || i == one;
	if (where->port == 0)
		return COMMAND_DONE;
	r = explain_where_find(explanation->pins, explanation->snapshot, where, explanation->at);
	if (r < 0)
		return reading_failed(explanation->pins, r);
	for (uint32_t i = 1; i < STILE_LISTENERS_MAX; i++)
		found |= explanation->at[i];
	if (!found)
		fprintf(stderr,
			"stile: no listener stands at %s port %u there: it passes, unless its "
			"source is blocked\n",
			policy_protocol_names[where->protocol], where->port);
	return COMMAND_DONE;
}

static int explain_json_all(struct explanation *explanation)
{
	char address[PREFIX_TEXT_SIZE];
	json_t *explanations = json_array();
	int r;

	explanation->json = &explanations;
	r = explain_all(explanation);
	explanation->json = NULL;
	if (r != COMMAND_DONE) {
		json_decref(explanations);
		return r;
	}
	prefix_format_address(explanation->event.address, address);
	return reading_print_json(
		json_pack("{ss, so}", "address", address, "explanations", explanations));
}

static int explain(const struct pins *pins, const struct request *request,
		   struct explanation *explanation)
{
	autosnapshot struct snapshot *snapshot = NULL;
	int r;

	r = reading_take(pins, &snapshot);
	if (r == COMMAND_DONE && request->listener)
		r = reading_listener(&snapshot->policy, request->listener,
				     &explanation->event.listener);
	if (r == COMMAND_DONE && request->interface)
		r = reading_interface(&snapshot->policy, request->interface,
				      &explanation->event.interface);
	if (r != COMMAND_DONE)
		return r;
	explanation->pins = pins;
	explanation->snapshot = snapshot;
	explanation->one_interface = request->interface;
	explanation->where = &request->where;
	r = choose(explanation);
	if (r != COMMAND_DONE)
		return r;
	return request->json ? explain_json_all(explanation) : explain_all(explanation);
}

int cmd_explain(const struct command *command, const struct pins *pins, int argc, char **argv)
{
	static const struct option options[] = {
		{ "listener", required_argument, NULL, 'l' },
		{ "interface", required_argument, NULL, 'i' },
		{ "port", required_argument, NULL, 'p' },
		{ "to", required_argument, NULL, 't' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	struct explanation explanation = { 0 };
	struct request request = { 0 };
	int option, r;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":i:", options, NULL)) != -1) {
		r = parse_option(command, option, argv, &request);
		if (r != COMMAND_DONE)
			return r;
	}
	if (request.where.to_one && !request.where.port)
		return command_usage(command, "--to needs --port");
	if (request.where.port && request.listener)
		return command_usage(command, "--port and --listener exclude each other");
	if (optind == argc)
		return command_usage(command, "whose address?");
	if (argc - optind > 1)
		return command_too_many(command, argv[optind + 1]);
	request.address = argv[optind];
	if (prefix_parse_address(request.address, explanation.event.address) < 0)
		return command_usage(command, "expected an address such as 192.0.2.1, got '%s'",
				     request.address);
	return explain(pins, &request, &explanation);
}
