/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is in the kernel already and is not ours: other XDP programs, other instances, pins of
 * another version. It is named and left as it is.
 */
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/if_link.h>

#include <stile/abi.h>

#include "check.h"
#include "live.h"
#include "util.h"

#define LIMIT 20
#define PATH_SIZE 512

#define CONFIG(interfaces)                                                                         \
	"interfaces: {" interfaces "}\n"                                                           \
	"rate_limiters: {per-client: {limit: 20, window: 1h}}\n"                                   \
	"listeners: {web: {ports: [80], rate_limiter_name: per-client}}\n"                         \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

/* A start that is refused, and says @want; nothing of the instance is pinned then. */
static void check_refused(const struct live *live, const char *want)
{
	autooutput struct output output = live_stile(live, "run -c %s/stile.yaml", live->directory);

	CHECK_EQ("it does not start", output.code, 1);
	if (!CHECK(want, output.text && strstr(output.text, want)))
		printf("%s", output.text ? output.text : "");
}

/* A program that lets everything pass; its id is written. */
static int load_other(uint32_t *ret_id)
{
	const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "other_xdp", "GPL", pass, ARRAY_SIZE(pass), NULL);
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	if (!CHECK("another program is loaded",
		   fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0))
		return -1;
	*ret_id = info.id;
	return fd;
}

static int attach_other(const struct live *live, int program)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_SKB_MODE);
	int link;

	live_enter(live, LIVE_SERVER);
	link = bpf_link_create(program, (int)if_nametoindex(SERVER_LINK), BPF_XDP, &options);
	live_leave(live);
	CHECK("it is attached", link >= 0);
	return link;
}

static bool runs(const struct live *live, uint32_t id)
{
	autooutput struct output output =
		process_shell(live->netns[LIVE_SERVER], "ip -d link show srv0 | grep 'id %u '", id);

	return output.code == 0;
}

/* Held by this process, then by a pin, then by nobody. */
static void test_program(void)
{
	char want[256], pin[128];
	autofd int program = -1, link = -1;
	autolive struct live live;
	uint32_t id = 0;

	if (!live_begin(&live, "foreign") || !live_write(&live, "stile.yaml", CONFIG("srv0: {}")))
		return;
	program = load_other(&id);
	link = attach_other(&live, program);
	snprintf(want, sizeof(want),
		 "is there already (id %u, 'other_xdp', held by process %d, test-live): it is left "
		 "alone",
		 id, (int)getpid());
	check_refused(&live, want);
	snprintf(pin, sizeof(pin), "/sys/fs/bpf/%s-other", live.instance);
	CHECK_EQ("it is pinned", bpf_obj_pin(link, pin), 0);
	snprintf(want, sizeof(want), "(id %u, 'other_xdp', pinned as %s)", id, pin);
	check_refused(&live, want);
	CHECK("it still runs", runs(&live, id));
	CHECK_EQ("the pin is removed", unlink(pin), 0);
	CHECK("nothing of the instance is pinned", !live_pinned(&live));
}

/* A daemon that runs is told less; what it has goes on. */
static void test_reload(void)
{
	autooutput struct output output = {};
	autofd int program = -1, link = -1;
	char want[256];
	autolive struct live live;
	uint32_t id = 0;

	if (!live_begin(&live, "foreign-reload") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("lo: {}")) ||
	    !live_write(&live, "stile.yaml", CONFIG("lo: {}, srv0: {}")))
		return;
	program = load_other(&id);
	link = attach_other(&live, program);
	if (link < 0)
		return;
	output = live_stile(&live, "reload");
	snprintf(want, sizeof(want), "(id %u: 'bpftool prog show id %u' as root tells whose)", id,
		 id);
	CHECK_EQ("the reload is refused", output.code, 1);
	if (!CHECK(want, output.text && strstr(output.text, want)))
		printf("%s", output.text ? output.text : "");
	CHECK("the other still runs", runs(&live, id));
	CHECK_EQ("and so does ours", live_metric_now(&live, "stile_attached", "interface=\"lo\""),
		 1);
}

/* While another instance has the interface, its own goes on. */
static void test_instance(void)
{
	autooutput struct output output = {};
	autolive struct live live;
	char want[256];

	if (!live_begin(&live, "foreign-first") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("srv0: {}")))
		return;
	output = process_shell(live.netns[LIVE_SERVER],
			       "echo 'interfaces: {srv0: {}}\nmetrics: {listen: none}' | "
			       "%s --instance live-foreign-second run -c -",
			       check_stile());
	snprintf(want, sizeof(want), "'stile_xdp', pinned as /sys/fs/bpf/stile/%s/", live.instance);
	CHECK_EQ("the second instance is refused", output.code, 1);
	if (!CHECK(want, output.text && strstr(output.text, want)))
		printf("%s", output.text ? output.text : "");
	CHECK_EQ("the first goes on", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
}

