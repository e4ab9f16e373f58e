/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is attached to an interface, by whomever. */
#include <bpf/libbpf.h>

#include "loader.h"

void loader_look(uint32_t ifindex, uint32_t *ret_native, uint32_t *ret_generic)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);

	*ret_native = *ret_generic = 0;
	if (bpf_xdp_query((int)ifindex, 0, &query) < 0)
		return;
	*ret_native = query.drv_prog_id ? query.drv_prog_id : query.hw_prog_id;
	*ret_generic = query.skb_prog_id;
}
