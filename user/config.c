/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The configuration file as a whole: its text, the keys at its top, its defaults. The blocks are
 * read in config_limiter.c and config_listener.c, single values in config_value.c and
 * config_list.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "config_block.h"
#include "names.h"
#include "util.h"

#define SOCKET_PATH_MAX 107 /* bytes: what struct sockaddr_un has room for */
#define METRICS_HOST "127.0.0.1"
#define METRICS_PORT 9466
#define WATCHDOG_NS 30000000000ULL	  /* 30s */
#define WATCHDOG_NS_MIN 5000000000ULL	  /* 5s: a heartbeat a second, and a load in between */
#define WATCHDOG_NS_MAX 86400000000000ULL /* 24h */

static void read_enabled(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config *config = object;

	config_value_bool(reader, value, &config->enabled);
}

struct prefixes {
	struct config_prefix *items;
	size_t n;
};

static void read_prefixes(struct config_reader *reader, const struct tree_node *value,
			  struct prefixes *prefixes)
{
	const struct tree_node *item;
	struct tree_walk walk = { 0 };

	while ((item = config_value_item(reader, value, &walk,
					 "a list of prefixes such as [192.0.2.0/24]"))) {
		struct config_prefix prefix, *grown;

		if (!config_value_prefix(reader, item, &prefix))
			continue;
		grown = config_value_grow(reader, prefixes->items, prefixes->n, sizeof(*grown));
		if (!grown)
			return;
		prefixes->items = grown;
		grown[prefixes->n++] = prefix;
	}
}

/* A key that stands twice, which is a mistake already, adds to what the first has. */
static void read_trusted(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config *config = object;
	struct prefixes prefixes = { config->trusted, config->n_trusted };

	read_prefixes(reader, value, &prefixes);
	config->trusted = prefixes.items;
	config->n_trusted = prefixes.n;
}

static void read_blocked(struct config_reader *reader, const struct tree_node *value, void *object)
{
	struct config *config = object;
	struct prefixes prefixes = { config->blocked, config->n_blocked };

	read_prefixes(reader, value, &prefixes);
	config->blocked = prefixes.items;
	config->n_blocked = prefixes.n;
}

static void read_metrics_listen(struct config_reader *reader, const struct tree_node *value,
				void *object)
{
	struct config *config = object;
	char *host;

	if (!config_value_listen(reader, value, &host, &config->metrics_port))
		return;
	free(config->metrics_host);
	config->metrics_host = host;
}

static void read_metrics(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const struct config_field fields[] = { { "listen", read_metrics_listen },
						      { NULL, NULL } };
	static const struct config_block block = { .what = "metrics",
						   .example = "listen",
						   .fields = fields };

	config_block_read(reader, value, &block, object);
}

static void read_log_level(struct config_reader *reader, const struct tree_node *value,
			   void *object)
{
	static const char *const names[] = { "error", "warning", "info", "debug", NULL };
	const struct config_words words = { names, NULL };
	struct config *config = object;
	unsigned int level;

	if (config_value_word(reader, value, words, &level))
		config->log_level = (enum config_log_level)level;
}

static void read_log_format(struct config_reader *reader, const struct tree_node *value,
			    void *object)
{
	static const char *const names[] = { "text", "json", NULL };
	const struct config_words words = { names, NULL };
	struct config *config = object;
	unsigned int format;

	if (config_value_word(reader, value, words, &format))
		config->log_json = format == 1;
}

static void read_log(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const struct config_field fields[] = { { "level", read_log_level },
						      { "format", read_log_format },
						      { NULL, NULL } };
	static const struct config_block block = { .what = "log",
						   .example = "level",
						   .fields = fields };

	config_block_read(reader, value, &block, object);
}

