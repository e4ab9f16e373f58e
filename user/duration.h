/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spans of time as people write them in the configuration and on the command line; pure. */
#ifndef STILE_DURATION_H
#define STILE_DURATION_H

#include <stdint.h>

/*
 * "500ms", "90s", "1m", "1h", "1m30s": whole numbers with their units, the longest unit first.
 * 0, or -EINVAL where it is none of that, or -ERANGE where it does not fit.
 */
int duration_parse(const char *text, uint64_t *ret_ns);

#endif /* STILE_DURATION_H */
