/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program's counters, read and told as text: whatever moved is in it, expected or not. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "check.h"
#include "labels.h"
#include "prog.h"
#include "util.h"

static bool sum(const struct prog *prog, int map, uint32_t slot, uint64_t *ret_counters,
		size_t n_counters)
{
	autofree uint64_t *values = calloc(prog->n_cpus * n_counters, sizeof(*values));

	if (!values || bpf_map_lookup_elem(map, &slot, values) < 0)
		return false;
	memset(ret_counters, 0, n_counters * sizeof(*ret_counters));
	for (size_t i = 0; i < prog->n_cpus * n_counters; i++)
		ret_counters[i % n_counters] += values[i];
	return true;
}

#define SUM(prog, map, slot, counters)                                                             \
	sum(prog, map, slot, (uint64_t *)(counters), sizeof(counters) / sizeof(uint64_t))

static bool is_used(const struct stile_policy *policy, uint32_t attachment)
{
	return policy->attachments[attachment].limiter || attachment == 0;
}

bool prog_counts_read(const struct prog *prog, struct prog_counts *ret_counts)
{
	const struct stile_policy *policy = &prog->policy.kernel;
	int packets = prog_map(prog, "packets"), decisions = prog_map(prog, "decisions");
	int tables = prog_map(prog, "tables"), replies = prog_map(prog, "replies");
	bool good = SUM(prog, replies, 0, ret_counts->replies);

	for (uint32_t slot = 0; slot < STILE_INTERFACES_MAX; slot++)
		if (*policy->interfaces[slot].name || slot == 0)
			good &= SUM(prog, packets, slot, ret_counts->packets[slot]);
	for (uint32_t slot = 0; slot < STILE_ATTACHMENTS_MAX; slot++)
		if (is_used(policy, slot))
			good &= SUM(prog, decisions, slot, ret_counts->decisions[slot]);
	for (uint32_t slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		if (policy->limiters[slot].sets || slot == 0)
			good &= SUM(prog, tables, slot, ret_counts->tables[slot]);
	return CHECK("the counters can be read", good);
}

struct line {
	char *text;
	size_t size, length;
};

__attribute__((format(printf, 3, 4))) static void add(struct line *line, uint64_t moved,
						      const char *format, ...)
{
	va_list arguments;
	int n;

	if (moved == 0 || line->length >= line->size)
		return;
	if (line->length) {
		n = snprintf(line->text + line->length, line->size - line->length, " ");
		line->length += (size_t)n;
	}
	va_start(arguments, format);
	n = vsnprintf(line->text + line->length, line->size - line->length, format, arguments);
	va_end(arguments);
	line->length += (size_t)n;
	if (moved != 1 && line->length < line->size)
		line->length += (size_t)snprintf(line->text + line->length,
						 line->size - line->length, "*%" PRIu64, moved);
}

static void add_packets(struct line *line, const struct prog_counts *now,
			const struct prog_counts *before, const char *interface, size_t slot)
{
	for (size_t verdict = 0; verdict < _STILE_VERDICT_MAX; verdict++)
		for (size_t reason = 0; reason < _STILE_REASON_MAX; reason++)
			add(line,
			    now->packets[slot][verdict][reason] -
				    before->packets[slot][verdict][reason],
			    "%s%s%s %s", interface, *interface ? ": " : "", labels_verdict[verdict],
			    labels_reason[reason]);
}

/* Those of one limiter, listener by listener: limiters are told in the configuration's order. */
static void add_decisions(struct line *line, const struct prog *prog,
			  const struct prog_counts *before, uint32_t limiter)
{
	const struct stile_policy *policy = &prog->policy.kernel;

	for (uint32_t slot = 0; slot < STILE_ATTACHMENTS_MAX; slot++) {
		const struct stile_attachment *attachment = &policy->attachments[slot];

		if (attachment->limiter != limiter)
			continue;
		for (size_t decision = 0; decision < _STILE_DECISION_MAX; decision++)
			add(line,
			    prog->counts.decisions[slot][decision] -
				    before->decisions[slot][decision],
			    "%s/%s=%s", policy->listeners[attachment->listener].name,
			    policy->limiters[limiter].name, labels_decision[decision]);
	}
}

static void add_tables(struct line *line, const struct prog *prog, const struct prog_counts *before,
		       uint32_t slot)
{
	static const char *const what[] = { "evicted", "found no room" };

	for (size_t i = 0; i < ARRAY_SIZE(what); i++)
		add(line, prog->counts.tables[slot][i] - before->tables[slot][i], "(%s: %s)",
		    prog->policy.kernel.limiters[slot].name, what[i]);
}

void prog_counts_since(struct prog *prog, char *text, size_t size)
{
	const struct prog_counts before = prog->counts;
	struct line line = { .text = text, .size = size };
	struct stile_interface *interfaces = prog->policy.kernel.interfaces;

	text[0] = '\0';
	if (!prog_counts_read(prog, &prog->counts))
		return;
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++)
		add_packets(&line, &prog->counts, &before, interfaces[slot].name, slot);
	for (uint32_t slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		add_decisions(&line, prog, &before, slot);
	for (uint32_t slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		add_tables(&line, prog, &before, slot);
	for (size_t reply = 0; reply < _STILE_REPLY_MAX; reply++)
		add(&line, prog->counts.replies[reply] - before.replies[reply], "%s",
		    labels_reply[reply]);
}
