/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An interface judged: whether packets reach the program, whole, one by one and early enough. */
#include <stdio.h>
#include <string.h>

#include "doctor.h"
#include "util.h"

#define MTU_NATIVE 3498 /* a page without headroom, what an skb keeps at its end, and Ethernet */

/* Drivers that run XDP programs themselves, for all of their cards or for most. */
static const char *const native_drivers[] = {
	"atlantic",	 "bnxt_en",   "bonding",   "dpaa2-eth", "ena",	      "fec",
	"fsl_dpaa2_eth", "fsl_enetc", "gve",	   "hv_netvsc", "i40e",	      "iavf",
	"ice",		 "idpf",      "igb",	   "igc",	"ixgbe",      "ixgbevf",
	"mana",		 "mlx4_en",   "mlx5_core", "mvneta",	"mvpp2",      "netsec",
	"nfp",		 "qede",      "rvu_nicpf", "sfc",	"st_gmac",    "stmmac",
	"tsnep",	 "tun",	      "veth",	   "vif",	"virtio_net", "vmxnet3",
};

struct judged {
	const struct doctor_interface *interface;
	struct doctor *doctor;
};

static bool is_native(const char *driver)
{
	for (size_t i = 0; i < ARRAY_SIZE(native_drivers); i++) {
		if (strcmp(native_drivers[i], driver) == 0)
			return true;
	}
	return false;
}

static void judge_program(const struct judged *judged)
{
	const struct doctor_interface *interface = judged->interface;
	uint32_t there = interface->native ? interface->native : interface->generic;

	if (there && there != interface->ours)
		doctor_say(judged->doctor, DOCTOR_FAULT,
			   "only one program can be there: 'bpftool net' shows whose it is; Stile "
			   "never replaces it",
			   "another XDP program is attached: id %u, %s", there,
			   interface->native ? "native" : "generic");
	else if (there)
		doctor_say(judged->doctor, DOCTOR_OK, NULL, "Stile is attached: program %u, %s",
			   there, interface->native ? "native" : "generic");
}

static void judge_driver(const struct judged *judged)
{
	const struct doctor_interface *interface = judged->interface;

	if (strcmp(interface->driver, "veth") == 0)
		doctor_say(judged->doctor, DOCTOR_OK, NULL,
			   "driver veth: generic mode, because answers in native mode need a "
			   "program at its peer, too");
	else if (is_native(interface->driver))
		doctor_say(judged->doctor, DOCTOR_OK, NULL,
			   "driver %s: native mode, %lld receive queues", interface->driver,
			   interface->features.queues > 0 ? interface->features.queues : 1LL);
	else
		doctor_say(judged->doctor, DOCTOR_WARNING,
			   "it works, at a few times the cost for each packet refused",
			   "driver %s is not known to run XDP programs: generic mode",
			   *interface->driver ? interface->driver : "(it tells none)");
}

static void judge_offloads(const struct judged *judged)
{
	const struct doctor_interface *interface = judged->interface;
	bool native = is_native(interface->driver) && strcmp(interface->driver, "veth") != 0;
	char advice[DOCTOR_TEXT_SIZE];

	if (interface->features.lro > 0) {
		snprintf(advice, sizeof(advice), "ethtool -K %s lro off", interface->name);
		doctor_say(judged->doctor, DOCTOR_WARNING, advice,
			   "large receive offload is on: many drivers take no native program then");
	}
	if (interface->vlans && interface->features.rx_vlan > 0 && native) {
		snprintf(advice, sizeof(advice), "ethtool -K %s rxvlan off", interface->name);
		doctor_say(judged->doctor, DOCTOR_WARNING, advice,
			   "the card takes VLAN tags off before a native program runs: it sees "
			   "packets of all VLANs as untagged ones");
	}
	if (native && interface->state.mtu > MTU_NATIVE)
		doctor_say(judged->doctor, DOCTOR_WARNING, "a smaller MTU, or 'mode: generic'",
			   "MTU %u: most drivers take a native program up to %u bytes only",
			   interface->state.mtu, MTU_NATIVE);
}

void doctor_judge_interface(const struct doctor_interface *interface, struct doctor *doctor)
{
	const struct judged judged = { interface, doctor };

	doctor_about(doctor, "interface %s", interface->name);
	if (interface->error) {
		doctor_say(doctor, DOCTOR_WARNING,
			   "it is attached to when it appears; 'ip link' lists what is there", "%s",
			   strerror(-interface->error));
		return;
	}
	if (!interface->ethernet) {
		doctor_say(doctor, DOCTOR_FAULT, "protect the one that carries it",
			   "its packets have no Ethernet header: they cannot be read");
		return;
	}
	if (!interface->state.up)
		doctor_say(doctor, DOCTOR_WARNING, "ip link set it up",
			   "it is down: no packet arrives");
	judge_driver(&judged);
	judge_program(&judged);
	judge_offloads(&judged);
}
