/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every map, once. The loader sets the sizes that depend on the policy, and puts the maps of the
 * load before in the place of those that go on.
 */
#include "maps.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Read-only to the program and frozen, so that the verifier drops what a policy does not use. */
const volatile struct stile_policy policy SEC(".rodata.policy") = {};

volatile struct stile_replay stile_replay;

/* Brings the types of the tables' values into the object's BTF; the loader makes no map of it. */
const volatile struct {
	struct stile_set narrow;
	struct stile_set_wide wide;
} table_shapes SEC(".rodata.shapes") = {};

struct control_map stile_control SEC(".maps");
struct hosts_map stile_hosts SEC(".maps");
ports_map stile_ports SEC(".maps");
pages_map stile_pages SEC(".maps");
sources_map stile_sources SEC(".maps");
list_map stile_trusted SEC(".maps");
list_map stile_blocked SEC(".maps");
packets_map stile_packets SEC(".maps");
decisions_map stile_decisions SEC(".maps");
tables_map stile_tables SEC(".maps");
replies_map stile_replies SEC(".maps");
budget_map stile_budget SEC(".maps");
shares_map stile_shares SEC(".maps");
attempts_map stile_attempts SEC(".maps");
asking_map stile_asking SEC(".maps");
datagrams_map stile_datagrams SEC(".maps");
work_map stile_work SEC(".maps");
answers_map stile_answers SEC(".maps");
refusals_map stile_refusals SEC(".maps");
struct proofs_map stile_proofs SEC(".maps");
proven_map stile_proven SEC(".maps");
scratch_map stile_scratch SEC(".maps");
struct flows_map stile_flows SEC(".maps");
levels_map stile_levels SEC(".maps");
connections_map stile_connections SEC(".maps");
recounts_map stile_recounts SEC(".maps");
struct holders_map stile_holders SEC(".maps");
struct sockets_map stile_sockets SEC(".maps");
struct handshakes_map stile_handshakes SEC(".maps");
struct evictions_map stile_evictions SEC(".maps");
struct limiters_map stile_limiters SEC(".maps");
