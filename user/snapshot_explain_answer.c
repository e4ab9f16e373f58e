/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asked of the answers that the kernel side sends: a language has a place for the wait, or none. */
#include "snapshot_explain_answer.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>

#include "snapshot_maps.h"
#include "util.h"

static bool says(const struct stile_answer *answer)
{
	for (unsigned int i = 0; i < answer->n_patches && i < STILE_ANSWER_PATCHES; i++)
		if (answer->patches[i].kind < STILE_PATCH_REQUEST)
			return true;
	return false;
}

static bool datagram_says(const struct stile_datagram *datagram)
{
	for (unsigned int i = 0; i < STILE_DATAGRAM_PIECES; i++) {
		uint8_t kind = datagram->pieces[i].kind;

		if (kind == STILE_PIECE_SECONDS || kind == STILE_PIECE_MILLISECONDS ||
		    kind == STILE_PIECE_BINARY || kind == STILE_PIECE_POLL)
			return true;
	}
	return false;
}

int snapshot_explain_answer(const struct pins *pins, const struct snapshot *snapshot,
			    const struct snapshot_event *event, struct snapshot_verdict *verdict)
{
	const struct stile_listener *listener = &snapshot->policy.listeners[event->listener];
	bool tcp = listener->protocol == STILE_PROTOCOL_TCP;
	const struct snapshot_shape shape = { tcp ? "answers" : "datagrams", sizeof(uint32_t),
					      tcp ? sizeof(struct stile_answer)
						  : sizeof(struct stile_datagram) };
	autofree void *value = NULL;
	autofd int fd = -1;
	uint32_t slot = listener->answer;

	if (verdict->reply != STILE_REPLY_COOKIE && verdict->reply != STILE_REPLY_BUSY)
		return 0;
	if (verdict->refused_by >= 0)
		slot = snapshot->policy.attachments[verdict->judges[verdict->refused_by].attachment]
			       .answer;
	value = malloc(shape.value_size);
	if (!value)
		return -ENOMEM;
	fd = snapshot_maps_open(pins, snapshot->policy.generation, &shape);
	if (fd < 0)
		return fd;
	if (bpf_map_lookup_elem(fd, &slot, value) < 0)
		return -errno;
	verdict->says_wait = tcp ? says(value) : datagram_says(value);
	return 0;
}
