/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every map is the other object's but the policy, which has to be read-only data of its own. */
#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <stile/abi.h>

#include "admit.skel.h"
#include "loader.h"
#include "loader_admit.h"

#define TCX_INGRESS 46 /* enum bpf_attach_type: Linux 6.6 */

/* Its own copy of the policy is its only map that is not another's. */
static int share_maps(const struct bpf_object *main, struct admit_bpf *admit)
{
	struct bpf_map *map, *shared;
	int error = 0;

	bpf_object__for_each_map(map, admit->obj)
	{
		shared = bpf_map__is_internal(map)
				 ? NULL
				 : bpf_object__find_map_by_name(main, bpf_map__name(map));
		if (shared && bpf_map__fd(shared) >= 0)
			error = bpf_map__reuse_fd(map, bpf_map__fd(shared));
		if (error)
			return error;
	}
	return 0;
}

int loader_admit_load(const struct bpf_object *main, const struct stile_policy *policy,
		      struct admit_bpf **ret_admit)
{
	struct admit_bpf *admit = admit_bpf__open();
	int error;

	if (!admit)
		return -errno;
	admit->rodata_policy->policy = *policy;
	error = share_maps(main, admit);
	if (error == 0)
		error = admit_bpf__load(admit);
	if (error) {
		admit_bpf__destroy(admit);
		return error;
	}
	*ret_admit = admit;
	return 0;
}

void loader_admit_free(struct admit_bpf *admit)
{
	admit_bpf__destroy(admit);
}

int loader_admit_program(const struct admit_bpf *admit)
{
	return bpf_program__fd(admit->progs.stile_admit);
}

bool loader_can_admit(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool found = btf &&
		     btf__find_by_name_kind(btf, "bpf_sk_assign_tcp_reqsk", BTF_KIND_FUNC) > 0;

	btf__free(btf);
	return found;
}

int loader_attach_ingress(int program, uint32_t ifindex, int *ret_link)
{
	int link = bpf_link_create(program, (int)ifindex, (enum bpf_attach_type)TCX_INGRESS, NULL);

	if (link < 0)
		return -errno;
	*ret_link = link;
	return 0;
}
