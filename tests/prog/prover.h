/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clients that have to prove themselves, one segment at a time. */
#ifndef STILE_PROVER_H
#define STILE_PROVER_H

#include "prog.h"

#define PROVER_PORT 8080
#define PROVER_SEQUENCE 0xfffffffeU /* of the client's SYN */

#define CHALLENGED "reply challenged challenge"
#define ALLOWED "pass allowed web/l=allowed"
#define LIMITED "reply limited web/l=limited reset"
#define REPEATED "pass repeated"
#define ESTABLISHED "pass established"
#define UNPROVEN "drop unproven"

/* Beginnings of configurations. */
#define WEB "listeners: {web: {ports: [8080], prove_sources: always, "
#define TWO_PER_HOUR "rate_limiters: {l: {limit: 2, window: 1h, max_keys: 64}}\n"

/* A client that was challenged. */
struct prover {
	struct prog *prog;
	struct pkt_spec spec;
	uint32_t number; /* that it has to bring back */
};

/* Loads @text beside a service that listens. */
bool prover_begin(struct prog *prog, int *ret_listening, const char *text);

/* Sends a SYN, and takes what comes back for a SYN cookie. As prog_send(). */
const char *prover_ask(struct prover *client, struct prog *prog, const char *from, uint16_t port);

/* The same, where nothing but a cookie is right. */
bool prover_challenged(struct prover *client, struct prog *prog, const char *from, uint16_t port);

/* The client's next segment; @ahead bytes lie between its SYN and that. As prog_send(). */
const char *prover_bring(const struct prover *client, uint16_t flags, uint32_t ahead,
			 uint16_t payload);
const char *prover_acknowledge(const struct prover *client);

/* A SYN, its cookie, and that brought back. */
const char *prover_shake(struct prog *prog, const char *from, uint16_t port);

/* Whether nobody has a bucket at the limiter. */
bool prover_is_empty(const struct prog *prog, const char *limiter);

#endif /* STILE_PROVER_H */
