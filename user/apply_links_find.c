/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is attached is found by the interface's number, whatever it was called when it was attached,
 * and held against what the kernel says runs there: in another network namespace the same number is
 * another interface.
 */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apply_links.h"
#include "names.h"
#include "netif.h"
#include "util.h"

int apply_links_open(const struct pins *pins, const char *ifname, struct bpf_link_info *ret_info)
{
	struct bpf_link_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;
	int error;

	error = pins_path_link(pins, ifname, path);
	if (error)
		return error;
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.type != BPF_LINK_TYPE_XDP)
		return -EPROTO;
	*ret_info = info;
	return take_fd(&fd);
}

/* How @program is attached to @ifindex; _STILE_MODE_MAX where it is not. */
static enum stile_mode attached_mode(uint32_t ifindex, uint32_t program)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	if (program == 0 || bpf_xdp_query((int)ifindex, 0, &query) < 0)
		return _STILE_MODE_MAX;
	if (query.drv_prog_id == program)
		return STILE_MODE_NATIVE;
	return query.skb_prog_id == program ? STILE_MODE_GENERIC : _STILE_MODE_MAX;
}

/*
 * Native XDP_TX on a veth is lost unless its peer runs native XDP too, so that refusals would stay
 * unheard; everything else is faster in native mode.
 */
enum stile_mode apply_links_mode(const struct apply_link *link)
{
	char driver[32];

	if (link->wanted != STILE_MODE_AUTO)
		return link->wanted;
	if (netif_driver(link->name, driver) == 0 && strcmp(driver, "veth") == 0)
		return STILE_MODE_GENERIC;
	return STILE_MODE_NATIVE;
}

/* The mode it was configured to have before, or _STILE_MODE_MAX. */
static enum stile_mode wanted_before(const struct stile_policy *before, const char *name)
{
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		if (strcmp(before->interfaces[slot].name, name) == 0)
			return before->interfaces[slot].mode;
	}
	return _STILE_MODE_MAX;
}

/* How it was noted to be attached; auto where nobody came to note it. */
static enum stile_mode noted_mode(const struct pins *pins, const char *ifname)
{
	char noted[PINS_MODE_SIZE];

	if (pins_read_mode(pins, ifname, noted) == 0 &&
	    strcmp(noted, policy_mode_names[STILE_MODE_NATIVE]) == 0)
		return STILE_MODE_NATIVE;
	return *noted ? STILE_MODE_GENERIC : STILE_MODE_AUTO;
}

struct finding {
	const struct pins *pins;
	struct apply_link *link;
};

/* The program of the generation in force; to find one by its id takes CAP_SYS_ADMIN. */
static int open_program(const struct pins *pins, uint32_t id)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path_current(pins, "xdp", path) == 0)
		fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 || info.id != id)
		return bpf_prog_get_fd_by_id(id);
	return take_fd(&fd);
}

static int take_link(const struct finding *finding, const char *pin,
		     const struct bpf_link_info *info, int *fd)
{
	struct apply_link *link = finding->link;

	link->program_before = open_program(finding->pins, info->prog_id);
	if (link->program_before < 0)
		return -errno;
	memcpy(link->pin, pin, strnlen(pin, sizeof(link->pin) - 1)); /* the rest is zero */
	link->id = info->id;
	link->before = take_fd(fd);
	return 1;
}

/* 1: it is the interface's. */
static int match(const char *ifname, void *context)
{
	const struct finding *finding = context;
	struct apply_link *link = finding->link;
	struct bpf_link_info info = {};
	enum stile_mode mode;
	autofd int fd = apply_links_open(finding->pins, ifname, &info);

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (info.xdp.ifindex != link->ifindex)
		return 0;
	mode = attached_mode(link->ifindex, info.prog_id);
	if (mode == _STILE_MODE_MAX)
		return 0;
	link->mode_before = mode;
	return take_link(finding, ifname, &info, &fd);
}

/*
 * A name that this network namespace has not stands for what it was attached to, which cannot be
 * asked. 1: that is still there.
 */
static int find_elsewhere(const struct finding *finding)
{
	struct apply_link *link = finding->link;
	struct bpf_link_info info = {};
	uint32_t here;
	autofd int fd = -1;

	if (netif_index(link->name, &here) == 0)
		return 0;
	fd = apply_links_open(finding->pins, link->name, &info);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (info.xdp.ifindex != link->ifindex)
		return 0;
	link->elsewhere = true;
	link->mode_before = noted_mode(finding->pins, link->name);
	return take_link(finding, link->name, &info, &fd);
}

static int find_before(const struct pins *pins, struct apply_link *link)
{
	struct finding finding = { .pins = pins, .link = link };
	int result;

	if (link->ifindex == 0)
		return 0;
	result = pins_each_link(pins, match, &finding);
	if (result == 0)
		result = find_elsewhere(&finding);
	return result < 0 ? result : 0;
}

/* An interface that took its link along, and whose name means another one now. */
static void find_displaced(const struct pins *pins, struct apply_link *link)
{
	struct bpf_link_info info = {};
	struct netif_state state;
	autofd int fd = apply_links_open(pins, link->name, &info);

	if (fd < 0 || info.id == link->id || info.xdp.ifindex == 0)
		return;
	link->displaced = info.id;
	if (attached_mode(info.xdp.ifindex, info.prog_id) != _STILE_MODE_MAX &&
	    netif_get(info.xdp.ifindex, &state) == 0)
		memcpy(link->displaced_name, state.name.text, sizeof(link->displaced_name));
}

static enum apply_plan make_plan(const struct stile_policy *before, const struct apply_link *link)
{
	if (link->ifindex == 0)
		return APPLY_WAIT;
	if (link->before < 0)
		return APPLY_ATTACH;
	if (link->elsewhere)
		return APPLY_SWAP; /* nothing else can be done from here */
	if (link->wanted == STILE_MODE_AUTO && wanted_before(before, link->pin) == STILE_MODE_AUTO)
		return APPLY_SWAP; /* what auto came to then is good enough */
	return apply_links_mode(link) == link->mode_before ? APPLY_SWAP : APPLY_REPLACE;
}

int apply_links_find(const struct pins *pins, const struct stile_policy *before,
		     const struct stile_policy *now, struct diag *diag,
		     struct apply_links *ret_links)
{
	int error;

	*ret_links = (struct apply_links){ .n_links = 0 };
	for (size_t slot = 0; slot < STILE_INTERFACES_MAX; slot++) {
		const struct stile_interface *interface = &now->interfaces[slot];
		struct apply_link *link = &ret_links->links[ret_links->n_links];

		if (!*interface->name)
			continue;
		*link = (struct apply_link){
			.ifindex = interface->ifindex,
			.wanted = interface->mode,
			.before = -1,
			.program_before = -1,
			.now = -1,
		};
		memcpy(link->name, interface->name, sizeof(link->name));
		ret_links->n_links++;
		error = find_before(pins, link);
		if (error)
			return apply_links_report(link, "look for what is attached to", error,
						  diag);
		link->plan = make_plan(before, link);
		if (link->plan != APPLY_WAIT)
			find_displaced(pins, link);
	}
	return 0;
}
