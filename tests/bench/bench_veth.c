/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What it costs a receiver to refuse a flood of SYNs that comes through a veth pair: Stile beside a
 * plain XDP drop, and beside what is used for it otherwise. All limiters allow one connection an
 * hour for each source, and remember a million of them; connlimit allows one at a time. What they
 * admit is dropped right behind them, so that it is the deciding that is measured; only with no
 * limiter at all does the stack answer, from a closed port.
 *
 * Where every packet is from a new source, either all limiters are empty when a sample begins and
 * have room for all that come, or all of them are full; then Stile makes room for each, and rules
 * remember nobody any more.
 *
 * A sample in which a receiver did something else than it is meant to is an error.
 */
#include "bench.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "loader.h"
#include "util.h"
#include "veth.h"

#define PACKETS 400000	   /* of a sample */
#define FILL 1500000	   /* new clients that fill a table */
#define ANSWERED_MOST 0.01 /* packets answered by a receiver that drops them */
#define ANSWERED_LEAST 0.9 /* by one that answers */
#define RIGHT 0.95	   /* of Stile's decisions are as they are meant to be, or more */

/* What Stile is held to. */
#define BAR_REFUSED 1.6
#define BAR_REFUSED_RULE 0.2
#define BAR_NEW 3.5
#define BAR_NEW_RULE (1 / 3.0)

#define RATIO_DROP 0
#define RATIO_RULE 1

static const char config[] =
	"interfaces: {" VETH_RECEIVER ": {mode: native}}\n"
	"rate_limiters:\n"
	"  client: {algorithm: token_bucket, limit: 1, window: 1h, action: drop,"
	" max_keys: 1000000}\n"
	"listeners:\n"
	"  web: {protocol: tcp, ports: [80], rate_limiter_name: client}\n";

enum kind { KIND_NOTHING, KIND_DROP, KIND_PARSE, KIND_STILE, KIND_RULE };

/* A receiver; rules are put up by one shell command and taken away by another. */
static const struct receiver {
	const char *name;
	enum kind kind;
	bool remembers; /* clients, in a table that may be full */
	const char *up, *down;
} receivers[] = {
	{ "XDP drop", KIND_DROP, false, NULL, NULL },
	{ "XDP parse and drop", KIND_PARSE, false, NULL, NULL },
	{ "nothing, a closed port", KIND_NOTHING, false, NULL, NULL },
	{ "Stile", KIND_STILE, true, NULL, NULL },
	{ "nftables, ingress", KIND_RULE, true,
	  "nft -f - <<END\n"
	  "table netdev bench {\n"
	  "  set m { type ipv4_addr; size 1000000; flags dynamic,timeout; timeout 1h; }\n"
	  "  chain c { type filter hook ingress device " VETH_RECEIVER " priority 0;\n"
	  "    tcp dport 80 tcp flags & (syn|ack) == syn"
	  " update @m { ip saddr limit rate over 1/hour burst 1 packets } drop\n"
	  "    drop; }\n"
	  "}\nEND\n",
	  "nft delete table netdev bench" },
	{ "nftables, prerouting raw", KIND_RULE, true,
	  "nft -f - <<END\n"
	  "table ip bench {\n"
	  "  set m { type ipv4_addr; size 1000000; flags dynamic,timeout; timeout 1h; }\n"
	  "  chain c { type filter hook prerouting priority raw;\n"
	  "    tcp dport 80 tcp flags & (syn|ack) == syn"
	  " update @m { ip saddr limit rate over 1/hour burst 1 packets } drop\n"
	  "    drop; }\n"
	  "}\nEND\n",
	  "nft delete table ip bench" },
	{ "iptables hashlimit, raw", KIND_RULE, true,
	  "set -e; I=$(command -v iptables-legacy || echo iptables)\n"
	  "$I -t raw -A PREROUTING -p tcp --syn --dport 80 -m hashlimit --hashlimit-name bench"
	  " --hashlimit-mode srcip --hashlimit-above 1/hour --hashlimit-burst 1"
	  " --hashlimit-htable-size 262144 --hashlimit-htable-max 1000000"
	  " --hashlimit-htable-expire 3600000 -j DROP\n"
	  "$I -t raw -A PREROUTING -j DROP\n",
	  "I=$(command -v iptables-legacy || echo iptables); $I -t raw -F PREROUTING" },
	{ "iptables connlimit, input", KIND_RULE, false,
	  "set -e; I=$(command -v iptables-legacy || echo iptables)\n"
	  "$I -A INPUT -p tcp --syn --dport 80 -m connlimit --connlimit-above 1 -j DROP\n"
	  "$I -A INPUT -j DROP\n",
	  "I=$(command -v iptables-legacy || echo iptables); $I -F INPUT" },
};

