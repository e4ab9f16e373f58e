/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lists of reason.h as text: labels for machines, explanations for people. */
#ifndef STILE_LABELS_H
#define STILE_LABELS_H

#include <stile/reason.h>

extern const char *const labels_verdict[_STILE_VERDICT_MAX];
extern const char *const labels_reason[_STILE_REASON_MAX];
extern const char *const labels_decision[_STILE_DECISION_MAX];
extern const char *const labels_reply[_STILE_REPLY_MAX];

extern const char *const labels_verdict_text[_STILE_VERDICT_MAX];
extern const char *const labels_reason_text[_STILE_REASON_MAX];
extern const char *const labels_decision_text[_STILE_DECISION_MAX];

#endif /* STILE_LABELS_H */
