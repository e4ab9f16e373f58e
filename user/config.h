/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The configuration as the user wrote it (stile.yaml.5): every value checked by itself and with
 * its place. Whether values fit each other (a limiter that is named but not defined) is asked in
 * policy.h. It makes no system call but reading the file.
 */
#ifndef STILE_CONFIG_H
#define STILE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <stile/abi.h>

#include "config_part.h"
#include "config_service.h"
#include "diag.h"
#include "language.h"
#include "prefix.h"

struct config_name {
	char text[STILE_NAME_SIZE];
	struct place place;
};

/* A list of limiter names; none: the word "none" stood there instead. */
struct config_judges {
	struct config_name names[STILE_JUDGES_MAX];
	unsigned int n_names;
	bool none; /* sources only */
	struct place place;
};

struct config_prefix {
	struct prefix prefix;
	struct place place;
};

struct config_interface {
	struct config_name name; /* at most 15 bytes */
	enum stile_mode mode;
	struct config_judges judges;
};

struct config_limiter {
	struct config_name name;
	enum stile_algorithm algorithm;
	uint64_t limit;	       /* events per window; 0: not given, an error of policy.h */
	uint64_t window;       /* ns */
	uint64_t burst, queue; /* tokens; 0: not given, = limit; SYNs that may wait */
	struct place limit_place, window_place, burst_place, queue_place, ipv6_prefix_place,
		unit_place, response_place; /* line 0: not given */
	bool keyed, has_unit;		    /* keyed is false: keys: [] */
	uint8_t ipv4_prefix, ipv6_prefix;
	enum stile_unit unit; /* where has_unit */
	enum stile_action action;
	struct language_response response;
	uint32_t max_keys;
	enum stile_full full;
	enum stile_hash hash;
	unsigned int unsure; /* in a draft: each config_part that is not what the file says */
};

struct config_ports {
	uint16_t first, last; /* inclusive, first <= last; never 0 */
	struct place place;
};

struct config_source {
	struct config_prefix prefix;
	struct config_judges judges;
};

struct raw;

struct config_listener {
	struct config_name name, new_sources; /* the latter "": not given */
	enum stile_protocol protocol;
	struct config_prefix *addresses; /* single hosts; none: every address */
	size_t n_addresses;
	struct config_ports *ports; /* none: every port */
	size_t n_ports;
	struct config_judges judges;
	struct config_source *sources;
	size_t n_sources;
	uint64_t session_timeout;					/* ns */
	struct place session_timeout_place, evicts_place, proves_place; /* line 0: not given */
	struct config_queue queue;
	struct config_level level;
	enum stile_language language;
	enum stile_prove proves;
	bool dns_refused, evicts; /* dns_answer: refused, on_limit: evict-idle */
	struct raw *raw;	  /* NULL: not given */
	struct place language_place, dns_answer_place, raw_place; /* line 0: not given */
	unsigned int unsure;					  /* as above */
};

struct config_watchdog {
	enum stile_watchdog then;
	uint64_t after;	    /* ns */
	struct place place; /* of then */
};

enum config_log_level { CONFIG_LOG_ERROR, CONFIG_LOG_WARNING, CONFIG_LOG_INFO, CONFIG_LOG_DEBUG };

struct config {
	bool enabled, reset_text, keep_on_stop, cgroup_none; /* on_stop: keep, cgroup: none */
	struct config_watchdog watchdog;
	enum config_log_level log_level;
	bool log_json;
	char *metrics_host; /* NULL: no metrics server */
	uint16_t metrics_port;
	char *control; /* path of the control socket; NULL: the instance's own */
	struct config_name control_group, user; /* "": not given */
	struct config_interface *interfaces;
	struct config_prefix *trusted, *blocked;
	size_t n_interfaces, n_trusted, n_blocked;
	struct config_limiter *limiters;
	struct config_listener *listeners;
	size_t n_limiters, n_listeners;
	uint32_t max_sessions, max_clients;
	uint32_t replies_per_second, cookies_per_second; /* the latter 0: not given */
	char *cgroup; /* a directory; NULL: the root of what is mounted */
	struct place cgroup_place;
};

/*
 * Reads @path ("-": standard input). Mistakes go to @diag. 0, or -EINVAL where @diag holds errors
 * (an unreadable file is one as well, at line 0); *ret_config is written on success only and
 * released with config_release().
 */
int config_read(const char *path, struct diag *diag, struct config *ret_config);

/* The same for text in memory; @length may be 0: an empty file, which is an error. */
int config_parse(const char *text, size_t length, struct diag *diag, struct config *ret_config);

/*
 * Like config_read(), but a configuration with mistakes is written too, as a draft: without the
 * values that are wrong, so that policy_compile() can look for mistakes of its own kind. True
 * where *ret_config was written; false where nothing of it could be read.
 */
bool config_read_draft(const char *path, struct diag *diag, struct config *ret_config);
bool config_parse_draft(const char *text, size_t length, struct diag *diag, struct config *ret);

/* The safe defaults that hold without a file. 0 or -ENOMEM. */
int config_default(struct config *ret_config);

void config_release(struct config *config);

#endif /* STILE_CONFIG_H */
