/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel says of network interfaces. It knows nothing of XDP. */
#ifndef STILE_NETIF_H
#define STILE_NETIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NETIF_NAME_SIZE 16 /* IFNAMSIZ */

struct netif_name {
	char text[NETIF_NAME_SIZE];
};

/*
 * The interfaces that carry an IPv4 or IPv6 default route, in the order of the kernel's answer.
 * The number written to @ret_names, at most @n_names, or negative errno.
 */
int netif_default_routes(struct netif_name *ret_names, size_t n_names);

struct netif_state {
	uint32_t ifindex;
	struct netif_name name;
	bool up;      /* by its administrator */
	bool carrier; /* as far as it is up */
	uint32_t mtu;
};

/* The interface of index @ifindex, or called @name. 0, -ENODEV where there is none, or -errno. */
int netif_get(uint32_t ifindex, struct netif_state *ret_state);
int netif_get_named(const char *name, struct netif_state *ret_state);

/*
 * A socket that can be read, without waiting, whenever any interface changes, and the reading of
 * it: what changed is to be asked, because the kernel drops words that it has no room for. The fd
 * is the caller's; or negative errno.
 */
int netif_watch(void);
void netif_watch_read(int fd);

/* 0, or -ENODEV where there is no interface of that name. */
int netif_index(const char *name, uint32_t *ret_ifindex);

/*
 * Whether its frames begin with an Ethernet header, which those of tun, WireGuard and PPP do not:
 * 1, 0 or negative errno.
 */
int netif_is_ethernet(const char *name);

/* The name of the driver ("veth", "virtio_net"); -EOPNOTSUPP where it tells none. */
int netif_driver(const char *name, char ret_driver[32]);

/* What its driver and card do to frames: 1, 0, or -1 where that cannot be told. */
struct netif_features {
	int lro;	  /* they are merged */
	int rx_vlan;	  /* the tag is taken off */
	long long queues; /* for frames that arrive; -1 */
};

void netif_features(const char *name, struct netif_features *ret_features);

#endif /* STILE_NETIF_H */
