/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading the tools' options; a mistake is said on standard error, and ends the tool with 2. */
#ifndef STILE_TRAFFIC_OPTIONS_H
#define STILE_TRAFFIC_OPTIONS_H

#include <stdint.h>

#include "endpoint.h"

void options_target(const char *text, struct endpoint *ret_target);
void options_sources(const char *text, struct sources *ret_sources);

/* A whole number of at most @max, and one with a fraction. */
uint64_t options_number(const char *name, const char *text, uint64_t max);
double options_fraction(const char *name, const char *text, double max);

__attribute__((noreturn, format(printf, 1, 2))) void options_fail(const char *format, ...);

#endif /* STILE_TRAFFIC_OPTIONS_H */
