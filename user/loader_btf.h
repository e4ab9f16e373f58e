/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernels that do not tell of their own types; for the files of loader.h alone. */
#ifndef STILE_LOADER_BTF_H
#define STILE_LOADER_BTF_H

#include <stdbool.h>

#include "util.h"

bool loader_btf_is_there(void);

/* Types that say nothing, to look in instead; fd -1 and "" where the kernel tells. */
struct loader_btf {
	int fd; /* to be open until the object is loaded */
	char path[32];
};

static inline void loader_btf_release(const struct loader_btf *btf)
{
	fd_release(&btf->fd);
}

#define autobtf __attribute__((cleanup(loader_btf_release)))

/* 0 or negative errno. */
int loader_btf_open(struct loader_btf *ret_btf);

#endif /* STILE_LOADER_BTF_H */
