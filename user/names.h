/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of the enums of abi.h as in the configuration file ("sliding_window", "tcp", ...), each
 * list ended by NULL. They know no module: config reads by them, everything else prints by them.
 */
#ifndef STILE_NAMES_H
#define STILE_NAMES_H

#include <stile/abi.h>

extern const char *const policy_protocol_names[_STILE_PROTOCOL_MAX + 1];
extern const char *const policy_algorithm_names[_STILE_ALGORITHM_MAX + 1];
extern const char *const policy_action_names[_STILE_ACTION_MAX + 1];
extern const char *const policy_unit_names[_STILE_UNIT_MAX + 1];
extern const char *const policy_full_names[_STILE_FULL_MAX + 1];
extern const char *const policy_hash_names[_STILE_HASH_MAX + 1];
extern const char *const policy_mode_names[_STILE_MODE_MAX + 1];
extern const char *const policy_language_names[_STILE_LANGUAGE_MAX + 1];
extern const char *const policy_prove_names[_STILE_PROVE_MAX + 1];
extern const char *const policy_watchdog_names[_STILE_WATCHDOG_MAX + 1];

#endif /* STILE_NAMES_H */
