/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which interfaces a configuration means, and where they are now. For apply.c alone. */
#ifndef STILE_APPLY_INTERFACES_H
#define STILE_APPLY_INTERFACES_H

#include <stile/abi.h>

#include "config.h"
#include "diag.h"
#include "pins.h"

/*
 * Without interfaces in @config: those that carry a default route, which @room is for. 0 or
 * negative errno, with the reason in @diag.
 */
int apply_interfaces_resolve(struct config *config,
			     struct config_interface room[STILE_INTERFACES_MAX], struct diag *diag);

/*
 * Writes the indexes of @policy's interfaces, 0 where one is not there, which is told. One that was
 * renamed, or that another network namespace has now, is found by the link that it took along. 0,
 * or -EINVAL where none is there.
 */
int apply_interfaces_look_up(const struct pins *pins, const struct config *config,
			     struct diag *diag, struct stile_policy *policy);

#endif /* STILE_APPLY_INTERFACES_H */
