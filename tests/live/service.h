/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Services of other kinds than live.h has, and clients of them: lines of shell on either side. */
#ifndef STILE_LIVE_SERVICE_H
#define STILE_LIVE_SERVICE_H

#include "live.h"

/*
 * Starts a line of shell on the server's side, in the test's directory, as the program that it
 * ends with ("exec" comes before it), and waits until @ready, another one there, ends with 0. Ends
 * with the test.
 */
bool service_start(struct live *live, const char *line, const char *ready);

/*
 * What a line of shell on the client's side prints; $SERVER and $SERVER6 are the server's
 * addresses, $CLIENT and $CLIENT6 the client's. Printed, too, as what a real client says.
 */
struct output service_ask(const struct live *live, const char *line);

/* The same, and checks that @words are in it. */
void service_says(const struct live *live, const char *line, const char *words);

/* Whether all of the line's output has been seen to have @words, within LIVE_BOUND_MS. */
void service_says_soon(const struct live *live, const char *line, const char *words);

#endif /* STILE_LIVE_SERVICE_H */
