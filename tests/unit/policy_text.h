/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies for tests, compiled from configuration text. */
#ifndef STILE_TEST_POLICY_TEXT_H
#define STILE_TEST_POLICY_TEXT_H

#include "policy.h"

#define POLICY_TEXT_TICK 4000000ULL /* ns: a kernel of 250 ticks a second */

/* The latest generation that was begun; 0: none but those in force. */
extern uint64_t policy_text_begun;

/*
 * Compiles @text on top of @previous, which may be NULL. False, and a failed check that says what
 * was wrong, where it has mistakes. Random numbers are 2, 4, 6 and so on, from 2 in each call.
 */
bool policy_text_compile(const char *text, const struct stile_policy *previous,
			 struct policy *ret_policy);

/* The mistakes and warnings of @text as printed, the file being "f". Freed by the caller. */
char *policy_text_diag(const char *text, const struct stile_policy *previous);

/* The slot of a name, or -1. */
int policy_text_limiter(const struct policy *policy, const char *name);
int policy_text_listener(const struct policy *policy, const char *name);

/* The names of the limiters in a list of judges, in order, with a space after each. */
const char *policy_text_judges(const struct policy *policy, const __u16 *judges, size_t n,
			       char *ret_names, size_t size);

/* The name of the listener at @address (NULL: any that no listener names) and port, or "-". */
const char *policy_text_at(const struct policy *policy, const char *address,
			   enum stile_protocol protocol, unsigned int port);

#endif /* STILE_TEST_POLICY_TEXT_H */