static const struct sources {
	const char *name;
	uint64_t keys;
	uint32_t warmup; /* packets before those that count */
	bool is_fresh;	 /* Stile begins anew at every sample, as rules always do */
	double most_of_drop, most_of_rule;
} floods[] = {
	{ "1 000 sources, over their limit", 1000, 20000, false, BAR_REFUSED, BAR_REFUSED_RULE },
	{ "100 000 sources, over their limit", 100000, 500000, false, 0, 0 },
	{ "every packet a new source, room for all", 0, 0, true, BAR_NEW, BAR_NEW_RULE },
	{ "every packet a new source, no room", 0, FILL, false, BAR_NEW, 0 },
};

struct sample {
	struct veth *veth;
	const struct receiver *receiver;
	const struct sources *sources;
	struct load load; /* of Stile */
	bool is_warm;
};

static int shell(const char *text)
{
	fflush(stdout);
	return system(text) == 0 ? 0 : -EIO; /* NOLINT(cert-env33-c): a constant of this file */
}

static int program_of(const struct sample *sample)
{
	if (sample->receiver->kind == KIND_DROP)
		return veth_drop_program(sample->veth);
	if (sample->receiver->kind == KIND_PARSE)
		return veth_parse_program(sample->veth);
	/* Where all are refused once their first is through, it stands there as it is. */
	if (sample->sources->keys)
		return loader_program(sample->load.loader);
	return veth_decide_program(sample->veth, loader_program(sample->load.loader));
}

/* Puts the receiver in its place. 0, -errno; with rules, what bench_skip() returns. */
static int put_up(struct bench_row *row, int *ret_link)
{
	const struct sample *sample = row->context;

	*ret_link = -1;
	if (sample->receiver->kind == KIND_NOTHING)
		return 0;
	if (sample->receiver->kind == KIND_RULE) {
		if (shell(sample->receiver->up) == 0)
			return 0;
		(void)shell(sample->receiver->down); /* what was put up of it */
		return bench_skip(row, "this kernel, or a tool that is here, cannot do it");
	}
	return loader_attach(program_of(sample), if_nametoindex(VETH_RECEIVER), STILE_MODE_NATIVE,
			     ret_link);
}

static int take_down(const struct sample *sample, int link)
{
	if (link >= 0)
		close(link);
	return sample->receiver->kind == KIND_RULE ? shell(sample->receiver->down) : 0;
}

/* Stile's own: what is in its table stays there. */
static int prepare(struct sample *sample)
{
	if (sample->receiver->kind != KIND_STILE)
		return 0;
	if (sample->sources->is_fresh)
		load_release(&sample->load);
	return sample->load.loader ? 0 : load_config(config, NULL, &sample->load);
}

static int warm_up(struct sample *sample)
{
	bool is_done = sample->receiver->kind == KIND_STILE && sample->is_warm;
	struct veth_result result;

	sample->is_warm = true;
	if (is_done || !sample->receiver->remembers || sample->sources->warmup == 0)
		return 0;
	return veth_flood(sample->veth, sample->sources->keys, sample->sources->warmup, &result);
}

static int decisions(const struct sample *sample, uint64_t ret_counts[_STILE_DECISION_MAX])
{
	memset(ret_counts, 0, _STILE_DECISION_MAX * sizeof(ret_counts[0]));
	if (sample->receiver->kind != KIND_STILE)
		return 0;
	return load_decisions(load_map(&sample->load, "decisions"),
			      load_attachment(&sample->load, "client"), ret_counts);
}

