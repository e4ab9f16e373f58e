/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes are asked for by a netlink dump, since /proc/net/route knows nothing of IPv6 and of
 * routes with several next hops. A default route that leads nowhere (unreachable, blackhole)
 * carries no traffic and is left out.
 */
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include <libmnl/libmnl.h>

#include "netif.h"
#include "util.h"

struct route_names {
	struct netif_name *names;
	size_t n_names, n_max;
};

static void add_name(struct route_names *found, uint32_t ifindex)
{
	struct netif_name name;

	if (found->n_names == found->n_max || !if_indextoname(ifindex, name.text))
		return;
	for (size_t i = 0; i < found->n_names; i++) {
		if (strcmp(found->names[i].text, name.text) == 0)
			return;
	}
	found->names[found->n_names++] = name;
}

static void add_next_hops(struct route_names *found, const struct nlattr *attribute)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(attribute);
	int left = mnl_attr_get_payload_len(attribute);

	while (RTNH_OK(hop, left)) {
		add_name(found, (uint32_t)hop->rtnh_ifindex);
		left -= (int)RTNH_ALIGN(hop->rtnh_len);
		hop = RTNH_NEXT(hop);
	}
}

static int on_attribute(const struct nlattr *attribute, void *context)
{
	if (mnl_attr_get_type(attribute) == RTA_OIF)
		add_name(context, mnl_attr_get_u32(attribute));
	if (mnl_attr_get_type(attribute) == RTA_MULTIPATH)
		add_next_hops(context, attribute);
	return MNL_CB_OK;
}

static int on_route(const struct nlmsghdr *message, void *context)
{
	const struct rtmsg *route = mnl_nlmsg_get_payload(message);

	if (route->rtm_dst_len != 0 || route->rtm_type != RTN_UNICAST)
		return MNL_CB_OK;
	return mnl_attr_parse(message, sizeof(*route), on_attribute, context);
}

static int dump_routes(struct mnl_socket *socket, unsigned char family, struct route_names *found)
{
	_Alignas(struct nlmsghdr) char buffer[32768];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	unsigned int sequence = (unsigned int)time(NULL) + family;
	struct rtmsg *route;
	ssize_t length;
	int result;

	request->nlmsg_type = RTM_GETROUTE;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	request->nlmsg_seq = sequence;
	route = mnl_nlmsg_put_extra_header(request, sizeof(*route));
	route->rtm_family = family;
	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return -errno;
	do {
		length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		if (length < 0)
			return -errno;
		result = mnl_cb_run(buffer, (size_t)length, sequence, mnl_socket_get_portid(socket),
				    on_route, found);
		if (result < 0)
			return -errno;
	} while (result != MNL_CB_STOP);
	return 0;
}

static void socket_release(struct mnl_socket **socket)
{
	if (*socket)
		(void)mnl_socket_close(*socket); /* nothing was written that could be lost */
}

int netif_default_routes(struct netif_name *ret_names, size_t n_names)
{
	struct mnl_socket *socket __attribute__((cleanup(socket_release))) = NULL;
	struct route_names found = { .names = ret_names, .n_max = n_names };
	int error;

	socket = mnl_socket_open(NETLINK_ROUTE);
	if (!socket || mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0)
		return -errno;
	error = dump_routes(socket, AF_INET, &found);
	if (error)
		return error;
	error = dump_routes(socket, AF_INET6, &found);
	if (error && error != -EAFNOSUPPORT && error != -EOPNOTSUPP)
		return error;
	return (int)found.n_names;
}

int netif_index(const char *name, uint32_t *ret_ifindex)
{
	unsigned int ifindex = if_nametoindex(name);

	if (ifindex == 0)
		return errno ? -errno : -ENODEV;
	*ret_ifindex = ifindex;
	return 0;
}

/* An interface's ioctl. 0 or negative errno. */
static int ask(const char *name, unsigned long what, struct ifreq *request)
{
	autofd int fd = -1;

	if (strlen(name) >= sizeof(request->ifr_name))
		return -ENODEV;
	memcpy(request->ifr_name, name, strlen(name)); /* the rest is zero */
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	return ioctl(fd, what, request) < 0 ? -errno : 0;
}

int netif_get_named(const char *name, struct netif_state *ret_state)
{
	struct netif_state state = { 0 };
	struct ifreq flags = { 0 }, mtu = { 0 };
	int error;

	error = netif_index(name, &state.ifindex);
	if (error == 0)
		error = ask(name, SIOCGIFFLAGS, &flags);
	if (error == 0)
		error = ask(name, SIOCGIFMTU, &mtu);
	if (error)
		return error;
	snprintf(state.name.text, sizeof(state.name.text), "%s", name);
	state.up = flags.ifr_flags & IFF_UP;
	state.carrier = flags.ifr_flags & IFF_RUNNING;
	state.mtu = (uint32_t)mtu.ifr_mtu;
	*ret_state = state;
	return 0;
}

int netif_get(uint32_t ifindex, struct netif_state *ret_state)
{
	char name[NETIF_NAME_SIZE];

	if (!if_indextoname(ifindex, name))
		return errno == ENXIO ? -ENODEV : -errno;
	return netif_get_named(name, ret_state);
}

int netif_watch(void)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	autofd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

void netif_watch_read(int fd)
{
	char word[4096]; /* the rest of a longer one is dropped */

	while (recv(fd, word, sizeof(word), 0) >= 0 || errno == ENOBUFS || errno == EINTR)
		continue;
}

int netif_is_ethernet(const char *name)
{
	struct ifreq request = { 0 };
	int result = ask(name, SIOCGIFHWADDR, &request);

	if (result < 0)
		return result;
	return request.ifr_hwaddr.sa_family == ARPHRD_ETHER ||
	       request.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK;
}

int netif_driver(const char *name, char ret_driver[32])
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq request = { .ifr_data = (void *)&info };
	int result = ask(name, SIOCETHTOOL, &request);

	if (result < 0)
		return result;
	snprintf(ret_driver, 32, "%s", info.driver);
	return 0;
}

void netif_features(const char *name, struct netif_features *ret_features)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
	struct ifreq request = { .ifr_data = (void *)&flags };

	*ret_features = (struct netif_features){ -1, -1, -1 };
	if (ask(name, SIOCETHTOOL, &request) == 0) {
		ret_features->lro = (flags.data & ETH_FLAG_LRO) != 0;
		ret_features->rx_vlan = (flags.data & ETH_FLAG_RXVLAN) != 0;
	}
	request = (struct ifreq){ .ifr_data = (void *)&channels };
	if (ask(name, SIOCETHTOOL, &request) == 0)
		ret_features->queues = (long long)channels.combined_count + channels.rx_count;
}
