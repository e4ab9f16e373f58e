/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The enums of abi.h as the configuration file writes them. */
#include "names.h"

const char *const policy_protocol_names[_STILE_PROTOCOL_MAX + 1] = {
	[STILE_PROTOCOL_TCP] = "tcp",
	[STILE_PROTOCOL_UDP] = "udp",
};

const char *const policy_algorithm_names[_STILE_ALGORITHM_MAX + 1] = {
	[STILE_ALGORITHM_SLIDING_WINDOW] = "sliding_window",
	[STILE_ALGORITHM_TOKEN_BUCKET] = "token_bucket",
	[STILE_ALGORITHM_FIXED_WINDOW] = "fixed_window",
	[STILE_ALGORITHM_CONCURRENCY] = "concurrency",
};

const char *const policy_action_names[_STILE_ACTION_MAX + 1] = {
	[STILE_ACTION_REJECT] = "reject", [STILE_ACTION_RESET] = "reset",
	[STILE_ACTION_CLOSE] = "close",	  [STILE_ACTION_DROP] = "drop",
	[STILE_ACTION_COUNT] = "count",
};

const char *const policy_unit_names[_STILE_UNIT_MAX + 1] = {
	[STILE_UNIT_CONNECTIONS] = "connections",
	[STILE_UNIT_DATAGRAMS] = "datagrams",
	[STILE_UNIT_SESSIONS] = "sessions",
	[STILE_UNIT_ESTABLISHMENTS] = "establishments",
};

const char *const policy_full_names[_STILE_FULL_MAX + 1] = {
	[STILE_FULL_EVICT] = "evict",
	[STILE_FULL_ALLOW] = "allow",
	[STILE_FULL_REJECT] = "reject",
};

const char *const policy_hash_names[_STILE_HASH_MAX + 1] = {
	[STILE_HASH_XORSHIFT] = "xorshift",
	[STILE_HASH_SIPHASH] = "siphash",
};

const char *const policy_mode_names[_STILE_MODE_MAX + 1] = {
	[STILE_MODE_AUTO] = "auto",
	[STILE_MODE_NATIVE] = "native",
	[STILE_MODE_GENERIC] = "generic",
};

const char *const policy_watchdog_names[_STILE_WATCHDOG_MAX + 1] = {
	[STILE_WATCHDOG_KEEP] = "keep",
	[STILE_WATCHDOG_COUNT] = "count",
	[STILE_WATCHDOG_PASS] = "pass",
};

const char *const policy_prove_names[_STILE_PROVE_MAX + 1] = {
	[STILE_PROVE_NEVER] = "never",
	[STILE_PROVE_AUTO] = "auto",
	[STILE_PROVE_ALWAYS] = "always",
};

const char *const policy_language_names[_STILE_LANGUAGE_MAX + 1] = {
	[STILE_LANGUAGE_NONE] = "none",
	[STILE_LANGUAGE_HTTP] = "http",
	[STILE_LANGUAGE_SMTP] = "smtp",
	[STILE_LANGUAGE_REDIS] = "redis",
	[STILE_LANGUAGE_POSTGRESQL] = "postgresql",
	[STILE_LANGUAGE_MYSQL] = "mysql",
	[STILE_LANGUAGE_OPCUA] = "opcua",
	[STILE_LANGUAGE_TLS] = "tls",
	[STILE_LANGUAGE_DNS] = "dns",
	[STILE_LANGUAGE_NTP] = "ntp",
	[STILE_LANGUAGE_SIP] = "sip",
	[STILE_LANGUAGE_COAP] = "coap",
	[STILE_LANGUAGE_RAW] = "raw",
};
