/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What only the machine knows of a policy that is to be compiled. For apply.c alone. */
#ifndef STILE_APPLY_MACHINE_H
#define STILE_APPLY_MACHINE_H

#include "config.h"
#include "pins.h"
#include "policy.h"

/* @before: the policy in force, or NULL. 0, or negative errno where there is no clock. */
int apply_machine_ask(const struct pins *pins, const struct config *config,
		      const struct stile_policy *before, struct policy_machine *ret_machine);

#endif /* STILE_APPLY_MACHINE_H */
