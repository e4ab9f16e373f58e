/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bpf/parse.h on the host. A file of its own: its headers are the kernel's, not the C library's. */
#ifndef STILE_HOST_PARSE_H
#define STILE_HOST_PARSE_H

#include <stddef.h>

/* A reason (enum stile_reason), or -1 where the frame can be read; -2: no memory. */
int host_parse(const void *frame, size_t size);

#endif /* STILE_HOST_PARSE_H */
