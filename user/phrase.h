/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Spans of time and limiters in words, for people. Pure. */
#ifndef STILE_PHRASE_H
#define STILE_PHRASE_H

#include <stdint.h>

#include <stile/abi.h>

#define PHRASE_SIZE 128

/* "0.2 s", "7.3 s", "2 min 5 s", "3 h 12 min", "4 d 1 h"; never less than @ns. Returns @text. */
const char *phrase_duration(uint64_t ns, char text[PHRASE_SIZE]);

/* As the configuration file has it: "10s", "1m", "90s", "1h". */
const char *phrase_window(uint64_t ns, char text[PHRASE_SIZE]);

/* "600 connections per 1m", and "burst 20" where there is one. */
const char *phrase_limit(const struct stile_limiter *limiter, char text[PHRASE_SIZE]);

/* What it counts: "connections", "sessions", "connections and sessions". */
const char *phrase_unit(const struct stile_limiter *limiter);

/* What one client is: "client_ip, IPv4 /32, IPv6 /64", or "all together". */
const char *phrase_keys(const struct stile_limiter *limiter, char text[PHRASE_SIZE]);

#endif /* STILE_PHRASE_H */
