/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pairs of lines, each with the same first word: names, and then their values. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "syncookies.h"

#define NETSTAT "/proc/net/netstat"
#define ENABLED "/proc/sys/net/ipv4/tcp_syncookies"
#define SECTION "TcpExt: "
#define NAME "SyncookiesSent"
#define LINE_SIZE 8192

/* The value of @values that is where NAME is in @names. */
static bool find(char *names, char *values, uint64_t *ret_sent)
{
	char *name_rest, *value_rest, *end;
	const char *name = strtok_r(names, " \n", &name_rest);
	const char *value = strtok_r(values, " \n", &value_rest);

	for (; name && value;
	     name = strtok_r(NULL, " \n", &name_rest), value = strtok_r(NULL, " \n", &value_rest)) {
		if (strcmp(name, NAME) != 0)
			continue;
		*ret_sent = strtoull(value, &end, 10);
		return end != value && *end == '\0';
	}
	return false;
}

bool syncookies_parse(FILE *file, uint64_t *ret_sent)
{
	char names[LINE_SIZE], values[LINE_SIZE];

	while (fgets(names, sizeof(names), file) && fgets(values, sizeof(values), file)) {
		if (strncmp(names, SECTION, strlen(SECTION)) == 0)
			return find(names, values, ret_sent);
	}
	return false;
}

void syncookies_note(struct syncookies *cookies, const uint64_t *sent, uint64_t now)
{
	bool same = sent && (cookies->known ? *sent == cookies->sent : *sent == 0);

	if (!same)
		cookies->last = now;
	cookies->known = sent != NULL;
	cookies->sent = sent ? *sent : 0;
}

void syncookies_look(struct syncookies *cookies)
{
	FILE *file = fopen(NETSTAT, "re");
	struct timespec now;
	uint64_t sent;
	bool known = file && syncookies_parse(file, &sent);

	if (file)
		(void)fclose(file);		    /* it was only read */
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	syncookies_note(cookies, known ? &sent : NULL,
			(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

bool syncookies_enabled(void)
{
	FILE *file = fopen(ENABLED, "re");
	int enabled = 1;

	if (!file)
		return true;
	if (fscanf(file, "%d", &enabled) != 1)
		enabled = 1;
	(void)fclose(file); /* it was only read */
	return enabled != 0;
}
