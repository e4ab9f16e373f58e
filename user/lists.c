/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program asks a list only while stile_control counts entries in it. So the count goes up
 * before an entry is put in and down after one was taken out: it may be too high for a moment, and
 * is never too low. It is counted anew each time, so that no killed process leaves it wrong.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <stile/abi.h>

#include "lists.h"
#include "util.h"

#define CHUNK 512 /* entries that are read at once */

static const char *const pin_names[] = { [LISTS_TRUSTED] = "trusted", [LISTS_BLOCKED] = "blocked" };

/* One list, open. */
struct list {
	enum lists_name name;
	int entries, control; /* maps */
};

static void list_close(struct list *list)
{
	fd_release(&list->entries);
	fd_release(&list->control);
}

#define autolist __attribute__((cleanup(list_close)))

static int map_open(const struct pins *pins, const char *name, size_t key_size, size_t value_size)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);
	char path[PATH_MAX];
	autofd int fd = -1;

	if (pins_path_current(pins, name, path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return -errno;
	if (info.key_size != key_size || info.value_size != value_size)
		return -EPROTO;
	return take_fd(&fd);
}

static int list_open(const struct pins *pins, enum lists_name name, struct list *ret_list)
{
	autolist struct list list = { .name = name, .entries = -1, .control = -1 };

	list.entries = map_open(pins, pin_names[name], sizeof(struct stile_prefix),
				sizeof(struct stile_listed));
	if (list.entries < 0)
		return list.entries;
	list.control = map_open(pins, "control", sizeof(__u32), sizeof(struct stile_control));
	if (list.control < 0)
		return list.control;
	ret_list->name = name;
	ret_list->entries = take_fd(&list.entries);
	ret_list->control = take_fd(&list.control);
	return 0;
}

static uint64_t now_monotonic(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* What is read at once. */
struct chunk {
	struct stile_prefix prefixes[CHUNK];
	struct stile_listed entries[CHUNK];
	uint32_t n;
	struct stile_prefix last; /* where the kernel goes on */
};

/* 1 while there may be more, 0 at the end, or negative errno. */
static int chunk_read(const struct list *list, bool first, struct chunk *chunk)
{
	chunk->n = CHUNK;
	if (bpf_map_lookup_batch(list->entries, first ? NULL : &chunk->last, &chunk->last,
				 chunk->prefixes, chunk->entries, &chunk->n, NULL) == 0)
		return 1;
	return errno == ENOENT ? 0 : -errno;
}

static int list_count(const struct list *list, uint32_t *ret_n)
{
	autofree struct chunk *chunk = malloc(sizeof(*chunk));
	uint32_t n = 0;
	int more;

	if (!chunk)
		return -ENOMEM;
	more = chunk_read(list, true, chunk);
	for (; more == 1; more = chunk_read(list, false, chunk))
		n += chunk->n;
	if (more < 0)
		return more;
	*ret_n = n + chunk->n;
	return 0;
}

/* The control map is one entry for both lists; whoever changes it has the lock. */
static int count_write(const struct list *list, uint32_t n)
{
	struct stile_control control;
	__u32 slot = 0;

	if (bpf_map_lookup_elem(list->control, &slot, &control) < 0)
		return -errno;
	if (list->name == LISTS_TRUSTED)
		control.trusted = n;
	else
		control.blocked = n;
	return bpf_map_update_elem(list->control, &slot, &control, BPF_ANY) < 0 ? -errno : 0;
}

static int count_refresh(const struct list *list)
{
	uint32_t n;
	int result = list_count(list, &n);

	return result < 0 ? result : count_write(list, n);
}

static struct stile_prefix key_of(const struct prefix *prefix)
{
	struct stile_prefix key = { .bits = prefix->bits };

	memcpy(key.address, prefix->address, sizeof(key.address));
	return key;
}

/* The entry of just this prefix: the trie answers with the longest that holds it. */
static bool list_find(const struct list *list, const struct stile_prefix *key,
		      struct stile_listed *ret_entry)
{
	return bpf_map_lookup_elem(list->entries, key, ret_entry) == 0 &&
	       ret_entry->bits == key->bits;
}

static int list_put(const struct list *list, const struct stile_prefix *key,
		    const struct stile_listed *entry)
{
	uint32_t n;
	int result;

	result = list_count(list, &n);
	if (result == 0)
		result = count_write(list, n + 1);
	if (result < 0)
		return result;
	if (bpf_map_update_elem(list->entries, key, entry, BPF_ANY) < 0)
		result = -errno;
	if (count_refresh(list) < 0)
		return result; /* too high costs a look-up, no more */
	return result;
}

/* The lock, where there is something to lock: otherwise nothing is made, not even its file. */
static int lock(const struct pins *pins)
{
	uint64_t generation;
	int result = pins_current(pins, &generation);

	return result < 0 ? result : pins_lock(pins);
}

int lists_add(const struct pins *pins, enum lists_name name, const struct prefix *prefix,
	      uint64_t lifetime)
{
	const struct stile_prefix key = key_of(prefix);
	autolist struct list list = { .entries = -1, .control = -1 };
	autofd int held = lock(pins);
	struct stile_listed entry;
	int result;

	if (held < 0)
		return held;
	result = list_open(pins, name, &list);
	if (result < 0)
		return result;
	if (list_find(&list, &key, &entry) && !entry.by_hand)
		return -EEXIST;
	entry = (struct stile_listed){
		.expires = lifetime ? now_monotonic() + lifetime : 0,
		.bits = key.bits,
		.by_hand = 1,
	};
	return list_put(&list, &key, &entry);
}

int lists_remove(const struct pins *pins, enum lists_name name, const struct prefix *prefix)
{
	const struct stile_prefix key = key_of(prefix);
	autolist struct list list = { .entries = -1, .control = -1 };
	autofd int held = lock(pins);
	struct stile_listed entry;
	int result;

	if (held < 0)
		return held;
	result = list_open(pins, name, &list);
	if (result < 0)
		return result;
	if (!list_find(&list, &key, &entry))
		return -ESRCH;
	if (!entry.by_hand)
		return -EBUSY;
	if (bpf_map_delete_elem(list.entries, &key) < 0)
		return -errno;
	return count_refresh(&list);
}

static bool is_expired(const struct stile_listed *entry, uint64_t now)
{
	return entry->expires && entry->expires <= now;
}

/* Removes what has expired of a chunk. The number removed; what is gone already is as good. */
static int chunk_expire(const struct list *list, const struct chunk *chunk, uint64_t now)
{
	int n = 0;

	for (uint32_t i = 0; i < chunk->n; i++)
		if (is_expired(&chunk->entries[i], now) &&
		    bpf_map_delete_elem(list->entries, &chunk->prefixes[i]) == 0)
			n++;
	return n;
}

/* How many entries have expired, or negative errno. */
static int list_expired(const struct list *list, struct chunk *chunk, uint64_t now)
{
	int n = 0, more;
	bool first = true;

	do {
		more = chunk_read(list, first, chunk);
		first = false;
		for (uint32_t i = 0; more >= 0 && i < chunk->n; i++)
			n += is_expired(&chunk->entries[i], now);
	} while (more == 1);
	return more < 0 ? more : n;
}

/*
 * Chunk after chunk from the start while one had something to remove, because a key that is gone
 * is no place to go on from.
 */
static int list_sweep(const struct list *list, struct chunk *chunk, uint64_t now)
{
	int removed, total = 0, more;
	bool first = true;

	do {
		more = chunk_read(list, first, chunk);
		if (more < 0)
			return more;
		removed = chunk_expire(list, chunk, now);
		total += removed;
		first = removed > 0;
	} while (more == 1 || removed > 0);
	more = count_refresh(list);
	return more < 0 ? more : total;
}

static int list_expire(const struct pins *pins, enum lists_name name)
{
	autofree struct chunk *chunk = malloc(sizeof(*chunk));
	autolist struct list list = { .entries = -1, .control = -1 };
	autolist struct list locked = { .entries = -1, .control = -1 };
	uint64_t now = now_monotonic();
	autofd int held = -1;
	int result;

	if (!chunk)
		return -ENOMEM;
	result = list_open(pins, name, &list);
	if (result == 0)
		result = list_expired(&list, chunk, now);
	if (result <= 0)
		return result; /* so it is nearly always, without the lock */
	held = lock(pins);
	if (held < 0)
		return held;
	result = list_open(pins, name, &locked); /* a reload may have come in between */
	return result < 0 ? result : list_sweep(&locked, chunk, now);
}

int lists_expire(const struct pins *pins)
{
	int trusted, blocked;

	trusted = list_expire(pins, LISTS_TRUSTED);
	if (trusted < 0)
		return trusted;
	blocked = list_expire(pins, LISTS_BLOCKED);
	return blocked < 0 ? blocked : trusted + blocked;
}
