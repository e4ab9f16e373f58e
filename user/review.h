/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A configuration looked at as a whole, before anything is done with it: mistakes of single values
 * (config.h) and of values that do not fit each other (policy.h) are told together, and so is what
 * is right and yet hardly meant.
 */
#ifndef STILE_REVIEW_H
#define STILE_REVIEW_H

#include "config.h"
#include "diag.h"

/*
 * config_read(), and where it finds mistakes, those that policy_compile() would find too. 0, or
 * -EINVAL where @diag holds errors.
 */
int review_read(const char *path, struct diag *diag, struct config *ret_config);

/* Warns of what is right and yet hardly meant, apart from what policy_compile() warns of. */
void review_warn(const struct config *config, struct diag *diag);

/* Compiles @config for no machine in particular. As policy_compile(). */
struct policy;
int review_compile(const struct config *config, struct diag *diag, struct policy *ret_policy);

#endif /* STILE_REVIEW_H */
