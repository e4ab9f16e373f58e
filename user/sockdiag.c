/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Each family is a dump of its own. What is asked for is filtered in the kernel, by its byte code
 * (linux/inet_diag.h: conditional jumps forward; one beyond the end refuses the socket), since a
 * service may have a million connections where one client's are wanted.
 */
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "sockdiag.h"
#include "util.h"

#define MAPPED_BITS 96 /* of ::ffff:0:0/96 */
#define CODE_SIZE 64

struct sockdiag {
	struct mnl_socket *socket;
	unsigned int sequence;
};

/* A request, and what is done with each answer. */
struct talk {
	union {
		struct nlmsghdr header;
		char bytes[512];
	} request;
	void (*each)(const struct sockdiag_socket *socket, void *context);
	void *context;
};

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

int sockdiag_open(struct sockdiag **ret_diag)
{
	struct sockdiag *diag = calloc(1, sizeof(*diag));
	int error;

	if (!diag)
		return -ENOMEM;
	diag->socket = mnl_socket_open2(NETLINK_SOCK_DIAG, SOCK_CLOEXEC);
	if (diag->socket && mnl_socket_bind(diag->socket, 0, MNL_SOCKET_AUTOPID) == 0) {
		*ret_diag = diag;
		return 0;
	}
	error = -errno;
	sockdiag_close(diag);
	return error;
}

void sockdiag_close(struct sockdiag *diag)
{
	if (diag && diag->socket)
		(void)mnl_socket_close(diag->socket); /* nothing was written that could be lost */
	free(diag);
}

static void read_address(uint8_t ret_address[16], const __be32 words[4], bool ipv6)
{
	if (ipv6) {
		memcpy(ret_address, words, 16);
		return;
	}
	memcpy(ret_address, mapped, sizeof(mapped));
	memcpy(ret_address + sizeof(mapped), words, 4);
}

static void read_times(const struct nlattr *attribute, struct sockdiag_socket *socket)
{
	const struct tcp_info *info = mnl_attr_get_payload(attribute);
	const size_t needed = offsetof(struct tcp_info, tcpi_last_ack_recv);

	if (mnl_attr_get_payload_len(attribute) < needed)
		return;
	socket->has_times = true;
	socket->sent_ago = info->tcpi_last_data_sent;
	socket->received_ago = info->tcpi_last_data_recv;
}

static int on_attribute(const struct nlattr *attribute, void *context)
{
	struct sockdiag_socket *socket = context;

	if (mnl_attr_get_type(attribute) == INET_DIAG_SKV6ONLY)
		socket->v6_only = mnl_attr_get_u8(attribute) != 0;
	if (mnl_attr_get_type(attribute) == INET_DIAG_INFO)
		read_times(attribute, socket);
	return MNL_CB_OK;
}

static int on_socket(const struct nlmsghdr *message, void *context)
{
	const struct inet_diag_msg *told = mnl_nlmsg_get_payload(message);
	const struct talk *talk = context;
	struct sockdiag_socket socket = {
		.local_port = ntohs(told->id.idiag_sport),
		.remote_port = ntohs(told->id.idiag_dport),
		.state = told->idiag_state,
		.ipv6 = told->idiag_family == AF_INET6,
		.ifindex = told->id.idiag_if,
		.cookie = { told->id.idiag_cookie[0], told->id.idiag_cookie[1] },
		.inode = told->idiag_inode,
		.uid = told->idiag_uid,
		.queued = told->idiag_rqueue,
		.room = told->idiag_wqueue,
	};

	read_address(socket.local, told->id.idiag_src, socket.ipv6);
	read_address(socket.remote, told->id.idiag_dst, socket.ipv6);
	if (mnl_attr_parse(message, sizeof(*told), on_attribute, &socket) < 0)
		return MNL_CB_ERROR;
	talk->each(&socket, talk->context);
	return MNL_CB_OK;
}

static struct inet_diag_req_v2 *begin(struct talk *talk, uint16_t type, uint16_t flags, bool ipv6)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(&talk->request);
	struct inet_diag_req_v2 *request =
		mnl_nlmsg_put_extra_header(header, sizeof(struct inet_diag_req_v2));

	header->nlmsg_type = type;
	header->nlmsg_flags = NLM_F_REQUEST | flags;
	request->sdiag_family = ipv6 ? AF_INET6 : AF_INET;
	request->sdiag_protocol = IPPROTO_TCP;
	return request;
}

/* Sends the request and reads its answers to the last. 0 or negative errno. */
static int finish(struct sockdiag *diag, struct talk *talk)
{
	_Alignas(struct nlmsghdr) char buffer[32768];
	struct nlmsghdr *header = &talk->request.header;
	unsigned int port = mnl_socket_get_portid(diag->socket);
	ssize_t length;
	int result;

	header->nlmsg_seq = ++diag->sequence;
	if (mnl_socket_sendto(diag->socket, header, header->nlmsg_len) < 0)
		return -errno;
	do {
		length = mnl_socket_recvfrom(diag->socket, buffer, sizeof(buffer));
		if (length < 0)
			return -errno;
		result = mnl_cb_run(buffer, (size_t)length, header->nlmsg_seq, port, on_socket,
				    talk);
		if (result < 0)
			return -errno;
	} while (result != MNL_CB_STOP);
	return 0;
}

/* The byte code of a filter: each condition refuses by a jump beyond the end. */
struct code {
	_Alignas(struct inet_diag_bc_op) unsigned char bytes[CODE_SIZE];
	unsigned short length;
};

