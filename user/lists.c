/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program asks a list only while stile_control counts entries in it. So the count goes up
 * before an entry is put in and down after one was taken out: where a process is killed in between
 * it is too high, which costs a look-up until the next sweep, and it is never too low.
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

/*
 * A sweep takes 2 us for each entry, so the next one is at least this much later for each: lists of
 * any length cost the daemon no more than 2 % of a CPU. What has expired counts no more meanwhile.
 */
#define REST_NS 100000ULL

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

static int control_read(const struct list *list, struct stile_control *ret_control)
{
	__u32 slot = 0;

	return bpf_map_lookup_elem(list->control, &slot, ret_control) < 0 ? -errno : 0;
}

/* It is one entry for both lists; whoever changes it has the lock. */
static int control_write(const struct list *list, const struct stile_control *control)
{
	__u32 slot = 0;

	return bpf_map_update_elem(list->control, &slot, control, BPF_ANY) < 0 ? -errno : 0;
}

static __u32 *count_of(struct stile_control *control, enum lists_name name)
{
	return name == LISTS_TRUSTED ? &control->trusted : &control->blocked;
}

/* The earlier of two times, of which 0 is never. */
static uint64_t earlier(uint64_t one, uint64_t other)
{
	if (!one || !other)
		return one ? one : other;
	return one < other ? one : other;
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

/* @found: the entry is there, and is replaced. */
static int list_put(const struct list *list, const struct stile_prefix *key,
		    const struct stile_listed *entry, bool found)
{
	struct stile_control control;
	int result;

	result = control_read(list, &control);
	if (result < 0)
		return result;
	if (!found)
		++*count_of(&control, list->name);
	control.expires = earlier(control.expires, entry->expires);
	result = control_write(list, &control);
	if (result < 0)
		return result;
	if (bpf_map_update_elem(list->entries, key, entry, BPF_ANY) == 0)
		return 0;
	result = -errno;
	if (!found)
		--*count_of(&control, list->name);
	(void)control_write(list, &control); /* too high costs a look-up */
	return result;
}

static int list_take(const struct list *list, const struct stile_prefix *key)
{
	struct stile_control control;
	int result;

	if (bpf_map_delete_elem(list->entries, key) < 0)
		return -errno;
	result = control_read(list, &control);
	if (result < 0)
		return result;
	if (*count_of(&control, list->name) > 0)
		--*count_of(&control, list->name);
	return control_write(list, &control);
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
	bool found;
	int result;

	if (held < 0)
		return held;
	result = list_open(pins, name, &list);
	if (result < 0)
		return result;
	found = list_find(&list, &key, &entry);
	if (found && !entry.by_hand)
		return -EEXIST;
	entry = (struct stile_listed){
		.expires = lifetime ? now_monotonic() + lifetime : 0,
		.bits = key.bits,
		.by_hand = 1,
	};
	return list_put(&list, &key, &entry, found);
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
	return list_take(&list, &key);
}

int lists_look(const struct pins *pins, enum lists_name name, const struct prefix *prefix)
{
	const struct stile_prefix key = key_of(prefix);
	autolist struct list list = { .entries = -1, .control = -1 };
	struct stile_listed entry;
	int result = list_open(pins, name, &list);

	if (result < 0)
		return result;
	if (!list_find(&list, &key, &entry))
		return -ESRCH;
	return entry.by_hand ? 0 : -EBUSY;
}

/* What a walk through a list finds. */
struct sweep {
	uint64_t now;
	__u32 n_entries;
	uint64_t expires; /* the first that has time yet */
	struct stile_prefix *expired;
	size_t n_expired, n_reserved;
};

static void sweep_release(struct sweep *sweep)
{
	free(sweep->expired);
}

static int sweep_note(struct sweep *sweep, const struct stile_prefix *key,
		      const struct stile_listed *entry)
{
	size_t n = sweep->n_reserved ? sweep->n_reserved * 2 : 64;
	struct stile_prefix *grown;

	sweep->n_entries++;
	if (!entry->expires || entry->expires > sweep->now) {
		sweep->expires = earlier(sweep->expires, entry->expires);
		return 0;
	}
	if (sweep->n_expired == sweep->n_reserved) {
		grown = reallocarray(sweep->expired, n, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		sweep->expired = grown;
		sweep->n_reserved = n;
	}
	sweep->expired[sweep->n_expired++] = *key;
	return 0;
}

/* What is read at once. */
struct chunk {
	struct stile_prefix keys[CHUNK];
	struct stile_listed entries[CHUNK];
	struct stile_prefix last; /* where the kernel goes on */
};

/* Nothing is removed meanwhile: a key that is gone is no place to go on from. */
static int list_walk(const struct list *list, struct sweep *sweep)
{
	autofree struct chunk *chunk = malloc(sizeof(*chunk));
	struct stile_prefix *from = NULL;
	int error, result;
	__u32 n;

	if (!chunk)
		return -ENOMEM;
	do {
		n = CHUNK;
		error = 0;
		if (bpf_map_lookup_batch(list->entries, from, &chunk->last, chunk->keys,
					 chunk->entries, &n, NULL) < 0)
			error = errno;
		if (error && error != ENOENT) /* which is the end, with what was left */
			return -error;
		for (__u32 i = 0; i < n; i++) {
			result = sweep_note(sweep, &chunk->keys[i], &chunk->entries[i]);
			if (result < 0)
				return result;
		}
		from = &chunk->last;
	} while (!error);
	return 0;
}

/* The number removed. *control is right for this list then, but not written. */
static int list_sweep(const struct pins *pins, enum lists_name name, uint64_t now,
		      struct stile_control *control)
{
	struct sweep sweep __attribute__((cleanup(sweep_release))) = { .now = now };
	autolist struct list list = { .entries = -1, .control = -1 };
	int result;

	result = list_open(pins, name, &list);
	if (result == 0)
		result = list_walk(&list, &sweep);
	if (result < 0)
		return result;
	for (size_t i = 0; i < sweep.n_expired; i++)
		if (bpf_map_delete_elem(list.entries, &sweep.expired[i]) < 0)
			return -errno;
	*count_of(control, name) = sweep.n_entries - (__u32)sweep.n_expired;
	control->expires = earlier(control->expires, sweep.expires);
	return (int)sweep.n_expired;
}

/* Under the lock. */
static int sweep_both(const struct pins *pins, uint64_t now)
{
	autolist struct list list = { .entries = -1, .control = -1 };
	struct stile_control control;
	int trusted, blocked, result;
	uint64_t rest;

	result = list_open(pins, LISTS_TRUSTED, &list); /* a reload may have come in between */
	if (result == 0)
		result = control_read(&list, &control);
	if (result < 0)
		return result;
	control.expires = 0;
	trusted = list_sweep(pins, LISTS_TRUSTED, now, &control);
	if (trusted < 0)
		return trusted;
	blocked = list_sweep(pins, LISTS_BLOCKED, now, &control);
	if (blocked < 0)
		return blocked;
	rest = now + REST_NS * ((uint64_t)control.trusted + control.blocked);
	if (control.expires && control.expires < rest)
		control.expires = rest;
	result = control_write(&list, &control);
	return result < 0 ? result : trusted + blocked;
}

int lists_expire(const struct pins *pins)
{
	autolist struct list list = { .entries = -1, .control = -1 };
	uint64_t now = now_monotonic();
	struct stile_control control;
	autofd int held = -1;
	int result;

	result = list_open(pins, LISTS_TRUSTED, &list);
	if (result == 0)
		result = control_read(&list, &control);
	if (result < 0)
		return result;
	if (!control.expires || control.expires > now)
		return 0; /* so it is nearly always, without the lock */
	held = pins_try_lock(pins);
	if (held == -EBUSY)
		return 0; /* next time: who holds it may have been stopped */
	return held < 0 ? held : sweep_both(pins, now);
}
