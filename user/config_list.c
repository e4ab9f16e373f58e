/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values that name places in the network (prefixes, addresses, ports) and lists of limiters.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config_value.h"
#include "util.h"

#define PREFIX_EXPECTED "an address or a prefix such as 192.0.2.0/24 or 2001:db8::/32"
#define PORTS_EXPECTED "a port from 1 to 65535, or a range such as 8000-8099"

bool config_value_prefix(struct config_reader *reader, const struct tree_node *node,
			 struct config_prefix *ret_prefix)
{
	const char *text = config_value_text(reader, node, PREFIX_EXPECTED);
	char suggestion[PREFIX_TEXT_SIZE];
	struct prefix prefix;

	if (!text)
		return false;
	switch (prefix_parse(text, &prefix)) {
	case 0:
		*ret_prefix = (struct config_prefix){ .prefix = prefix, .place = node->place };
		return true;
	case -ERANGE:
		config_value_refuse(reader, node, "no bits set past the length; did you mean '%s'?",
				    prefix_format(&prefix, suggestion));
		return false;
	case -EDOM:
		config_value_refuse(reader, node,
				    "a longer prefix: this one holds IPv4 as well, as "
				    "::ffff:0:0/96; 2000::/3 is all of global IPv6, 0.0.0.0/0 "
				    "all of IPv4");
		return false;
	default:
		config_value_refuse(reader, node, PREFIX_EXPECTED);
		return false;
	}
}

static bool is_any(const uint8_t address[16])
{
	static const uint8_t zero[16];

	return memcmp(address, zero, 16) == 0 ||
	       (prefix_is_ipv4(address) && memcmp(address + 12, zero, 4) == 0);
}

bool config_value_address(struct config_reader *reader, const struct tree_node *node,
			  struct config_prefix *ret_host)
{
	static const char expected[] = "an address such as 192.0.2.1 or 2001:db8::1";
	const char *text = config_value_text(reader, node, expected);
	struct config_prefix host = { .prefix.bits = 128, .place = node->place };

	if (!text)
		return false;
	if (prefix_parse_address(text, host.prefix.address) < 0) {
		config_value_refuse(reader, node, "%s", expected);
		return false;
	}
	if (is_any(host.prefix.address)) {
		config_value_refuse(reader, node,
				    "one address; without addresses the listener has them all");
		return false;
	}
	*ret_host = host;
	return true;
}

/* Digits, to the first that is none; false: no port. */
static bool parse_port(const char **text, uint16_t *ret_port)
{
	unsigned long port = 0;
	const char *at = *text;

	while (*at >= '0' && *at <= '9' && port <= UINT16_MAX)
		port = port * 10 + (unsigned long)(*at++ - '0');
	if (port == 0 || port > UINT16_MAX || **text == '0')
		return false;
	*text = at;
	*ret_port = (uint16_t)port;
	return true;
}

bool config_value_ports(struct config_reader *reader, const struct tree_node *node,
			struct config_ports *ret_ports)
{
	struct config_ports ports = { .place = node->place };
	const char *text = config_value_text(reader, node, PORTS_EXPECTED);
	const char *at = text;
	bool good;

	if (!text)
		return false;
	good = parse_port(&at, &ports.first);
	ports.last = ports.first;
	if (good && *at == '-') {
		at++;
		good = parse_port(&at, &ports.last);
	}
	if (!good || *at) {
		config_value_refuse(reader, node, "%s%s", PORTS_EXPECTED,
				    strchr(text, ',') ? "; a list is written [80, 443]" : "");
		return false;
	}
	if (ports.last < ports.first) {
		config_value_refuse(reader, node,
				    "the lower port first; did you mean '%" PRIu16 "-%" PRIu16 "'?",
				    ports.last, ports.first);
		return false;
	}
	*ret_ports = ports;
	return true;
}

/* The host of "HOST:PORT" or "[HOST]:PORT", copied; NULL where it is no address. */
static char *copy_host(const char *text, const char *colon)
{
	bool bracketed = text[0] == '[' && colon[-1] == ']';
	size_t length = (size_t)(colon - text) - (bracketed ? 2 : 0);
	char *host = strndup(text + bracketed, length);
	uint8_t address[16];

	if (host && prefix_parse_address(host, address) == 0 && !strchr(host, ':') == !bracketed)
		return host;
	free(host);
	return NULL;
}

static bool parse_listen(const char *text, char **ret_host, uint16_t *ret_port)
{
	const char *colon = strrchr(text, ':');
	const char *at;
	char *host;

	if (!colon || colon == text)
		return false;
	at = colon + 1;
	*ret_port = 0;
	if (strcmp(at, "0") != 0 && (!parse_port(&at, ret_port) || *at))
		return false;
	host = copy_host(text, colon);
	if (!host)
		return false;
	*ret_host = host;
	return true;
}

bool config_value_listen(struct config_reader *reader, const struct tree_node *node,
			 char **ret_host, uint16_t *ret_port)
{
	static const char expected[] = "an address and a port such as 127.0.0.1:9466 or "
				       "\"[::1]:9466\", or none";
	const char *text = config_value_text(reader, node, expected);
	uint16_t port = 0;
	char *host = NULL;

	if (!text)
		return false;
	if (strcmp(text, "none") != 0 && !parse_listen(text, &host, &port)) {
		config_value_refuse(reader, node, "%s", expected);
		return false;
	}
	*ret_host = host;
	*ret_port = port;
	return true;
}

static bool add_judge(struct config_reader *reader, const struct tree_node *node,
		      struct config_judges *judges)
{
	struct config_name name;

	if (!config_value_name(reader, node, &name))
		return false;
	if (judges->n_names == STILE_JUDGES_MAX) {
		config_value_refuse(reader, node, "at most %d limiters", STILE_JUDGES_MAX);
		return false;
	}
	judges->names[judges->n_names++] = name;
	return true;
}

bool config_value_judges(struct config_reader *reader, const struct tree_node *node,
			 bool allow_none, struct config_judges *ret_judges)
{
	const char *expected = allow_none ? "a limiter's name, a list of names, or none"
					  : "a limiter's name or a list of names";
	struct config_judges judges = { .place = node->place };
	struct tree_walk walk = { 0 };
	const struct tree_node *item;
	bool good = true;

	if (config_value_is(reader, node, "none")) {
		judges.none = allow_none;
		if (allow_none)
			*ret_judges = judges;
		else
			config_value_refuse(reader, node, "%s; without %s there is no limit",
					    expected, reader->key);
		return allow_none;
	}
	if (node->kind != TREE_LIST && node->kind != TREE_SCALAR) {
		config_value_refuse(reader, node, "%s", expected);
		return false;
	}
	while ((item = config_value_item(reader, node, &walk, expected)))
		good = add_judge(reader, item, &judges) && good;
	if (good && judges.n_names == 0 && !node->open) {
		config_value_mistake(reader, node->place, "%s: found an empty list, expected %s",
				     reader->key, expected);
		return false;
	}
	*ret_judges = judges;
	return good;
}
