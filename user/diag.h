/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mistakes found in a configuration, each with its place, collected so that a person sees all of
 * them at once. It knows neither YAML nor policies.
 */
#ifndef STILE_DIAG_H
#define STILE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define DIAG_QUOTE_SIZE 80

/* Entries kept; what comes later in the file than these is only counted. */
#define DIAG_ENTRIES_MAX 1000

/* A place in a file: line and column count from 1; line 0 means the file as a whole. */
struct place {
	unsigned int line;
	unsigned int column;
};

enum diag_severity { DIAG_ERROR, DIAG_WARNING };

struct diag_entry {
	enum diag_severity severity;
	struct place place;
	char *text; /* what was found, what was wanted; no newline */
};

struct diag {
	const char *file;	    /* borrowed: as the user named it */
	bool again;		    /* warnings of the file were told before: none is kept */
	struct diag_entry *entries; /* in the order of the file */
	size_t n_entries;
	size_t n_errors;  /* those not kept included */
	size_t n_dropped; /* entries not kept */
};

void diag_init(struct diag *diag, const char *file);
void diag_release(struct diag *diag);

/* The same text at the same place is kept once. Control characters become '?'. */
__attribute__((format(printf, 3, 4))) void diag_error(struct diag *diag, struct place place,
						      const char *format, ...);
__attribute__((format(printf, 3, 4))) void diag_warning(struct diag *diag, struct place place,
							const char *format, ...);

/*
 * Whether an entry at @place would be kept. Where not, it is counted all the same, and its text
 * needs no effort: a file may have a million mistakes.
 */
bool diag_keeps(const struct diag *diag, struct place place);

/*
 * A line for each entry, in the order of the file: "file:line:column: text" ("warning: " before
 * the text of a warning).
 */
void diag_print(const struct diag *diag, FILE *out);

/* @text in quotes, cut where it is long, for messages. Returns @quoted. */
const char *diag_quote(const char *text, char quoted[DIAG_QUOTE_SIZE]);

/*
 * The name of @names (NULL-terminated) that @word was probably meant to be, or NULL. For
 * "unknown key 'limti', did you mean 'limit'?".
 */
const char *diag_nearest(const char *word, const char *const *names);

/* The same for an entry at @place; NULL as well where that would not be kept. */
const char *diag_nearest_at(const struct diag *diag, struct place place, const char *word,
			    const char *const *names);

#endif /* STILE_DIAG_H */
