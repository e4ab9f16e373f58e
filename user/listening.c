/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * /proc/net prints an address as 32-bit words of the host's order, and a state of TCP; a UDP
 * socket that is connected to no one counts as listening.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "listening.h"
#include "prefix.h"
#include "util.h"

#define STATE_LISTEN 10	    /* TCP_LISTEN in hexadecimal: 0A */
#define STATE_UNCONNECTED 7 /* what UDP has in place of it */

static bool is_zero(const uint8_t *bytes, size_t n)
{
	while (n > 0 && bytes[n - 1] == 0)
		n--;
	return n == 0;
}

/* 8 or 32 hexadecimal digits. */
static bool parse_address(const char *text, struct listening_socket *socket)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	size_t n = strlen(text) / 8;
	uint32_t words[4] = { 0 };

	if ((n != 1 && n != 4) || strlen(text) % 8)
		return false;
	for (size_t i = 0; i < n; i++) {
		char digits[9] = "";

		memcpy(digits, text + 8 * i, 8);
		words[i] = (uint32_t)strtoul(digits, NULL, 16);
	}
	if (n == 1)
		memcpy(socket->address, mapped, sizeof(mapped));
	memcpy(socket->address + (n == 1 ? sizeof(mapped) : 0), words, 4 * n);
	socket->everywhere = is_zero((const uint8_t *)words, 4 * n);
	return true;
}

static bool parse_line(const char *line, enum stile_protocol protocol,
		       struct listening_socket *ret_socket)
{
	unsigned int port, state;
	char address[33];

	if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%4x %*[0-9A-Fa-f:] %2x", address, &port, &state) !=
		    3 ||
	    state != (protocol == STILE_PROTOCOL_TCP ? STATE_LISTEN : STATE_UNCONNECTED))
		return false;
	*ret_socket = (struct listening_socket){ .protocol = protocol, .port = (uint16_t)port };
	return parse_address(address, ret_socket);
}

int listening_add(struct listening *listening, enum stile_protocol protocol, FILE *table)
{
	char line[512];

	while (fgets(line, sizeof(line), table)) {
		struct listening_socket socket, *grown;

		if (!parse_line(line, protocol, &socket))
			continue;
		grown = reallocarray(listening->sockets, listening->n + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		listening->sockets = grown;
		grown[listening->n++] = socket;
	}
	return ferror(table) ? -EIO : 0;
}

int listening_read(struct listening *ret_listening)
{
	static const struct {
		const char *path;
		enum stile_protocol protocol;
	} tables[] = {
		{ "/proc/self/net/tcp", STILE_PROTOCOL_TCP },
		{ "/proc/self/net/tcp6", STILE_PROTOCOL_TCP },
		{ "/proc/self/net/udp", STILE_PROTOCOL_UDP },
		{ "/proc/self/net/udp6", STILE_PROTOCOL_UDP },
	};
	struct listening listening = { 0 };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables) && r == 0; i++) {
		FILE *table = fopen(tables[i].path, "re");

		if (!table && errno == ENOENT)
			continue; /* a kernel without IPv6 */
		r = table ? listening_add(&listening, tables[i].protocol, table) : -errno;
		if (table)
			(void)fclose(table); /* only read */
	}
	if (r < 0)
		listening_release(&listening);
	else
		*ret_listening = listening;
	return r;
}

bool listening_has(const struct listening *listening, enum stile_protocol protocol,
		   const uint8_t *address, const uint16_t ports[2])
{
	for (size_t i = 0; i < listening->n; i++) {
		const struct listening_socket *socket = &listening->sockets[i];

		if (socket->protocol == protocol && socket->port >= ports[0] &&
		    socket->port <= ports[1] &&
		    (!address || socket->everywhere || memcmp(socket->address, address, 16) == 0))
			return true;
	}
	return false;
}

void listening_release(struct listening *listening)
{
	free(listening->sockets);
	*listening = (struct listening){ 0 };
}
