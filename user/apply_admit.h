/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attachments at tc's ingress: one for each interface that has ours of XDP, where sources are
 * proven. For apply.c alone. They are made before the XDP program is swapped that sends cookies,
 * and taken away after the last one that could.
 */
#ifndef STILE_APPLY_ADMIT_H
#define STILE_APPLY_ADMIT_H

#include "apply_links.h"

/*
 * Attaches @program (-1: none) to every interface of @links that is here, or swaps it where it is
 * attached already. 0, or negative errno: told in @diag, and nothing has changed for the worse.
 */
int apply_admit_do(const struct pins *pins, const struct apply_links *links, int program,
		   struct diag *diag);

/* Puts the program of the generation in force back. */
void apply_admit_undo(const struct pins *pins, const struct apply_links *links, struct diag *diag);

/* Detaches from all interfaces but those of @links (NULL: from all), or from all if !@used. */
int apply_admit_prune(const struct pins *pins, const struct apply_links *links, bool used);

#endif /* STILE_APPLY_ADMIT_H */