static void add_condition(struct code *code, unsigned char what, const void *operand,
			  unsigned char size)
{
	struct inet_diag_bc_op operation = { .code = what };

	operation.yes = (unsigned char)(sizeof(operation) + size);
	memcpy(code->bytes + code->length, &operation, sizeof(operation));
	memcpy(code->bytes + code->length + sizeof(operation), operand, size);
	code->length = (unsigned short)(code->length + operation.yes);
}

static void add_port(struct code *code, unsigned char what, uint16_t port)
{
	const struct inet_diag_bc_op operand = { .no = port };

	add_condition(code, what, &operand, sizeof(operand));
}

static void add_client(struct code *code, const struct prefix *client)
{
	const bool ipv4 = client->bits >= MAPPED_BITS &&
			  memcmp(client->address, mapped, sizeof(mapped)) == 0;
	const struct inet_diag_hostcond condition = {
		.family = ipv4 ? AF_INET : AF_INET6,
		.prefix_len = (__u8)(client->bits - (ipv4 ? MAPPED_BITS : 0)),
		.port = -1,
	};
	const unsigned char length = ipv4 ? 4 : 16;
	unsigned char operand[sizeof(condition) + 16];

	memcpy(operand, &condition, sizeof(condition));
	memcpy(operand + sizeof(condition), client->address + 16 - length, length);
	add_condition(code, INET_DIAG_BC_D_COND, operand,
		      (unsigned char)(sizeof(condition) + length));
}

/* Now that its length is known: where each condition jumps that is not met. */
static void close_code(struct code *code)
{
	struct inet_diag_bc_op operation;

	for (unsigned short at = 0; at < code->length; at = (unsigned short)(at + operation.yes)) {
		memcpy(&operation, code->bytes + at, sizeof(operation));
		operation.no = (unsigned short)(code->length - at + sizeof(operation));
		memcpy(code->bytes + at, &operation, sizeof(operation));
	}
}

static void put_filter(struct talk *talk, const struct sockdiag_query *query)
{
	struct code code = { .length = 0 };

	if (query->last) {
		add_port(&code, INET_DIAG_BC_S_GE, query->first);
		add_port(&code, INET_DIAG_BC_S_LE, query->last);
	}
	if (query->client && query->client->bits)
		add_client(&code, query->client);
	close_code(&code);
	if (code.length)
		mnl_attr_put(&talk->request.header, INET_DIAG_REQ_BYTECODE, code.length,
			     code.bytes);
}

static int dump(struct sockdiag *diag, const struct sockdiag_query *query, bool ipv6,
		struct talk *talk)
{
	struct inet_diag_req_v2 *request = begin(talk, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, ipv6);

	request->idiag_states = query->states;
	if (query->with_times)
		request->idiag_ext = 1 << (INET_DIAG_INFO - 1);
	put_filter(talk, query);
	return finish(diag, talk);
}

int sockdiag_each(struct sockdiag *diag, const struct sockdiag_query *query,
		  void (*each)(const struct sockdiag_socket *socket, void *context), void *context)
{
	struct talk talk = { .each = each, .context = context };
	int error = dump(diag, query, false, &talk);

	return error ? error : dump(diag, query, true, &talk);
}

static void write_address(__be32 ret_words[4], const uint8_t address[16], bool ipv6)
{
	if (ipv6)
		memcpy(ret_words, address, 16);
	else
		memcpy(ret_words, address + sizeof(mapped), 4);
}

static void put_tuple(struct inet_diag_req_v2 *request, const struct sockdiag_socket *tuple)
{
	const bool ipv6 = request->sdiag_family == AF_INET6;

	write_address(request->id.idiag_src, tuple->local, ipv6);
	write_address(request->id.idiag_dst, tuple->remote, ipv6);
	request->id.idiag_sport = htons(tuple->local_port);
	request->id.idiag_dport = htons(tuple->remote_port);
	request->id.idiag_if = tuple->ifindex;
}

/* The family by which a connection is found, whatever its socket's own is. */
static bool found_as_ipv6(const struct sockdiag_socket *tuple)
{
	return memcmp(tuple->remote, mapped, sizeof(mapped)) != 0;
}

static void keep(const struct sockdiag_socket *socket, void *context)
{
	*(struct sockdiag_socket *)context = *socket;
}

int sockdiag_find(struct sockdiag *diag, const struct sockdiag_socket *tuple,
		  struct sockdiag_socket *ret_socket)
{
	struct sockdiag_socket found = { .state = SOCKDIAG_LISTEN };
	struct talk talk = { .each = keep, .context = &found };
	struct inet_diag_req_v2 *request =
		begin(&talk, SOCK_DIAG_BY_FAMILY, NLM_F_ACK, found_as_ipv6(tuple));
	int error;

	put_tuple(request, tuple);
	request->id.idiag_cookie[0] = request->id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	error = finish(diag, &talk);
	if (error == 0 && found.state == SOCKDIAG_LISTEN)
		error = -ENOENT; /* who would take such a connection, and has not yet */
	if (error == 0)
		*ret_socket = found;
	return error;
}

int sockdiag_destroy(struct sockdiag *diag, const struct sockdiag_socket *socket)
{
	struct talk talk = { .each = keep };
	struct inet_diag_req_v2 *request =
		begin(&talk, SOCK_DESTROY, NLM_F_ACK, found_as_ipv6(socket));

	put_tuple(request, socket);
	request->id.idiag_cookie[0] = socket->cookie[0];
	request->id.idiag_cookie[1] = socket->cookie[1];
	return finish(diag, &talk);
}
