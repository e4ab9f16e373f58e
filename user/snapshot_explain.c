/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What would become of a client now, asked of the pinned maps in the order in which the kernel
 * side asks them (bpf/classify.h, bpf/charge.h), with its own code wherever that can be.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "../bpf/judge.h"
#include "snapshot.h"
#include "snapshot_explain_answer.h"
#include "snapshot_explain_new.h"
#include "snapshot_explain_places.h"
#include "snapshot_explain_queue.h"
#include "snapshot_maps.h"
#include "snapshot_table.h"
#include "util.h"

#define NESTED 8 /* as CLASSIFY_NESTED */

struct question {
	const struct pins *pins;
	const struct snapshot *snapshot;
	const struct snapshot_event *event;
};

static int open_map(const struct question *question, const struct snapshot_shape *shape)
{
	return snapshot_maps_open(question->pins, question->snapshot->policy.generation, shape);
}

static int read_control(const struct question *question, struct stile_control *ret_control)
{
	const struct snapshot_shape shape = { "control", 4, sizeof(*ret_control) };
	autofd int fd = open_map(question, &shape);
	uint32_t slot = 0;

	return fd < 0 ? fd : bpf_map_lookup_elem(fd, &slot, ret_control);
}

static void list_decides(const struct question *question, const struct stile_listed *entry,
			 struct snapshot_verdict *verdict)
{
	verdict->listed = true;
	verdict->prefix.bits = (uint8_t)entry->bits;
	memcpy(verdict->prefix.address, question->event->address, sizeof(verdict->prefix.address));
	prefix_mask(verdict->prefix.address, entry->bits);
	verdict->expires = entry->expires ? entry->expires - question->snapshot->now : 0;
}

/* 1: an entry of the list covers the address; 0: none does. What expired counts for nothing. */
static int look_up_list(const struct question *question, const char *name,
			struct snapshot_verdict *verdict)
{
	const struct snapshot_shape shape = { name, sizeof(struct stile_prefix),
					      sizeof(struct stile_listed) };
	autofd int fd = open_map(question, &shape);
	struct stile_prefix key = { .bits = 128 };
	struct stile_listed entry;

	if (fd < 0)
		return fd;
	memcpy(key.address, question->event->address, sizeof(key.address));
	for (int i = 0; i < NESTED; i++) {
		int r = bpf_map_lookup_elem(fd, &key, &entry);

		if (r < 0)
			return r == -ENOENT ? 0 : r;
		if (entry.expires == 0 || entry.expires > question->snapshot->now) {
			list_decides(question, &entry, verdict);
			return 1;
		}
		if (entry.bits == 0)
			return 0;
		key.bits = entry.bits - 1;
	}
	return 0;
}

/* The trie tells the entry's value, not its prefix; that is the longest one which covers it. */
static int find_source_prefix(const struct question *question, struct prefix *ret_prefix)
{
	autofree struct snapshot_source *sources = NULL;
	const struct prefix *longest = NULL;
	size_t n;
	int r;

	r = snapshot_read_sources(question->pins, question->snapshot, &sources, &n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		if (sources[i].listener != question->event->listener ||
		    !prefix_contains(&sources[i].prefix, question->event->address))
			continue;
		if (!longest || sources[i].prefix.bits > longest->bits)
			longest = &sources[i].prefix;
	}
	if (!longest)
		return -ESTALE;
	*ret_prefix = *longest;
	return 0;
}

/* 1: the listener has a policy of its own for the source, in @judges. */
static int look_up_source(const struct question *question, uint16_t judges[STILE_JUDGES_MAX],
			  struct snapshot_verdict *verdict)
{
	const struct snapshot_shape shape = { "sources", sizeof(struct stile_source_key),
					      sizeof(struct stile_source) };
	struct stile_source_key key = { .bits = 32 + 128, .listener = question->event->listener };
	autofd int fd = open_map(question, &shape);
	struct stile_source source;
	int r;

	if (fd < 0)
		return fd;
	memcpy(key.address, question->event->address, sizeof(key.address));
	r = bpf_map_lookup_elem(fd, &key, &source);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	memcpy(judges, source.judges, sizeof(source.judges));
	verdict->own_policy = true;
	r = find_source_prefix(question, &verdict->prefix);
	return r < 0 ? r : 1;
}

/* How often the limiter of @attachment is named before: to those it has to let in one more each. */
static uint32_t count_ahead(const struct snapshot_verdict *verdict, uint32_t limiter)
{
	uint32_t ahead = 0;

	for (unsigned int i = 0; i < verdict->n_judges; i++)
		ahead += verdict->judges[i].limiter == limiter;
	return ahead;
}

static enum stile_decision decide(const struct stile_limiter *limiter,
				  enum snapshot_table_found found,
				  const struct snapshot_client *client)
{
	if (found == SNAPSHOT_TABLE_FULL)
		return STILE_DECISION_FULL;
	if (client->wait == 0 && !client->never)
		return STILE_DECISION_ALLOWED;
	return limiter->action == STILE_ACTION_COUNT ? STILE_DECISION_COUNTED
						     : STILE_DECISION_LIMITED;
}

