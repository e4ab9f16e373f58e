/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bytes of an answer, as they are sent: copied from stile_answers, with the wait and parts of
 * the request put in. They are made in the CPU's scratch, as its say says, where they can be added
 * up before it is known how many of them the frame has room for. Global functions: few packets
 * come here.
 */
#ifndef STILE_BPF_COMPOSE_H
#define STILE_BPF_COMPOSE_H

#include "checksum.h"
#include "maps.h"

#define COMPOSE_DIGITS 10
#define COMPOSE_REQUEST_MAX 4096 /* bytes of the frame that a request is read from without a call */
#define COMPOSE_WIDTH 64	 /* bytes of the request that one patch copies, at most */

struct compose_chunk {
	__u64 word[STILE_ANSWER_CHUNK / 8];
};

static __always_inline struct scratch *compose_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&stile_scratch, &zero);
}

static __always_inline struct stile_answer *compose_answer(__u32 slot)
{
	return bpf_map_lookup_elem(&stile_answers, &slot);
}

/* @n bytes of the request's data from @from on; what it has not got is left alone. */
static __always_inline void compose_load(struct xdp_md *ctx, const struct say *say, __u32 from,
					 void *to, __u32 n)
{
	__u32 length = say->request_length, last;

	if (from >= length)
		return;
	length -= from;
	last = (length < n ? length : n) - 1;
	opaque(last); /* verifier: kernel 6.1 does not learn from a test for 0 that it is none */
	if (last < COMPOSE_WIDTH) /* verifier: n itself it knows too little of */
		bpf_xdp_load_bytes(ctx, say->request + from, to, last + 1);
}

/* Eight bytes of the request's data from @offset on, zeros where it ends. */
static __always_inline __u64 compose_word(struct xdp_md *ctx, const struct say *say, __u32 offset)
{
	void *data = (void *)(long)ctx->data;
	__u32 at = say->request + offset;
	__u64 word = 0, *place;

	opaque(at); /* verifier: the register that is checked is the one that is used */
	if (offset + sizeof(word) <= say->request_length && at <= COMPOSE_REQUEST_MAX) {
		place = data + at;
		if ((void *)(place + 1) <= (void *)(long)ctx->data_end)
			return *place;
	}
	compose_load(ctx, say, offset, &word, sizeof(word));
	return word;
}

/* The rule for the request: its index, or -1. */
__attribute__((noinline)) int compose_match(struct xdp_md *ctx)
{
	struct scratch *scratch = compose_scratch();
	struct stile_answer *answer;
	__u64 request, mask;
	__u32 i;

	if (!scratch)
		return -1;
	answer = compose_answer(scratch->say.answer);
	if (!answer)
		return -1;
	for (i = 0; i < STILE_ANSWER_RULES; i++) {
		if (i >= answer->n_rules)
			break;
		mask = *(__u64 *)answer->rules[i].mask;
		if (mask == 0)
			return i;
		request = compose_word(ctx, &scratch->say, answer->rules[i].offset);
		if (((request ^ *(__u64 *)answer->rules[i].value) & mask) == 0)
			return i;
	}
	return -1;
}

/* The bytes as they stand in the answer. How many patches it has; -1: there is no such answer. */
__attribute__((noinline)) int compose_copy(void)
{
	struct scratch *scratch = compose_scratch();
	struct stile_answer *answer;
	__u32 i, from;

	if (!scratch)
		return -1;
	answer = compose_answer(scratch->say.answer);
	if (!answer)
		return -1;
	for (i = 0; i < SCRATCH_BYTES; i += STILE_ANSWER_CHUNK) {
		if (i >= scratch->say.length)
			break;
		from = scratch->say.first + i;
		opaque(from); /* verifier: as above */
		if (from > STILE_ANSWER_BYTES)
			return -1;
		*(struct compose_chunk *)(scratch->bytes + i) =
			*(struct compose_chunk *)(answer->bytes + from);
	}
	return answer->n_patches;
}

/* A byte that is sent, unless it lies outside of what is. */
static __always_inline void compose_put(struct scratch *scratch, __u32 at, __u8 byte)
{
	opaque(at); /* verifier: as above */
	if (at < scratch->say.length && at < SCRATCH_BYTES)
		scratch->bytes[at] = byte;
}

/* A tenth of it, without a division: 2^35 / 10, rounded up, is exact for 32 bits. */
static __always_inline __u32 compose_tenth(__u32 number)
{
	return (__u64)number * 0xcccccccd >> 35;
}