/* Whether the receiver did what its row is about. */
static int check(const struct bench_row *row, const struct veth_result *result,
		 const uint64_t before[_STILE_DECISION_MAX],
		 const uint64_t after[_STILE_DECISION_MAX])
{
	const struct sample *sample = row->context;
	enum stile_decision meant = sample->sources->keys ? STILE_DECISION_LIMITED
							  : STILE_DECISION_ALLOWED;
	double answered = result->answered / result->handled;

	if (sample->receiver->kind == KIND_NOTHING ? answered < ANSWERED_LEAST
						   : answered > ANSWERED_MOST) {
		fprintf(stderr, "%s: answered %.0f of %.0f\n", row->name, result->answered,
			result->handled);
		return -EBADMSG;
	}
	if (sample->receiver->kind != KIND_STILE ||
	    (double)(after[meant] - before[meant]) >= RIGHT * result->handled)
		return 0;
	fprintf(stderr, "%s: %llu of %.0f decisions are as meant\n", row->name,
		(unsigned long long)(after[meant] - before[meant]), result->handled);
	return -EBADMSG;
}

static int measure(struct bench_row *row, double *ret_values)
{
	uint64_t before[_STILE_DECISION_MAX], after[_STILE_DECISION_MAX];
	struct sample *sample = row->context;
	struct veth_result told;
	int result, link;

	result = prepare(sample);
	if (result == 0)
		result = put_up(row, &link);
	if (result)
		return result;
	result = warm_up(sample);
	if (result == 0)
		result = decisions(sample, before);
	if (result == 0)
		result = veth_flood(sample->veth, sample->sources->keys, PACKETS, &told);
	if (result == 0)
		result = decisions(sample, after);
	if (result == 0)
		result = check(row, &told, before, after);
	if (take_down(sample, link) || result)
		return result ? result : -EIO;
	ret_values[0] = told.cpu_ns / told.handled;
	ret_values[1] = told.handled / told.wall_ns * 1e9;
	return 0;
}

static void add_rows(struct bench *bench, struct veth *veth, struct sample *samples)
{
	struct bench_row *drop = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(floods); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(receivers); k++) {
			struct sample *sample = samples++;
			struct bench_row *row;

			if (floods[i].warmup == FILL && !receivers[k].remembers &&
			    receivers[k].kind != KIND_DROP)
				continue;
			*sample = (struct sample){ veth, &receivers[k], &floods[i], {}, false };
			row = bench_add(bench, measure, sample, "%s", receivers[k].name);
			row->group = floods[i].name;
			if (receivers[k].kind == KIND_DROP)
				drop = row;
			row->beside[RATIO_DROP] = drop;
		}
	}
}

static bool is_of(const struct bench_row *row, const char *group, enum kind kind)
{
	const struct sample *sample = row->context;

	return row->group == group && sample->receiver->kind == kind && !row->skipped;
}

/* The cheapest rule is known only when all are measured. */
static void set_bars(struct bench *bench)
{
	for (int i = 0; i < bench->n_rows; i++) {
		struct bench_row *row = &bench->rows[i], *best = NULL;
		const struct sample *sample = row->context;

		if (!is_of(row, row->group, KIND_STILE))
			continue;
		for (int k = 0; k < bench->n_rows; k++) {
			struct bench_row *rule = &bench->rows[k];

			if (is_of(rule, row->group, KIND_RULE) &&
			    (!best || bench_net(rule) < bench_net(best)))
				best = rule;
		}
		row->beside[RATIO_RULE] = best;
		row->most_of[RATIO_DROP] = sample->sources->most_of_drop;
		row->most_of[RATIO_RULE] = sample->sources->most_of_rule;
	}
}

int main(void)
{
	static struct sample samples[ARRAY_SIZE(floods) * ARRAY_SIZE(receivers)];
	static struct bench bench = {
		.section = "veth",
		.title = "A flood of SYNs through a veth pair; CPU time of the receiver",
		.columns = { "ns/packet", "packets/s" },
		.ratios = { "of XDP drop", "of best rule" },
		.rounds = 9,
	};
	struct veth *veth = NULL;
	int result;

	bench_wait_turn(); /* the receiver's thread is found by the name of its device */
	result = veth_new(&veth);
	if (result == 0) {
		add_rows(&bench, veth, samples);
		result = bench_run(&bench);
	}
	if (result == 0) {
		set_bars(&bench);
		result = bench_end(&bench);
	}
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++)
		load_release(&samples[i].load);
	veth_free(veth);
	if (result)
		fprintf(stderr, "veth: %s\n", strerror(-result));
	return result ? 1 : 0;
}