/* What the limiter says, whatever others say. */
static int judge(const struct question *question, uint32_t attachment,
		 struct snapshot_verdict *verdict)
{
	const struct stile_policy *policy = &question->snapshot->policy;
	uint32_t slot = policy->attachments[attachment].limiter;
	const struct stile_limiter *limiter = &policy->limiters[slot];
	struct snapshot_judgement judgement = {
		.attachment = attachment,
		.limiter = slot,
		.ahead = count_ahead(verdict, slot),
	};
	struct snapshot_table_view view = {
		.policy = policy,
		.slot = slot,
		.now = question->snapshot->now,
		.ahead = judgement.ahead,
	};
	enum snapshot_table_found found;
	struct snapshot_table table;
	int r;

	r = snapshot_maps_table(question->pins, policy->generation, limiter, &table);
	if (r < 0)
		return r;
	view.sets = table.sets;
	found = snapshot_table_find(&view, question->event->address, &judgement.client);
	snapshot_maps_table_release(&table);
	judgement.known = found == SNAPSHOT_TABLE_KNOWN;
	judgement.decision = decide(limiter, found, &judgement.client);
	verdict->judges[verdict->n_judges++] = judgement;
	return 0;
}

/* The interface's limiter, and then the listener's or the source's. */
static int judge_all(const struct question *question, const uint16_t judges[STILE_JUDGES_MAX],
		     struct snapshot_verdict *verdict)
{
	const struct stile_policy *policy = &question->snapshot->policy;
	const struct stile_listener *listener = &policy->listeners[question->event->listener];
	uint16_t edge = listener->edges[question->event->interface];
	int r = 0;

	if (edge)
		r = judge(question, edge, verdict);
	for (int i = 0; r == 0 && i < STILE_JUDGES_MAX && judges[i]; i++)
		if (!policy->attachments[judges[i]].new_sources ||
		    snapshot_explain_is_new(policy, verdict, edge != 0))
			r = judge(question, judges[i], verdict);
	return r;
}

/* The frame as far as bpf/judge.h looks at it: from the client to some host of its family. */
static struct pkt event_packet(const struct question *question)
{
	const struct stile_policy *policy = &question->snapshot->policy;
	struct pkt pkt = { .protocol = policy->listeners[question->event->listener].protocol };

	memcpy(&pkt.source, question->event->address, sizeof(pkt.source));
	pkt.ipv4 = address_is_ipv4(&pkt.source);
	pkt.destination.word[1] = swap64(KEY_MAPPED << 32 | 0xc0000201); /* 192.0.2.1 */
	if (!pkt.ipv4)
		pkt.destination.word[0] = swap64(0x20010db800000000ULL); /* 2001:db8::/64 */
	return pkt;
}

static void rule(struct snapshot_verdict *verdict, struct ruling ruling)
{
	verdict->verdict = ruling.verdict;
	verdict->reason = ruling.reason;
	verdict->reply = ruling.reply;
}

static bool refuses_full(const struct stile_limiter *limiter)
{
	return limiter->full == STILE_FULL_REJECT && limiter->action != STILE_ACTION_COUNT;
}

static bool refuses(const struct snapshot_judgement *judgement, const struct stile_policy *policy)
{
	return judgement->decision == STILE_DECISION_LIMITED ||
	       (judgement->decision == STILE_DECISION_FULL &&
		refuses_full(&policy->limiters[judgement->limiter]));
}

/*
 * The first that refuses, in the order of judgement; -1: none. That there is no room for the same
 * limiter again shows only when it is charged, which is after all have judged.
 */
static int find_refusal(const struct snapshot_verdict *verdict, const struct stile_policy *policy)
{
	for (int again = 0; again < 2; again++) {
		for (unsigned int i = 0; i < verdict->n_judges; i++) {
			const struct snapshot_judgement *judgement = &verdict->judges[i];

			if ((judgement->ahead != 0) == again && refuses(judgement, policy))
				return (int)i;
		}
	}
	return -1;
}

static enum stile_reason pass_reason(const struct snapshot_verdict *verdict)
{
	enum stile_reason reason = STILE_REASON_ALLOWED;

	if (verdict->n_judges == 0)
		return STILE_REASON_UNLIMITED;
	for (unsigned int i = 0; i < verdict->n_judges; i++) {
		if (verdict->judges[i].decision == STILE_DECISION_COUNTED)
			return STILE_REASON_COUNTED;
		if (verdict->judges[i].decision == STILE_DECISION_FULL)
			reason = STILE_REASON_FULL;
	}
	return reason;
}

/* The last that refuses admits it again. 0: never, or nobody can tell: a table has no room. */
static uint64_t longest_wait(const struct snapshot_verdict *verdict,
			     const struct stile_policy *policy)
{
	uint64_t wait = 0;

	for (unsigned int i = 0; i < verdict->n_judges; i++) {
		const struct snapshot_judgement *judgement = &verdict->judges[i];

		if (refuses(judgement, policy) && judgement->client.wait == 0)
			return 0;
		if (judgement->decision == STILE_DECISION_LIMITED && judgement->client.wait > wait)
			wait = judgement->client.wait;
	}
	return wait;
}

