/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lists of reason.h as text. Nothing is written twice: a new entry there appears here. */
#include "labels.h"

#define LABEL(id, label, what) label,
#define TEXT(id, label, what) what,

const char *const labels_verdict[_STILE_VERDICT_MAX] = { STILE_VERDICTS(LABEL) };
const char *const labels_reason[_STILE_REASON_MAX] = { STILE_REASONS(LABEL) };
const char *const labels_decision[_STILE_DECISION_MAX] = { STILE_DECISIONS(LABEL) };
const char *const labels_reply[_STILE_REPLY_MAX] = { STILE_REPLIES(LABEL) };

const char *const labels_verdict_text[_STILE_VERDICT_MAX] = { STILE_VERDICTS(TEXT) };
const char *const labels_reason_text[_STILE_REASON_MAX] = { STILE_REASONS(TEXT) };
const char *const labels_decision_text[_STILE_DECISION_MAX] = { STILE_DECISIONS(TEXT) };
