/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one list of verdicts, reasons, decisions and reply kinds. Enums, metric labels, command
 * output and the manual's tables are all made from it. Append only: labels are public.
 */
#ifndef STILE_REASON_H
#define STILE_REASON_H

/* What becomes of a packet. */
#define STILE_VERDICTS(X)                                                                          \
	X(PASS, "pass", "handed on to the network stack")                                          \
	X(DROP, "drop", "dropped without an answer")                                               \
	X(REPLY, "reply", "answered by Stile, and dropped")

/* Why. Every packet leaves the program with exactly one of these. */
#define STILE_REASONS(X)                                                                           \
	X(NOT_IP, "not_ip", "neither IPv4 nor IPv6")                                               \
	X(TRUNCATED, "truncated", "ends within a header")                                          \
	X(FRAGMENT, "fragment", "a fragment that carries no ports")                                \
	X(EXT_HEADER, "ext_header", "more IPv6 extension headers than are followed")               \
	X(NOT_TRANSPORT, "not_transport", "neither TCP nor UDP")                                   \
	X(MARTIAN, "martian", "an IPv6 source that stands for an IPv4 address")                    \
	X(BLOCKED, "blocked", "the source is on the blocked list")                                 \
	X(UNPROTECTED, "unprotected", "no listener for this protocol, address and port")           \
	X(BAD_FLAGS, "bad_flags", "TCP flags that no connection uses")                             \
	X(ESTABLISHED, "established", "TCP, and not a request for a new connection")               \
	X(EXEMPT, "exempt", "the source is trusted, or its own policy is none")                    \
	X(UNLIMITED, "unlimited", "the listener names no limiter")                                 \
	X(REPEATED, "repeated", "a SYN sent again for an attempt that was charged already")        \
	X(ALLOWED, "allowed", "every limiter allowed it")                                          \
	X(COUNTED, "counted", "over a limit, and let through (action count, watchdog)")            \
	X(LIMITED, "limited", "over a limit")                                                      \
	X(FULL, "full", "a new client found no room in a limiter's table")                         \
	X(NO_TABLE, "no_table", "a limiter's table is missing: let through")                       \
	X(DISABLED, "disabled", "Stile is switched off by enabled: false")                         \
	X(TINY_FRAGMENT, "tiny_fragment", "a fragment that cuts the TCP or UDP header in two")     \
	X(UNATTENDED, "unattended", "the daemon has been silent for too long (watchdog)")          \
	X(SESSION, "session", "a datagram of a session that was let in")                           \
	X(HELD, "held", "a datagram of a session that was refused, and not judged again yet")      \
	X(MALFORMED, "malformed", "a TCP or UDP header that says what cannot be")                  \
	X(VLAN_TAGS, "vlan_tags", "more VLAN tags than two")                                       \
	X(ACCEPT_QUEUE, "accept_queue", "the service's accept queue has no room for this client")  \
	X(BUSY, "busy", "a refused client's segment, to whom Stile speaks in its own language")    \
	X(WAITING, "waiting", "over a limit, and waiting for a place (queue)")                     \
	X(EVICTING, "evicting", "over a limit, and an idle connection of its client is closed")    \
	X(CHALLENGED, "challenged", "a SYN that gets a SYN cookie: its source is not proven yet")  \
	X(UNPROVEN, "unproven", "a segment that came before the one which proves its source")

/* What one limiter says of one event. */
#define STILE_DECISIONS(X)                                                                         \
	X(ALLOWED, "allowed", "within the limit, and charged")                                     \
	X(LIMITED, "limited", "over the limit, refused, and not charged")                          \
	X(COUNTED, "counted", "over the limit, and let through (action count, watchdog)")          \
	X(EXEMPT, "exempt", "not judged: the source is trusted or its policy is none")             \
	X(FULL, "full", "a new client found no room in the table (max_keys_action)")

/* What Stile answers with. */
#define STILE_REPLIES(X)                                                                           \
	X(RESET, "reset", "a TCP RST")                                                             \
	X(ICMP, "icmp", "an ICMP or ICMPv6 port unreachable")                                      \
	X(FAILED, "failed", "an answer that could not be built: the packet was dropped instead")   \
	X(WITHHELD, "withheld", "an answer past replies_per_second: dropped instead")              \
	X(COOKIE, "cookie", "a SYN-ACK to a client that will be told that the service is busy")    \
	X(BUSY, "busy", "that the service is busy, in the client's own language")                  \
	X(CLOSE, "close", "a FIN, with nothing said (action close)")                               \
	X(ACK, "ack", "an ACK of the end of such a conversation")                                  \
	X(CHALLENGE, "challenge", "a SYN cookie, to a source that is not proven (prove_sources)")

/* The formatter cannot read a list within an enum. */
/* clang-format off */
enum stile_verdict {
#define X(id, label, what) STILE_VERDICT_##id,
	STILE_VERDICTS(X)
#undef X
	_STILE_VERDICT_MAX,
};

enum stile_reason {
#define X(id, label, what) STILE_REASON_##id,
	STILE_REASONS(X)
#undef X
	_STILE_REASON_MAX,
};

enum stile_decision {
#define X(id, label, what) STILE_DECISION_##id,
	STILE_DECISIONS(X)
#undef X
	_STILE_DECISION_MAX,
};

enum stile_reply {
#define X(id, label, what) STILE_REPLY_##id,
	STILE_REPLIES(X)
#undef X
	_STILE_REPLY_MAX,
};
/* clang-format on */

#endif /* STILE_REASON_H */
