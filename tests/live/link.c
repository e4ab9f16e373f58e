/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What makes a veth pair behave like other links: a native XDP program at the client's end, without
 * which XDP_TX of the server's end is lost; and a VLAN tag pushed and popped by tc programs, which
 * needs no VLAN device in the kernel.
 */
#include "live.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/pkt_cls.h>
#include <linux/sockios.h>

#include "check.h"
#include "util.h"

#define INSN(c, d, s, o, i)                                                                        \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOVE(register, number) INSN(BPF_ALU64 | BPF_MOV | BPF_K, register, 0, 0, number)
#define CALL(helper) INSN(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define EXIT INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define TPID_8021Q 0x8100

static int load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n_insns)
{
	return bpf_prog_load(type, "live_aid", "GPL", insns, n_insns, NULL);
}

bool live_peer_native(struct live *live)
{
	const struct bpf_insn pass[] = { MOVE(BPF_REG_0, XDP_PASS), EXIT };
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);
	autofd int program = load(BPF_PROG_TYPE_XDP, pass, ARRAY_SIZE(pass));

	live_enter(live, LIVE_CLIENT);
	if (program >= 0)
		live->peer = bpf_link_create(program, (int)if_nametoindex(CLIENT_LINK), BPF_XDP,
					     &options);
	live_leave(live);
	return CHECK("the client's end of the link gets a native XDP program", live->peer >= 0);
}

/* Tags are to be in the packet, not beside it: otherwise no XDP program sees them. */
static int keep_tags_inside(const char *ifname)
{
	struct ethtool_value value = { .cmd = ETHTOOL_GFLAGS };
	struct ifreq request = { .ifr_data = (void *)&value };
	autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", ifname);
	if (fd < 0 || ioctl(fd, SIOCETHTOOL, &request) < 0)
		return -errno;
	value.cmd = ETHTOOL_SFLAGS;
	value.data &= ~(ETH_FLAG_TXVLAN | ETH_FLAG_RXVLAN);
	return ioctl(fd, SIOCETHTOOL, &request) < 0 ? -errno : 0;
}

static int attach_tc(const char *ifname, enum bpf_tc_attach_point point, int program)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)if_nametoindex(ifname),
		    .attach_point = point);
	LIBBPF_OPTS(bpf_tc_opts, options, .prog_fd = program);
	int r = bpf_tc_hook_create(&hook);

	if (r < 0 && r != -EEXIST)
		return r;
	return bpf_tc_attach(&hook, &options);
}

static int tag_link(const char *ifname, uint16_t vlan)
{
	const struct bpf_insn push[] = {
		MOVE(BPF_REG_2, __builtin_bswap16(TPID_8021Q)),
		MOVE(BPF_REG_3, vlan),
		CALL(BPF_FUNC_skb_vlan_push),
		MOVE(BPF_REG_0, TC_ACT_OK),
		EXIT,
	};
	const struct bpf_insn pop[] = {
		CALL(BPF_FUNC_skb_vlan_pop),
		MOVE(BPF_REG_0, TC_ACT_OK),
		EXIT,
	};
	autofd int pusher = load(BPF_PROG_TYPE_SCHED_CLS, push, ARRAY_SIZE(push));
	autofd int popper = load(BPF_PROG_TYPE_SCHED_CLS, pop, ARRAY_SIZE(pop));
	int r = keep_tags_inside(ifname);

	if (r == 0)
		r = attach_tc(ifname, BPF_TC_EGRESS, pusher);
	return r ? r : attach_tc(ifname, BPF_TC_INGRESS, popper);
}

bool live_tag(const struct live *live, uint16_t vlan)
{
	int r;

	(void)libbpf_set_print(NULL); /* it complains of a qdisc that is there already */
	live_enter(live, LIVE_SERVER);
	r = tag_link(SERVER_LINK, vlan);
	live_leave(live);
	if (!CHECK_EQ("the server's end of the link is tagged", r, 0))
		return false;
	live_enter(live, LIVE_CLIENT);
	r = tag_link(CLIENT_LINK, vlan);
	live_leave(live);
	return CHECK_EQ("the client's end of the link is tagged", r, 0);
}
