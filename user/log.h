/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The daemon's log, on standard error: text or JSON, a line for each message. Only cmd_run.c
 * writes to it: modules return what went wrong.
 */
#ifndef STILE_LOG_H
#define STILE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "config.h"
#include "diag.h"

/* Until it is called: text, level info. */
void log_setup(enum config_log_level level, bool json);

__attribute__((format(printf, 2, 3))) void log_message(enum config_log_level level,
						       const char *format, ...);

#define log_error(...) log_message(CONFIG_LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_message(CONFIG_LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_message(CONFIG_LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(CONFIG_LOG_DEBUG, __VA_ARGS__)

/* What a machine is to read of a message: a text of letters without blanks, or (NULL) a number. */
struct log_field {
	const char *name, *text;
	unsigned long long number;
};

/* A message that ends with its fields, as NAME=VALUE; in JSON, they are members of the line. */
void log_event(enum config_log_level level, const char *text, const struct log_field *fields,
	       size_t n_fields);

/* A line for each mistake and warning in @diag. */
void log_diag(const struct diag *diag);

#endif /* STILE_LOG_H */