/* Native XDP does not attach to what has too large an MTU; where it is, the kernel allows none. */
static void test_mtu(void)
{
	autolive struct live live;

	if (!live_begin(&live, "foreign-mtu") ||
	    !live_write(&live, "stile.yaml", CONFIG("srv0: {mode: native}")))
		return;
	live_shell(&live, LIVE_CLIENT, "ip link set cli0 mtu 9000");
	live_shell(&live, LIVE_SERVER, "ip link set srv0 mtu 9000");
	check_refused(&live, "attach to 'srv0' in native mode: Numerical result out of range: its "
			     "MTU may be too large for XDP");
	CHECK("nothing is left behind", !live_pinned(&live));
	live_shell(&live, LIVE_CLIENT, "ip link set cli0 mtu 1500");
	if (!live_start_again(&live))
		return;
	live_shell(&live, LIVE_CLIENT, "! ip link set cli0 mtu 9000");
	CHECK_EQ("it stays attached",
		 live_metric_now(&live, "stile_attached", "interface=\"srv0\",mode=\"native\""), 1);
}

static const char *pin(const struct live *live, const char *name, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "/sys/fs/bpf/stile/%s/%.64s", live->instance, name);
	return path;
}

/* Puts a policy in the place of the pinned one, of another version, and larger or smaller. */
static bool replace_policy(const struct live *live, uint32_t version, int more)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info), slot = 0;
	char path[PATH_SIZE];
	autofd int before = bpf_obj_get(pin(live, "current/policy", path)), now = -1;
	autofree unsigned char *value = NULL;

	if (!CHECK("the policy is pinned",
		   before >= 0 && bpf_obj_get_info_by_fd(before, &info, &size) == 0))
		return false;
	value = calloc(1, info.value_size + 64);
	now = bpf_map_create(BPF_MAP_TYPE_ARRAY, "policy", sizeof(slot),
			     info.value_size + (__u32)more, 1, NULL);
	if (!value || now < 0 || bpf_map_lookup_elem(before, &slot, value) < 0)
		return CHECK("another is made", false);
	memcpy(value, &version, sizeof(version));
	return CHECK("another takes its place",
		     bpf_map_update_elem(now, &slot, value, BPF_ANY) == 0 && unlink(path) == 0 &&
			     bpf_obj_pin(now, path) == 0);
}

static void check_command(const struct live *live, const char *arguments, int code,
			  const char *want)
{
	autooutput struct output output = live_stile(live, "%s", arguments);

	CHECK_EQ(arguments, output.code, code);
	if (!CHECK(want, output.text && strstr(output.text, want)))
		printf("%s", output.text ? output.text : "");
}

/* An upgrade, or the way back from one: refused, while what is there goes on, until a detach. */
static void test_version(void)
{
	static const struct {
		uint32_t version;
		int more;
	} rows[] = {
		{ STILE_ABI_VERSION + 1, 0 },
		{ STILE_ABI_VERSION + 1, 64 },
		{ STILE_ABI_VERSION - 1, 0 },
		{ STILE_ABI_VERSION - 1, -64 },
	};
	autolive struct live live;
	char want[256];

	if (!live_begin(&live, "foreign-abi") || !live_start_web(&live) ||
	    !live_write(&live, "stile.yaml", CONFIG("srv0: {}")))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!live_start_again(&live))
			return;
		live_stop(&live, SIGKILL);
		if (!replace_policy(&live, rows[i].version, rows[i].more))
			return;
		snprintf(want, sizeof(want),
			 "another version of Stile (its maps are version %u, this one's are "
			 "%d)",
			 rows[i].version, STILE_ABI_VERSION);
		check_refused(&live, want);
		check_refused(&live, "'stile detach' takes it out");
		check_command(&live, "status", 1, "take it out with stile detach");
		CHECK_EQ("protection goes on", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
		check_command(&live, "detach", 0, "detached srv0");
		CHECK("nothing is pinned any more", !live_pinned(&live));
	}
	if (live_start_again(&live))
		CHECK_EQ("it starts then", live_count_served(&live, CLIENT_ONE, 30), LIMIT);
}

CHECK_SUITE(foreign, { "another XDP program", test_program },
	    { "another XDP program, at a reload", test_reload },
	    { "another instance", test_instance }, { "an MTU for native XDP", test_mtu },
	    { "another version's pins", test_version });
