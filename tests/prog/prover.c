/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Segments of such clients, and the number in what comes back. */
#include <arpa/inet.h>
#include <string.h>

#include "check.h"
#include "connection.h"
#include "prover.h"

bool prover_begin(struct prog *prog, int *ret_listening, const char *text)
{
	*ret_listening = connection_listen(PROVER_PORT);
	return CHECK("a service listens", *ret_listening >= 0) && prog_load(prog, text, PROG_NOW);
}

const char *prover_ask(struct prover *client, struct prog *prog, const char *from, uint16_t port)
{
	const bool ipv6 = strchr(from, ':') != NULL;
	const char *text;

	client->prog = prog;
	client->spec = (struct pkt_spec){ .from = from,
					  .to = strcmp(from, "127.0.0.1") == 0 ? from : NULL,
					  .ipv6 = ipv6,
					  .sport = port,
					  .dport = PROVER_PORT,
					  .sequence = PROVER_SEQUENCE };
	text = prog_send(prog, &client->spec);
	memcpy(&client->number, prog->back.bytes + 14 + (ipv6 ? 40 : 20) + 4, 4);
	client->number = ntohl(client->number);
	return text;
}

bool prover_challenged(struct prover *client, struct prog *prog, const char *from, uint16_t port)
{
	return CHECK_STR_EQ("it is challenged", prover_ask(client, prog, from, port), CHALLENGED);
}

const char *prover_bring(const struct prover *client, uint16_t flags, uint32_t ahead,
			 uint16_t payload)
{
	struct pkt_spec segment = client->spec;

	segment.flags = flags;
	segment.sequence = PROVER_SEQUENCE + 1 + ahead;
	segment.acknowledgment = client->number + 1;
	segment.payload = payload;
	return prog_send(client->prog, &segment);
}

const char *prover_acknowledge(const struct prover *client)
{
	return prover_bring(client, PKT_ACK, 0, 0);
}

const char *prover_shake(struct prog *prog, const char *from, uint16_t port)
{
	struct prover client;

	return prover_challenged(&client, prog, from, port) ? prover_acknowledge(&client) : "";
}

bool prover_is_empty(const struct prog *prog, const char *limiter)
{
	static const struct stile_set empty;
	struct prog_table table;

	if (!prog_table(prog, limiter, &table))
		return false;
	for (uint32_t i = 0; i < table.n_sets; i++)
		if (memcmp(table.sets[i].state, empty.state, sizeof(empty.state)) != 0)
			return false;
	return true;
}
