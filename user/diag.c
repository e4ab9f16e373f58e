/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The collection of mistakes, kept in the order of the file whatever order they were found in, and
 * the guess at what a misspelt name was meant to be. Memory that runs out costs texts, never the
 * count: a configuration with a mistake is never taken for a good one.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"

#define WORD_MAX 63 /* longer words are no misspelling of ours */

void diag_init(struct diag *diag, const char *file)
{
	*diag = (struct diag){ .file = file };
}

void diag_release(struct diag *diag)
{
	for (size_t i = 0; i < diag->n_entries; i++)
		free(diag->entries[i].text);
	free(diag->entries);
	diag_init(diag, diag->file);
}

static int compare_places(struct place a, struct place b)
{
	if (a.line != b.line)
		return a.line < b.line ? -1 : 1;
	if (a.column != b.column)
		return a.column < b.column ? -1 : 1;
	return 0;
}

static bool is_known(const struct diag *diag, size_t at, const struct diag_entry *entry)
{
	for (; at > 0; at--) {
		const struct diag_entry *known = &diag->entries[at - 1];

		if (compare_places(known->place, entry->place) != 0)
			return false;
		if (known->severity == entry->severity && strcmp(known->text, entry->text) == 0)
			return true;
	}
	return false;
}

/* Where an entry at @place goes: after all that are not behind it. */
static size_t position(const struct diag *diag, struct place place)
{
	size_t low = 0, high = diag->n_entries;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_places(diag->entries[middle].place, place) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool diag_keeps(const struct diag *diag, struct place place)
{
	return diag->n_entries < DIAG_ENTRIES_MAX ||
	       compare_places(place, diag->entries[DIAG_ENTRIES_MAX - 1].place) < 0;
}

static bool reserve(struct diag *diag)
{
	struct diag_entry *entries;

	if (diag->entries)
		return true;
	entries = calloc(DIAG_ENTRIES_MAX, sizeof(*entries));
	diag->entries = entries;
	return entries != NULL;
}

static void count(struct diag *diag, const struct diag_entry *entry)
{
	if (entry->severity == DIAG_ERROR)
		diag->n_errors++;
}

/* Takes @entry's text, which is NULL where it is not kept, or there was no memory for it. */
static void add(struct diag *diag, struct diag_entry *entry)
{
	size_t at = position(diag, entry->place);

	if (!entry->text || !reserve(diag)) {
		free(entry->text);
		count(diag, entry);
		diag->n_dropped++;
		return;
	}
	if (is_known(diag, at, entry)) {
		free(entry->text);
		return;
	}
	if (diag->n_entries == DIAG_ENTRIES_MAX) {
		free(diag->entries[--diag->n_entries].text);
		diag->n_dropped++;
	}
	memmove(&diag->entries[at + 1], &diag->entries[at],
		(diag->n_entries - at) * sizeof(*diag->entries));
	diag->entries[at] = *entry;
	diag->n_entries++;
	count(diag, entry);
}

/* Those of ASCII, and of the two-byte ones (U+0080 to U+009F) the first byte and the second. */
static bool is_control(const char *c)
{
	const unsigned char *byte = (const unsigned char *)c;

	return byte[0] < 0x20 || byte[0] == 0x7f ||
	       (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0);
}

/* In place; nobody's terminal is to act on a file. */
static void clean(char *text)
{
	for (char *c = text; *c; c++) {
		if (!is_control(c))
			continue;
		if ((unsigned char)*c == 0xc2)
			*c++ = '?';
		*c = '?';
	}
}

static void add_formatted(struct diag *diag, struct diag_entry entry, const char *format,
			  va_list arguments)
{
	if (!diag_keeps(diag, entry.place) || vasprintf(&entry.text, format, arguments) < 0)
		entry.text = NULL;
	else
		clean(entry.text);
	add(diag, &entry);
}

void diag_error(struct diag *diag, struct place place, const char *format, ...)
{
	const struct diag_entry entry = { .severity = DIAG_ERROR, .place = place };
	va_list arguments;

	va_start(arguments, format);
	add_formatted(diag, entry, format, arguments);
	va_end(arguments);
}

void diag_warning(struct diag *diag, struct place place, const char *format, ...)
{
	const struct diag_entry entry = { .severity = DIAG_WARNING, .place = place };
	va_list arguments;

	if (diag->again && place.line)
		return;
	va_start(arguments, format);
	add_formatted(diag, entry, format, arguments);
	va_end(arguments);
}

void diag_print(const struct diag *diag, FILE *out)
{
	for (size_t i = 0; i < diag->n_entries; i++) {
		const struct diag_entry *entry = &diag->entries[i];

		fprintf(out, "%s:", diag->file);
		if (entry->place.line)
			fprintf(out, "%u:%u:", entry->place.line, entry->place.column);
		fprintf(out, " %s%s\n", entry->severity == DIAG_WARNING ? "warning: " : "",
			entry->text);
	}
	if (diag->n_dropped)
		fprintf(out, "%s: %zu more not shown\n", diag->file, diag->n_dropped);
}

const char *diag_quote(const char *text, char quoted[DIAG_QUOTE_SIZE])
{
	size_t length = strlen(text);
	bool cut = length > DIAG_QUOTE_SIZE - sizeof("'...'");

	if (cut)
		length = DIAG_QUOTE_SIZE - sizeof("'...'");
	/* Not within a character of UTF-8. */
	while (cut && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	snprintf(quoted, DIAG_QUOTE_SIZE, "'%.*s%s'", (int)length, text, cut ? "..." : "");
	return quoted;
}

/* Case, and which of the two dashes it was, are the smallest of mistakes: none at all here. */
static char fold(char c)
{
	return c == '-' ? '_' : (char)tolower((unsigned char)c);
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/*
 * Letters to put in, leave out, replace or swap with their neighbour, to make @b of @a (optimal
 * string alignment). Both are at most WORD_MAX long.
 */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int rows[3][WORD_MAX + 1];
	size_t length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned int *row = rows[i % 3], *above = rows[(i + 2) % 3];
		const unsigned int *higher = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= length; j++) {
			unsigned int changed = fold(a[i - 1]) != fold(b[j - 1]);

			row[j] = least(above[j - 1] + changed, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				row[j] = least(row[j], higher[j - 2] + changed);
		}
	}
	return rows[strlen(a) % 3][length];
}

static bool is_beginning(const char *word, const char *name)
{
	size_t length = strlen(word);

	return length >= 3 && strncasecmp(word, name, length) == 0;
}

const char *diag_nearest(const char *word, const char *const *names)
{
	unsigned int nearest_distance = ~0U;
	const char *nearest = NULL;

	if (strlen(word) > WORD_MAX)
		return NULL;
	for (; *names; names++) {
		unsigned int allowed, d;

		if (strlen(*names) > WORD_MAX)
			continue;
		allowed = (unsigned int)(strlen(*names) + 1) / 3;
		d = distance(word, *names);
		if (d > 1 && is_beginning(word, *names))
			d = 1;
		if (d <= allowed && d < nearest_distance) {
			nearest = *names;
			nearest_distance = d;
		}
	}
	return nearest;
}

const char *diag_nearest_at(const struct diag *diag, struct place place, const char *word,
			    const char *const *names)
{
	return diag_keeps(diag, place) ? diag_nearest(word, names) : NULL;
}