static void read_control(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char expected[] = "the absolute path of a socket";
	const char *text = config_value_text(reader, value, expected);
	struct config *config = object;
	char *path;

	if (!text)
		return;
	if (text[0] != '/' || text[value->length - 1] == '/') {
		config_value_refuse(reader, value, "%s", expected);
		return;
	}
	if (value->length > SOCKET_PATH_MAX) {
		config_value_refuse(reader, value, "a path of at most %d bytes", SOCKET_PATH_MAX);
		return;
	}
	path = strdup(text);
	if (!path) {
		reader->failed = true;
		return;
	}
	free(config->control);
	config->control = path;
}

static void read_on_stop(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const char *const names[] = { "detach", "keep", NULL };
	const struct config_words words = { names, NULL };
	struct config *config = object;
	unsigned int on_stop;

	if (config_value_word(reader, value, words, &on_stop))
		config->keep_on_stop = on_stop == 1;
}

static void read_watchdog_after(struct config_reader *reader, const struct tree_node *value,
				void *object)
{
	const struct config_range range = { WATCHDOG_NS_MIN, WATCHDOG_NS_MAX };
	struct config *config = object;

	config_value_duration(reader, value, range, &config->watchdog.after);
}

static void read_watchdog_then(struct config_reader *reader, const struct tree_node *value,
			       void *object)
{
	const struct config_words words = { policy_watchdog_names, NULL };
	struct config *config = object;
	unsigned int then;

	config->watchdog.place = value->place;
	if (config_value_word(reader, value, words, &then))
		config->watchdog.then = (enum stile_watchdog)then;
}

static void read_watchdog(struct config_reader *reader, const struct tree_node *value, void *object)
{
	static const struct config_field fields[] = { { "after", read_watchdog_after },
						      { "then", read_watchdog_then },
						      { NULL, NULL } };
	static const struct config_block block = { .what = "watchdog",
						   .example = "after",
						   .fields = fields };

	config_block_read(reader, value, &block, object);
}

static const struct config_field fields[] = {
	{ "enabled", read_enabled },
	{ "interfaces", config_read_interfaces },
	{ "trusted", read_trusted },
	{ "blocked", read_blocked },
	{ "rate_limiters", config_read_limiters },
	{ "listeners", config_read_listeners },
	{ "max_sessions", config_read_max_sessions },
	{ "max_clients", config_read_max_clients },
	{ "replies_per_second", config_read_replies },
	{ "cookies_per_second", config_read_cookies },
	{ "reset_text", config_read_reset_text },
	{ "metrics", read_metrics },
	{ "control", read_control },
	{ "control_group", config_read_control_group },
	{ "cgroup", config_read_cgroup },
	{ "log", read_log },
	{ "on_stop", read_on_stop },
	{ "user", config_read_user },
	{ "watchdog", read_watchdog },
	{ NULL, NULL },
};

static const struct config_block block = { .what = "the settings",
					   .example = "listeners",
					   .fields = fields };

static int init(struct config *config)
{
	*config = (struct config){
		.enabled = true,
		.log_level = CONFIG_LOG_INFO,
		.watchdog = { .then = STILE_WATCHDOG_KEEP, .after = WATCHDOG_NS },
		.metrics_host = strdup(METRICS_HOST),
		.metrics_port = METRICS_PORT,
		.max_sessions = CONFIG_MAX_SESSIONS,
		.max_clients = CONFIG_MAX_CLIENTS,
		.replies_per_second = CONFIG_REPLIES,
	};
	return config->metrics_host ? 0 : -ENOMEM;
}

bool config_parse_draft(const char *text, size_t length, struct diag *diag,
			struct config *ret_config)
{
	struct config_reader reader = { .diag = diag, .key = "settings" };
	struct config config;
	struct tree tree;
	bool whole;

	if (tree_parse(text, length, diag, &tree) < 0)
		return false;
	reader.tree = &tree;
	reader.failed = init(&config) < 0;
	if (!reader.failed)
		config_block_read(&reader, tree_root(&tree), &block, &config);
	if (reader.failed)
		diag_error(diag, (struct place){ 0 }, "out of memory");
	/* What was cut short may lack what it names: no draft. */
	whole = !reader.failed && !tree.cut_short;
	if (whole)
		*ret_config = config;
	else
		config_release(&config);
	tree_release(&tree);
	return whole;
}

