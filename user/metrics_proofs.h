/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For metrics.c alone. */
#ifndef STILE_METRICS_PROOFS_H
#define STILE_METRICS_PROOFS_H

#include <stdio.h>

struct snapshot;

void metrics_proofs_render(const struct snapshot *snapshot, FILE *out);

#endif /* STILE_METRICS_PROOFS_H */
