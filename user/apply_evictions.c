/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The consumer's side of a ring buffer. */
#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "apply_evictions.h"
#include "util.h"

struct apply_evictions {
	struct ring_buffer *ring;
	void (*asked)(const struct stile_eviction *eviction, void *context);
	void *context;
};

static int take(void *context, void *data, size_t size)
{
	const struct apply_evictions *evictions = context;

	if (size >= sizeof(struct stile_eviction))
		evictions->asked(data, evictions->context);
	return 0;
}

int apply_evictions_open(const struct pins *pins,
			 void (*asked)(const struct stile_eviction *eviction, void *context),
			 void *context, struct apply_evictions **ret_evictions)
{
	autofree struct apply_evictions *evictions = calloc(1, sizeof(*evictions));
	char path[PATH_MAX];
	autofd int fd = -1;

	if (!evictions)
		return -ENOMEM;
	if (pins_path_current(pins, "evictions", path) < 0)
		return -ENAMETOOLONG;
	fd = bpf_obj_get(path);
	if (fd < 0)
		return fd;
	evictions->asked = asked;
	evictions->context = context;
	evictions->ring = ring_buffer__new(fd, take, evictions, NULL);
	if (!evictions->ring)
		return -errno;
	*ret_evictions = evictions;
	evictions = NULL;
	return 0;
}

void apply_evictions_close(struct apply_evictions *evictions)
{
	if (!evictions)
		return;
	ring_buffer__free(evictions->ring);
	free(evictions);
}

int apply_evictions_fd(const struct apply_evictions *evictions)
{
	return ring_buffer__epoll_fd(evictions->ring);
}

int apply_evictions_read(struct apply_evictions *evictions)
{
	int n = ring_buffer__consume(evictions->ring);

	return n < 0 ? n : 0;
}