/* Digits of @number, the last one before @end; what has more digits than places is all nines. */
static __always_inline void
compose_decimal(struct scratch *scratch, const struct stile_patch *patch, __u32 number, __u32 end)
{
	__u32 i, tenth;

	for (i = 0; i < COMPOSE_DIGITS; i++) {
		if (i >= patch->width)
			break;
		tenth = compose_tenth(number);
		compose_put(scratch, end - 1 - i,
			    number || i == 0 ? '0' + number - tenth * 10 : patch->fill);
		number = tenth;
	}
	for (i = 0; number && i < COMPOSE_DIGITS; i++) {
		if (i >= patch->width)
			break;
		compose_put(scratch, end - 1 - i, '9');
	}
}

/* The same, big-endian; what does not fit is all ones. */
static __always_inline void compose_binary(struct scratch *scratch, const struct stile_patch *patch,
					   __u32 number, __u32 end)
{
	__u32 i;

	if (patch->width < sizeof(number) && number >> patch->width * 8)
		number = ~0U;
	for (i = 0; i < sizeof(number); i++) {
		if (i >= patch->width)
			break;
		compose_put(scratch, end - 1 - i, number);
		number >>= 8;
	}
}

/* Bytes, or bits of one, of the request; where all of the patch is in what is sent. */
static __always_inline void compose_request(struct xdp_md *ctx, struct scratch *scratch,
					    const struct stile_patch *patch)
{
	const struct say *say = &scratch->say;
	__u32 at = patch->offset - say->first, width = patch->width;
	__u8 byte;

	if (width > COMPOSE_WIDTH)
		return;
	opaque(at); /* verifier: as above */
	if (at > SCRATCH_BYTES - COMPOSE_WIDTH || at + width > say->length)
		return;
	if (patch->kind == STILE_PATCH_REQUEST) {
		compose_load(ctx, say, patch->from, scratch->bytes + at, width);
		return;
	}
	byte = scratch->bytes[at];
	compose_load(ctx, say, patch->from, &byte, 1);
	scratch->bytes[at] = (scratch->bytes[at] & ~patch->fill) | (byte & patch->fill);
}

/* Puts in what the answer's @i-th patch says. */
__attribute__((noinline)) int compose_patch(struct xdp_md *ctx, __u32 i)
{
	struct scratch *scratch = compose_scratch();
	struct stile_answer *answer;
	struct stile_patch *patch;
	__u32 wait, end;

	if (!scratch)
		return -1;
	answer = compose_answer(scratch->say.answer);
	if (!answer)
		return -1;
	patch = &answer->patches[i & (STILE_ANSWER_PATCHES - 1)];
	if (patch->kind >= STILE_PATCH_REQUEST) {
		compose_request(ctx, scratch, patch);
		return 0;
	}
	wait = scratch->say.wait;
	if (patch->kind == STILE_PATCH_WAIT_S || patch->kind == STILE_PATCH_WAIT_S_BINARY)
		wait = (wait + 999) / 1000;
	end = patch->offset + patch->width - scratch->say.first;
	if (patch->kind <= STILE_PATCH_WAIT_MS)
		compose_decimal(scratch, patch, wait, end);
	else
		compose_binary(scratch, patch, wait, end);
	return 0;
}

/* The sum of the first @length bytes, those behind them zeroed as far as they are added up. */
static __always_inline __u64 compose_sum(struct scratch *scratch, __u32 length)
{
	struct compose_chunk *chunk;
	__u64 sum = 0;
	__u32 i;

	opaque(length); /* verifier: as above */
	if (length > SCRATCH_BYTES)
		return 0;
	*(struct compose_chunk *)(scratch->bytes + length) = (struct compose_chunk){};
	for (i = 0; i < SCRATCH_BYTES; i += sizeof(*chunk)) {
		if (i >= length)
			break;
		chunk = (struct compose_chunk *)(scratch->bytes + i);
		sum = checksum_word(sum, chunk->word[0]);
		sum = checksum_word(sum, chunk->word[1]);
		sum = checksum_word(sum, chunk->word[2]);
		sum = checksum_word(sum, chunk->word[3]);
	}
	return sum;
}

/* All of what is to be said. 0, or -1: there is no such answer. */
static __always_inline int compose(struct xdp_md *ctx)
{
	int i, n_patches = compose_copy();

	if (n_patches < 0)
		return -1;
	for (i = 0; i < STILE_ANSWER_PATCHES; i++) {
		if (i >= n_patches)
			break;
		compose_patch(ctx, i);
	}
	return 0;
}

#endif /* STILE_BPF_COMPOSE_H */
