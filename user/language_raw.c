/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An operator's own bytes as an answer over TCP, where places keep their width. */
#include <errno.h>
#include <string.h>

#include "language.h"
#include "raw.h"

static const struct stile_patch patches[] = {
	[RAW_WAIT_S] = { .kind = STILE_PATCH_WAIT_S, .width = LANGUAGE_WIDTH_S, .fill = ' ' },
	[RAW_WAIT_MS] = { .kind = STILE_PATCH_WAIT_MS, .width = LANGUAGE_WIDTH_MS, .fill = ' ' },
	[RAW_REQUEST] = { .kind = STILE_PATCH_REQUEST, .fill = ' ' },
};

static void put(const struct raw *raw, const struct raw_piece *piece, struct stile_answer *out)
{
	struct stile_patch *patch = &out->patches[out->n_patches];

	if (piece->kind == RAW_BYTES) {
		memcpy(out->bytes + out->length, raw->bytes + piece->offset, piece->length);
		out->length = (__u16)(out->length + piece->length);
		return;
	}
	*patch = patches[piece->kind];
	patch->offset = out->length;
	if (piece->kind == RAW_REQUEST) {
		patch->from = piece->offset;
		patch->width = (__u8)piece->length;
	}
	memset(out->bytes + out->length, patch->fill, patch->width);
	out->length = (__u16)(out->length + patch->width);
	out->n_patches++;
}

/* The bounds in raw.h keep it within those of an answer. */
_Static_assert(RAW_PLACES_MAX <= STILE_ANSWER_PATCHES, "a patch each");
_Static_assert(RAW_BYTES_MAX + RAW_PLACES_MAX * RAW_REQUEST_MAX <= STILE_ANSWER_BYTES, "bytes");

void language_build_raw(const struct raw *raw, struct stile_answer *ret_answer)
{
	struct stile_answer out = { .speaks_first = raw->server_first, .n_rules = 1 };

	for (unsigned int i = 0; i < raw->n_pieces; i++)
		put(raw, &raw->pieces[i], &out);
	out.rules[0].length = out.length;
	*ret_answer = out;
}
