/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See forge.h. The packets go out of a raw socket and come in again at once, within the same system
 * call, so that none is lost on the way.
 */
#include "forge.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "pkt.h"
#include "util.h"

#define SET_COUNT 20 /* NFTA_SET_COUNT, which headers do not know yet */
#define BATCH 64
#define BASE (1U << 30) /* 64.0.0.0/2 */

int forge_namespace(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	autofd int fd = -1;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
		return -errno;
	request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
	return ioctl(fd, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

static int send_batch(int fd, const unsigned char *packets, size_t size, unsigned int n)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct mmsghdr messages[BATCH] = {};
	struct iovec parts[BATCH];

	for (unsigned int i = 0; i < n; i++) {
		parts[i] = (struct iovec){ (void *)(packets + i * size), size };
		messages[i].msg_hdr = (struct msghdr){ .msg_name = &to,
						       .msg_namelen = sizeof(to),
						       .msg_iov = &parts[i],
						       .msg_iovlen = 1 };
	}
	for (unsigned int sent = 0; sent < n;) {
		int result = sendmmsg(fd, messages + sent, n - sent, 0);

		if (result < 0)
			return -errno;
		sent += (unsigned int)result;
	}
	return 0;
}

int forge_syns(uint32_t n)
{
	static const struct pkt_spec syn = { .to = "127.0.0.1", .dport = 80 };
	unsigned char packets[BATCH * 64];
	struct pkt_frame frame;
	autofd int fd = -1;
	int result = 0;
	size_t size;

	pkt_build(&syn, &frame);
	size = frame.size - frame.l3;
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (fd < 0)
		return -errno;
	for (uint32_t done = 0, batch; done < n && result == 0; done += batch) {
		batch = n - done < BATCH ? n - done : BATCH;
		for (uint32_t i = 0; i < batch; i++) {
			const uint32_t source = htonl(BASE + done + i);

			memcpy(packets + i * size, frame.bytes + frame.l3, size);
			memcpy(packets + i * size + 12, &source, sizeof(source)); /* RFC 791 */
		}
		result = send_batch(fd, packets, size, batch);
	}
	return result;
}

int forge_count_hashlimit(const char *name, double *ret_number)
{
	autofile FILE *file = NULL;
	char line[256];
	double n = 0;

	snprintf(line, sizeof(line), "/proc/self/net/ipt_hashlimit/%s", name);
	file = fopen(line, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		n++;
	*ret_number = n;
	return 0;
}

static int read_count(const struct nlmsghdr *header, void *context)
{
	const struct nlattr *attribute;
	double *count = context;

	mnl_attr_for_each(attribute, header, sizeof(struct nfgenmsg))
	{
		if (mnl_attr_get_type(attribute) == SET_COUNT)
			*count = ntohl(mnl_attr_get_u32(attribute));
	}
	return MNL_CB_OK;
}

/* The kernel is asked for the number: a dump of a million elements takes it minutes. */
int forge_count_set(const char *table, const char *set, double *ret_number)
{
	char buffer[4096];
	struct mnl_socket *socket = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	struct nfgenmsg *family;
	double count = NAN;
	ssize_t size = -1;

	if (!socket)
		return -errno;
	header->nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETSET;
	header->nlmsg_flags = NLM_F_REQUEST;
	family = mnl_nlmsg_put_extra_header(header, sizeof(*family));
	family->nfgen_family = NFPROTO_IPV4;
	mnl_attr_put_strz(header, NFTA_SET_TABLE, table);
	mnl_attr_put_strz(header, NFTA_SET_NAME, set);
	if (mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) == 0 &&
	    mnl_socket_sendto(socket, header, header->nlmsg_len) >= 0)
		size = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
	if (size >= 0)
		size = mnl_cb_run(buffer, (size_t)size, 0, 0, read_count, &count);
	size = size < 0 ? -errno : 0;
	mnl_socket_close(socket); /* it was only read from */
	*ret_number = count;
	return (int)size;
}
