/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of policy_compile() share, in the order they run. Each writes its part of the
 * policy and reports every mistake it finds; only memory that runs out stops it.
 */
#ifndef STILE_POLICY_BUILD_H
#define STILE_POLICY_BUILD_H

#include "names.h"
#include "policy.h"

/* Where a limiter is named for a protocol first. */
struct policy_use {
	bool used;
	struct place place;
};

struct policy_build {
	const struct config *config;
	const struct stile_policy *previous; /* all zero where there is none */
	const struct policy_machine *machine;
	struct diag *diag;
	struct policy *policy;
	/* By the order of the configuration: slots, and uses. */
	uint16_t interfaces[STILE_INTERFACES_MAX];
	uint16_t limiters[STILE_LIMITERS_MAX];
	uint16_t listeners[STILE_LISTENERS_MAX];
	struct policy_use uses[STILE_LIMITERS_MAX][_STILE_PROTOCOL_MAX];
	bool attachments_full; /* reported already */
};

/* Gives every name its slot, and writes the names there. False: there are too many, reported. */
bool policy_build_slots(struct policy_build *build);

/* What every limiter is. */
void policy_build_limiters(struct policy_build *build);

/* Which limiters judge where: listeners, their sources, interfaces. 0 or -ENOMEM. */
int policy_build_judges(struct policy_build *build);

/* Puts @attachment, of a listener and its @limiter for new sources, behind the others. */
void policy_build_new_sources(struct policy_build *build, size_t listener, size_t limiter,
			      uint16_t attachment);

/* Warns of limiters that an event is charged to more than once. */
void policy_warn_repeats(struct policy_build *build);

/* What only limiters of concurrency have (policy_places.c): of the limiter @index, and of all. */
void policy_build_places(struct policy_build *build, size_t index);
void policy_place_listeners(struct policy_build *build);

/* The secret that finds sessions and handshakes, where there is none yet. */
void policy_build_flow_keys(struct policy_build *build);

/* Where sessions are counted, and what that takes (policy_sessions.c). */
void policy_build_sessions(struct policy_build *build);

/* From when on accept queues are watched (policy_queue.c). */
void policy_build_queues(struct policy_build *build);

/*
 * Where connections are counted, and whose each slot is (policy_connections.c). A serial is a
 * number that was given to nothing else since protection began.
 */
void policy_build_connections(struct policy_build *build);
uint32_t policy_next_serial(struct policy_build *build);

/* Where sources are proven (policy_prove.c). */
void policy_build_proofs(struct policy_build *build);

/* What clients on TCP are told in their own language (policy_answers.c). 0 or -ENOMEM. */
int policy_build_answers(struct policy_build *build);

/* What clients on UDP are told in their own language (policy_languages.c). 0 or -ENOMEM. */
int policy_build_datagrams(struct policy_build *build);

/* Which listener stands at which address and port. 0 or -ENOMEM. */
int policy_build_ports(struct policy_build *build);

/* Where listeners answer agent-checks: each needs an address of its own. */
void policy_check_agents(struct policy_build *build);

/* Warns of listeners that stand nowhere. */
void policy_warn_shadows(struct policy_build *build);

/* The trusted and the blocked list. 0 or -ENOMEM. */
int policy_build_lists(struct policy_build *build);

/*
 * The attachment of a limiter and a listener (slots), which is made where it is not there yet. 0
 * where there is no room, which is reported at @place.
 */
uint16_t policy_build_attachment(struct policy_build *build, struct stile_attachment pair,
				 struct place place);

/* A place among others that hold the same kind of prefix, so that they can be sorted. */
struct policy_prefix {
	const struct config_prefix *prefix;
	size_t index; /* in the configuration's list */
};

/* Sorts by prefix, and what is the same as in the file. */
void policy_prefixes_sort(struct policy_prefix *prefixes, size_t n_prefixes);
bool policy_prefix_is_same(const struct prefix *a, const struct prefix *b);

/* Pages of ports, each different one once (policy_pages.c). */
struct policy_pages;
int policy_pages_create(struct policy_pages **ret_pages);
void policy_pages_free(struct policy_pages *pages);
/* The index of the page with these listener slots. -ENOSPC where there are too many different. */
int policy_pages_find(struct policy_pages *pages, const uint16_t listener[STILE_PORTS_PER_PAGE],
		      uint16_t *ret_index);
/* The pages; the caller's from then on. */
struct stile_page *policy_pages_take(struct policy_pages *pages, size_t *ret_n_pages);

#endif /* STILE_POLICY_BUILD_H */
