/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user and the group that a configuration names, as this host knows them. */
#ifndef STILE_ACCOUNT_H
#define STILE_ACCOUNT_H

#include "config.h"
#include "diag.h"

/* 0, or -EINVAL where the host lacks one or both, which are mistakes: a start would be refused. */
int account_check(const struct config *config, struct diag *diag);

#endif /* STILE_ACCOUNT_H */
