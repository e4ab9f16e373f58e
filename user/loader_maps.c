/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A batch is one system call for many entries: 100,000 sources take milliseconds instead of a
 * tenth of a second. The kernel wants keys and values in arrays of their own, so they are copied
 * in chunks.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "loader_maps.h"
#include "policy.h"
#include "util.h"

#define FILL_CHUNK 1024 /* entries */

/* Entries that lie in memory one @stride bytes after the other. */
struct entries {
	const void *keys, *values;
	size_t key_size, value_size;
	size_t key_stride, value_stride;
	size_t n_entries;
};

static int update_each(int fd, const struct entries *entries, const char *keys, const char *values,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bpf_map_update_elem(fd, keys + i * entries->key_size,
					values + i * entries->value_size, BPF_ANY) < 0)
			return -errno;
	}
	return 0;
}

/* Not every kernel and map type takes batches; what a failed one did is simply done again. */
static int update_chunk(int fd, const struct entries *entries, const char *keys, const char *values,
			size_t n)
{
	__u32 count = (__u32)n;

	if (bpf_map_update_batch(fd, keys, values, &count, NULL) == 0)
		return 0;
	return update_each(fd, entries, keys, values, n);
}

/* Puts all of @entries into the map @fd, in batches where the kernel can. */
static int fill(int fd, const struct entries *entries)
{
	autofree char *keys = malloc(FILL_CHUNK * entries->key_size);
	autofree char *values = malloc(FILL_CHUNK * entries->value_size);
	const char *from_keys = entries->keys;
	const char *from_values = entries->values;
	size_t n = 0;
	int error;

	if (!keys || !values)
		return -ENOMEM;
	for (size_t i = 0; i < entries->n_entries; i++) {
		memcpy(keys + n * entries->key_size, from_keys + i * entries->key_stride,
		       entries->key_size);
		memcpy(values + n * entries->value_size, from_values + i * entries->value_stride,
		       entries->value_size);
		n++;
		if (n < FILL_CHUNK && i + 1 < entries->n_entries)
			continue;
		error = update_chunk(fd, entries, keys, values, n);
		if (error)
			return error;
		n = 0;
	}
	return 0;
}

static int map_fd(const struct bpf_object *object, const char *name)
{
	return bpf_object__find_map_fd_by_name(object, name);
}

