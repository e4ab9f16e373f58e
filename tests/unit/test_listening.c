/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who listens where, by texts as /proc/net has them on a little-endian host. */
#include <endian.h>
#include <string.h>

#include "check.h"
#include "listening.h"
#include "prefix.h"
#include "util.h"

#define HEAD                                                                                       \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "      \
	"timeout inode\n"
#define TAIL " 00000000:00000000 00:00000000 00000000     0        0 1\n"
#define NOBODY_V6 "00000000000000000000000000000000:0000"

static const char tcp[] = HEAD "   0: 00000000:0050 00000000:0000 0A" TAIL /* every address, 80 */
			       "   1: 0100007F:1F90 00000000:0000 0A" TAIL /* 127.0.0.1, 8080 */
			       "   2: 0100007F:0016 0200007F:D431 01" TAIL /* a connection */
			       "what is this\n";
static const char tcp6[] = HEAD
	"   0: 00000000000000000000000000000000:01BB " NOBODY_V6 " 0A" TAIL  /* every, 443 */
	"   1: B80D0120000000000000000001000000:0016 " NOBODY_V6 " 0A" TAIL; /* 2001:db8::1, 22 */
static const char udp[] = HEAD "  12: 010200C0:0035 00000000:0000 07" TAIL   /* 192.0.2.1, 53 */
			       "  13: 010200C0:0045 0200007F:D431 01" TAIL;  /* connected */

static bool add(struct listening *listening, enum stile_protocol protocol, const char *text)
{
	FILE *table = fmemopen((void *)text, strlen(text), "r");
	int r;

	if (!CHECK("there is memory", table != NULL))
		return false;
	r = listening_add(listening, protocol, table);
	(void)fclose(table); /* from memory */
	return CHECK_EQ("it is read", r, 0);
}

static void test_tables(void)
{
	static const struct {
		const char *what;
		enum stile_protocol protocol;
		const char *address;
		uint16_t ports[2];
		bool want;
	} rows[] = {
		{ "at any address", STILE_PROTOCOL_TCP, NULL, { 80, 80 }, true },
		{ "at each, where it is bound to none",
		  STILE_PROTOCOL_TCP,
		  "192.0.2.9",
		  { 80, 80 },
		  true },
		{ "at its own, of IPv6", STILE_PROTOCOL_TCP, "2001:db8::1", { 22, 22 }, true },
		{ "not at another", STILE_PROTOCOL_TCP, "2001:db8::2", { 22, 22 }, false },
		{ "at its own", STILE_PROTOCOL_TCP, "127.0.0.1", { 8080, 8080 }, true },
		{ "not at another", STILE_PROTOCOL_TCP, "127.0.0.2", { 8080, 8080 }, false },
		{ "within a range", STILE_PROTOCOL_TCP, "127.0.0.1", { 8000, 9000 }, true },
		{ "not beside it", STILE_PROTOCOL_TCP, NULL, { 8081, 9000 }, false },
		{ "a connection is no listener",
		  STILE_PROTOCOL_TCP,
		  "127.0.0.1",
		  { 22, 22 },
		  false },
		{ "every IPv6 address", STILE_PROTOCOL_TCP, "2001:db8::7", { 443, 443 }, true },
		{ "each protocol by itself", STILE_PROTOCOL_UDP, NULL, { 80, 80 }, false },
		{ "a socket of UDP", STILE_PROTOCOL_UDP, "192.0.2.1", { 53, 53 }, true },
		{ "not one that is connected", STILE_PROTOCOL_UDP, NULL, { 69, 69 }, false },
	};
	struct listening listening = { 0 };
	bool read = __BYTE_ORDER == __LITTLE_ENDIAN && add(&listening, STILE_PROTOCOL_TCP, tcp) &&
		    add(&listening, STILE_PROTOCOL_TCP, tcp6) &&
		    add(&listening, STILE_PROTOCOL_UDP, udp);

	for (size_t i = 0; i < ARRAY_SIZE(rows) && read; i++) {
		uint8_t address[16];

		if (rows[i].address &&
		    !CHECK_EQ("an address", prefix_parse_address(rows[i].address, address), 0))
			continue;
		CHECK_EQ(rows[i].what,
			 listening_has(&listening, rows[i].protocol,
				       rows[i].address ? address : NULL, rows[i].ports),
			 rows[i].want);
	}
	listening_release(&listening);
}

static void test_host(void)
{
	struct listening listening;

	if (!CHECK_EQ("this host's are read", listening_read(&listening), 0))
		return;
	listening_release(&listening);
}

CHECK_SUITE(listening, { "tables of sockets", test_tables }, { "this host's", test_host });
