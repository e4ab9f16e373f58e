/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the commands share that only read: a snapshot or the reason why there is none, names from
 * the command line, JSON. Every int is an exit code of command.h, and failures were printed.
 */
#ifndef STILE_READING_H
#define STILE_READING_H

#include <stdint.h>

#include <jansson.h>

#include "command.h"
#include "snapshot.h"

/* *ret_snapshot is released with snapshot_free(). */
int reading_take(const struct pins *pins, struct snapshot **ret_snapshot);

/* Says that reading what is pinned failed with @error, a negative errno. */
int reading_failed(const struct pins *pins, int error);

const char *reading_instance(const struct pins *pins);

/* The slot that @name has in the policy; where none has it, says which name was perhaps meant. */
int reading_limiter(const struct stile_policy *policy, const char *name, uint32_t *ret_slot);
int reading_listener(const struct stile_policy *policy, const char *name, uint32_t *ret_slot);
int reading_interface(const struct stile_policy *policy, const char *name, uint32_t *ret_slot);

/* Prints @json and releases it; NULL: there was no memory for it. */
int reading_print_json(json_t *json);

/* Appends @value. Where there is no memory for it, both are released and *@array becomes NULL. */
void reading_append(json_t **array, json_t *value);

/* A span for JSON: seconds. */
json_t *reading_seconds(uint64_t ns);

static inline void reading_release(struct snapshot **snapshot)
{
	snapshot_free(*snapshot);
}

#define autosnapshot __attribute__((cleanup(reading_release)))

#endif /* STILE_READING_H */
