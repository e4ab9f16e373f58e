/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a socket keeps its accept queue, by the kernel's own BTF. Not by relocations of the
 * program: with one of them, libbpf would load none of it on a kernel that tells no types.
 */
#include <errno.h>
#include <string.h>

#include <bpf/btf.h>

#include "loader.h"

#define DEPTH_MAX 4 /* of structs without a name */

static void btf_release(struct btf **btf)
{
	btf__free(*btf);
}

/* The offset of a member of struct @id, one of an unnamed struct or union in it included. */
/* NOLINTNEXTLINE(misc-no-recursion): types nest as deep as DEPTH_MAX */
static int find_member(const struct btf *btf, __u32 id, const char *name, int depth)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const struct btf_member *member = btf_members(type);

	for (__u32 i = 0; i < btf_vlen(type); i++, member++) {
		int offset = (int)btf_member_bit_offset(type, i) / 8, within = -ENOENT;
		const struct btf_type *of = btf__type_by_id(btf, member->type);

		if (strcmp(btf__name_by_offset(btf, member->name_off), name) == 0)
			return offset;
		if (member->name_off == 0 && btf_is_composite(of) && depth < DEPTH_MAX)
			within = find_member(btf, member->type, name, depth + 1);
		if (within >= 0)
			return offset + within;
	}
	return -ENOENT;
}

static int find(const struct btf *btf, const char *type, const char *name)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return id < 0 ? id : find_member(btf, (__u32)id, name, 0);
}

int loader_find_queue(struct policy_machine *machine)
{
	struct btf *btf __attribute__((cleanup(btf_release))) = btf__load_vmlinux_btf();
	int length, backlog, queue, young;

	if (!btf)
		return -errno;
	length = find(btf, "sock", "sk_ack_backlog");
	backlog = find(btf, "sock", "sk_max_ack_backlog");
	queue = find(btf, "inet_connection_sock", "icsk_accept_queue");
	young = find(btf, "request_sock_queue", "young");
	if (length < 0 || backlog < 0 || queue < 0 || young < 0)
		return -ENOENT;
	machine->queue_length = (uint32_t)length;
	machine->queue_backlog = (uint32_t)backlog;
	machine->queue_young = (uint32_t)(queue + young);
	return 0;
}