static int fill_listed(int map, const struct stile_prefix *prefixes, size_t n)
{
	autofree struct stile_listed *values = calloc(n + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		values[i].bits = prefixes[i].bits;
	return fill(map, &(struct entries){
				 .keys = prefixes,
				 .key_size = sizeof(*prefixes),
				 .key_stride = sizeof(*prefixes),
				 .values = values,
				 .value_size = sizeof(*values),
				 .value_stride = sizeof(*values),
				 .n_entries = n,
			 });
}

static int fill_control(int map, const struct policy *policy)
{
	struct timespec now;
	struct stile_control control = {
		.trusted = (__u32)policy->n_trusted,
		.blocked = (__u32)policy->n_blocked,
	};
	__u32 zero = 0;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists */
	control.heartbeat = (__u64)now.tv_sec * 1000000000 + (__u64)now.tv_nsec;
	return bpf_map_update_elem(map, &zero, &control, BPF_ANY) < 0 ? -errno : 0;
}

static int fill_hosts(int map, const struct policy *policy)
{
	if (policy->n_hosts == 0)
		return 0;
	return fill(map, &(struct entries){
				 .keys = &policy->hosts[0].host,
				 .key_size = sizeof(policy->hosts[0].host),
				 .key_stride = sizeof(policy->hosts[0]),
				 .values = &policy->hosts[0].row,
				 .value_size = sizeof(policy->hosts[0].row),
				 .value_stride = sizeof(policy->hosts[0]),
				 .n_entries = policy->n_hosts,
			 });
}

static int fill_sources(int map, const struct policy *policy)
{
	if (policy->n_sources == 0)
		return 0;
	return fill(map, &(struct entries){
				 .keys = &policy->sources[0].key,
				 .key_size = sizeof(policy->sources[0].key),
				 .key_stride = sizeof(policy->sources[0]),
				 .values = &policy->sources[0].value,
				 .value_size = sizeof(policy->sources[0].value),
				 .value_stride = sizeof(policy->sources[0]),
				 .n_entries = policy->n_sources,
			 });
}

static int fill_array(int map, const void *values, size_t value_size, size_t n)
{
	autofree __u32 *indexes = calloc(n, sizeof(*indexes));

	if (!indexes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		indexes[i] = (__u32)i;
	return fill(map, &(struct entries){
				 .keys = indexes,
				 .key_size = sizeof(*indexes),
				 .key_stride = sizeof(*indexes),
				 .values = values,
				 .value_size = value_size,
				 .value_stride = value_size,
				 .n_entries = n,
			 });
}

int loader_fill_maps(const struct bpf_object *object, const struct policy *policy)
{
	int error;

	error = fill_hosts(map_fd(object, "stile_hosts"), policy);
	if (error == 0)
		error = fill_sources(map_fd(object, "stile_sources"), policy);
	if (error == 0)
		error = fill_array(map_fd(object, "stile_ports"), policy->ports,
				   sizeof(*policy->ports), policy->n_ports);
	if (error == 0)
		error = fill_array(map_fd(object, "stile_pages"), policy->pages,
				   sizeof(*policy->pages), policy->n_pages);
	if (error == 0 && policy->n_datagrams)
		error = fill_array(map_fd(object, "stile_datagrams"), policy->datagrams,
				   sizeof(*policy->datagrams), policy->n_datagrams);
	if (error == 0 && policy->n_answers)
		error = fill_array(map_fd(object, "stile_answers"), policy->answers,
				   sizeof(*policy->answers), policy->n_answers);
	if (error == 0)
		error = fill_listed(map_fd(object, "stile_trusted"), policy->trusted,
				    policy->n_trusted);
	if (error == 0)
		error = fill_listed(map_fd(object, "stile_blocked"), policy->blocked,
				    policy->n_blocked);
	return error ? error : fill_control(map_fd(object, "stile_control"), policy);
}

/* The kernel takes letters, digits, '_' and '.', and BPF_OBJ_NAME_LEN - 1 of them. */
static void kernel_name(const char *name, char ret_name[BPF_OBJ_NAME_LEN])
{
	size_t i;

	for (i = 0; i < BPF_OBJ_NAME_LEN - 1 && name[i]; i++)
		ret_name[i] = isalnum((unsigned char)name[i]) || name[i] == '.' ? name[i] : '_';
	ret_name[i] = '\0';
}

static void btf_release(struct btf **btf)
{
	btf__free(*btf);
}

int loader_create_table(const struct bpf_object *object, const struct stile_limiter *limiter)
{
	const char *set = limiter->wide ? "stile_set_wide" : "stile_set";
	const struct btf *btf = bpf_object__btf(object);
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	char name[BPF_OBJ_NAME_LEN];
	int key, value, fd;

	key = btf__find_by_name_kind(btf, "__u32", BTF_KIND_TYPEDEF);
	value = btf__find_by_name_kind(btf, set, BTF_KIND_STRUCT);
	if (key < 0 || value < 0)
		return key < 0 ? key : value;
	options.btf_fd = (__u32)bpf_object__btf_fd(object);
	options.btf_key_type_id = (__u32)key;
	options.btf_value_type_id = (__u32)value;
	kernel_name(limiter->name, name);
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), sizeof(struct stile_set),
			    limiter->sets, &options);
	return fd < 0 ? -errno : fd;
}

int loader_create_template(void)
{
	struct btf *btf __attribute__((cleanup(btf_release))) = btf__new_empty();
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	int word, words, set, error, fd;

	if (!btf)
		return -errno;
	word = btf__add_int(btf, "__u32", sizeof(__u32), 0);
	words = btf__add_array(btf, word, word, sizeof(struct stile_set) / sizeof(__u32));
	set = btf__add_struct(btf, "stile_set", sizeof(struct stile_set));
	error = btf__add_field(btf, "words", words, 0, 0);
	if (word < 0 || words < 0 || set < 0 || error < 0)
		return -EINVAL;
	error = btf__load_into_kernel(btf);
	if (error)
		return error;
	options.btf_fd = (__u32)btf__fd(btf);
	options.btf_key_type_id = (__u32)word;
	options.btf_value_type_id = (__u32)set;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "stile_template", sizeof(__u32),
			    sizeof(struct stile_set), 1, &options);
	return fd < 0 ? -errno : fd;
}

bool loader_table_fits(int fd, const struct stile_limiter *limiter)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size) < 0)
		return false;
	return info.type == BPF_MAP_TYPE_ARRAY && info.value_size == sizeof(struct stile_set) &&
	       info.max_entries == limiter->sets;
}