/* As refuse() in bpf/refuse.h, and answer_make() in bpf/answer.h. */
static struct ruling refusal_ruling(const struct snapshot_judgement *refusal,
				    const struct stile_policy *policy, const struct pkt *pkt)
{
	uint8_t action = policy->limiters[refusal->limiter].action;
	bool tcp = pkt->protocol == STILE_PROTOCOL_TCP;
	bool speaks = policy->attachments[refusal->attachment].answer &&
		      (tcp || action == STILE_ACTION_REJECT);
	struct ruling ruling = judge_refusal(pkt, speaks && !tcp ? STILE_ACTION_RESET : action,
					     refusal->decision == STILE_DECISION_FULL
						     ? STILE_REASON_FULL
						     : STILE_REASON_LIMITED);

	if (speaks && ruling.verdict == STILE_VERDICT_REPLY)
		ruling.reply = tcp ? STILE_REPLY_COOKIE : STILE_REPLY_BUSY;
	return ruling;
}

/* All judge; the first that refuses decides. */
static void conclude(const struct question *question, struct snapshot_verdict *verdict)
{
	const struct stile_policy *policy = &question->snapshot->policy;
	const struct snapshot_judgement *refusal;
	struct pkt pkt = event_packet(question);

	verdict->refused_by = find_refusal(verdict, policy);
	if (verdict->refused_by < 0 && verdict->queue.sheds) {
		rule(verdict,
		     snapshot_is_unattended(question->snapshot)
			     ? judge_pass(STILE_REASON_COUNTED)
			     : judge_refusal(&pkt, STILE_ACTION_REJECT, STILE_REASON_ACCEPT_QUEUE));
		if (policy->listeners[question->event->listener].answer)
			verdict->reply = STILE_REPLY_COOKIE;
		return;
	}
	if (verdict->refused_by < 0) {
		rule(verdict, judge_pass(pass_reason(verdict)));
		return;
	}
	if (snapshot_is_unattended(question->snapshot)) {
		verdict->judges[verdict->refused_by].decision = STILE_DECISION_COUNTED;
		verdict->refused_by = -1;
		rule(verdict, judge_pass(STILE_REASON_COUNTED));
		return;
	}
	refusal = &verdict->judges[verdict->refused_by];
	rule(verdict, refusal_ruling(refusal, policy, &pkt));
	verdict->wait = longest_wait(verdict, policy);
}

/* First match wins; the numbers are those of bpf/classify.h. */
static int answer(const struct question *question, struct snapshot_verdict *verdict)
{
	const struct stile_policy *policy = &question->snapshot->policy;
	const struct stile_listener *listener = &policy->listeners[question->event->listener];
	uint16_t judges[STILE_JUDGES_MAX];
	struct stile_control control;
	int r;

	if (!policy->enabled) {
		rule(verdict, judge_pass(STILE_REASON_DISABLED));
		return 0;
	}
	if (policy->watchdog == STILE_WATCHDOG_PASS && snapshot_is_unattended(question->snapshot)) {
		rule(verdict, judge_pass(STILE_REASON_UNATTENDED));
		return 0;
	}
	r = read_control(question, &control);
	if (r == 0 && control.blocked)
		r = look_up_list(question, "blocked", verdict);
	if (r > 0)
		rule(verdict, judge_drop(STILE_REASON_BLOCKED)); /* 2 */
	if (r != 0)
		return r;
	memcpy(judges, listener->judges, sizeof(judges));
	if (control.trusted)
		r = look_up_list(question, "trusted", verdict);
	if (r == 0 && listener->has_sources)
		r = look_up_source(question, judges, verdict);
	if (r < 0)
		return r;
	if (verdict->listed || (verdict->own_policy && !judges[0])) {
		rule(verdict, judge_pass(STILE_REASON_EXEMPT)); /* 5 */
		return 0;
	}
	r = judge_all(question, judges, verdict);
	if (r == 0)
		r = snapshot_explain_queue(question->pins, question->snapshot, question->event,
					   &verdict->queue);
	if (r < 0)
		return r;
	conclude(question, verdict); /* 6 */
	return snapshot_explain_places(question->pins, question->snapshot, question->event,
				       verdict);
}

int snapshot_explain(const struct pins *pins, const struct snapshot *snapshot,
		     const struct snapshot_event *event, struct snapshot_verdict *ret_verdict)
{
	const struct question question = { pins, snapshot, event };
	struct snapshot_verdict verdict = { .refused_by = -1 };
	int r;

	if (event->listener == 0 || event->listener >= STILE_LISTENERS_MAX ||
	    event->interface >= STILE_INTERFACES_MAX)
		return -EINVAL;
	r = answer(&question, &verdict);
	if (r == 0)
		r = snapshot_explain_answer(pins, snapshot, event, &verdict);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	*ret_verdict = verdict;
	return 0;
}