/* The whole of @file, at most TREE_BYTES_MAX bytes. 0 or negative errno; -EFBIG: it has more. */
static int read_text(FILE *file, char **ret_text, size_t *ret_length)
{
	autofree char *text = NULL;
	size_t length = 0, room = 0;

	do {
		char *grown;

		room = room ? room * 2 : 65536;
		grown = realloc(text, room);
		if (!grown)
			return -ENOMEM;
		text = grown;
		errno = 0;
		length += fread(text + length, 1, room - length, file);
		if (ferror(file))
			return errno ? -errno : -EIO;
		if (length > TREE_BYTES_MAX)
			return -EFBIG;
	} while (length == room);
	*ret_text = text;
	text = NULL;
	*ret_length = length;
	return 0;
}

bool config_read_draft(const char *path, struct diag *diag, struct config *ret_config)
{
	const struct place whole = { 0 };
	autofile FILE *opened = NULL;
	autofree char *text = NULL;
	size_t length = 0;
	int err = 0;

	if (strcmp(path, "-") != 0) {
		opened = fopen(path, "re");
		err = opened ? 0 : -errno;
	}
	if (!err)
		err = read_text(opened ? opened : stdin, &text, &length);
	if (err == -EFBIG)
		diag_error(diag, whole, "found more than %u MiB, expected a configuration",
			   TREE_BYTES_MAX >> 20);
	else if (err == -EISDIR)
		diag_error(diag, whole, "found a directory, expected a file");
	else if (err)
		diag_error(diag, whole, "cannot be read: %s", strerror(-err));
	return !err && config_parse_draft(text, length, diag, ret_config);
}

/* A draft is a configuration where it added no mistakes to the @errors there were. */
static int settle(bool drafted, size_t errors, const struct diag *diag, struct config *draft,
		  struct config *ret_config)
{
	if (drafted && diag->n_errors == errors) {
		*ret_config = *draft;
		return 0;
	}
	if (drafted)
		config_release(draft);
	return -EINVAL;
}

int config_read(const char *path, struct diag *diag, struct config *ret_config)
{
	size_t errors = diag->n_errors;
	struct config draft;

	return settle(config_read_draft(path, diag, &draft), errors, diag, &draft, ret_config);
}

int config_parse(const char *text, size_t length, struct diag *diag, struct config *ret_config)
{
	size_t errors = diag->n_errors;
	struct config draft;

	return settle(config_parse_draft(text, length, diag, &draft), errors, diag, &draft,
		      ret_config);
}

int config_default(struct config *ret_config)
{
	static const struct config_name name = { .text = "default" };
	struct config config;
	int err = init(&config);

	config.limiters = calloc(1, sizeof(*config.limiters));
	config.listeners = calloc(1, sizeof(*config.listeners));
	if (err || !config.limiters || !config.listeners) {
		config_release(&config);
		return -ENOMEM;
	}
	config.n_limiters = 1;
	config_limiter_init(config.limiters);
	config.limiters->name = name;
	config.limiters->algorithm = STILE_ALGORITHM_TOKEN_BUCKET;
	config.limiters->limit = 500;
	config.limiters->window = STILE_WINDOW_NS_MIN;
	config.limiters->burst = 1000;
	config.n_listeners = 1;
	config_listener_init(config.listeners);
	config.listeners->name = (struct config_name){ .text = "all-tcp" };
	config.listeners->judges = (struct config_judges){ .names = { name }, .n_names = 1 };
	*ret_config = config;
	return 0;
}

void config_release(struct config *config)
{
	for (size_t i = 0; i < config->n_listeners; i++)
		config_listener_release(&config->listeners[i]);
	for (size_t i = 0; i < config->n_limiters; i++)
		config_limiter_release(&config->limiters[i]);
	free(config->listeners);
	free(config->limiters);
	free(config->interfaces);
	free(config->trusted);
	free(config->blocked);
	free(config->metrics_host);
	free(config->control);
	free(config->cgroup);
	*config = (struct config){ 0 };
}
