/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources that have to prove that they are not forged, before anything is charged: a SYN is
 * answered with a cookie, and nothing is kept of it. Whoever brings the cookie back is charged, as
 * for a SYN; and what is admitted the kernel makes a connection of, see admit.bpf.c.
 */
#ifndef STILE_BPF_PROVE_H
#define STILE_BPF_PROVE_H

#include "classify.h"
#include "maps.h"
#include "proof.h"
#include "reply.h"
#include "socket.h"

#define PROVE_LATELY (2ULL << COOKIE_SLOT_SHIFT) /* the longest that a cookie is good for */
#define PROVE_WORDS 5				 /* of options, that a SYN of ours has at most */
#define PROVE_WINDOW 65535U /* bytes: what a SYN can offer; it is never scaled */
#define PROVE_FLAG_ECE 0x40
#define PROVE_FLAG_CWR 0x80

/* What a SYN would reach. */
enum prove_target {
	PROVE_LISTENS,
	PROVE_KNOWN,	 /* a socket that has to do with this client already */
	PROVE_ELSEWHERE, /* nothing that a connection could be handed to, or a TIME_WAIT */
};

/* What a segment says of its source. */
enum prove_kind {
	PROVE_FOREIGN, /* nothing: it brings no cookie */
	PROVE_ASKED,   /* a SYN: it cannot yet */
	PROVE_EARLY,   /* it does, but the handshake goes on with another segment */
	PROVE_PROVEN,
};

static __always_inline __u64 prove_now(void)
{
	return clock_tick();
}

static __always_inline struct stile_proof *prove_state(__u32 listener)
{
	return bpf_map_lookup_elem(&stile_proofs, &listener);
}

static __always_inline struct stile_proven *prove_counts(__u32 listener)
{
	return bpf_map_lookup_elem(&stile_proven, &listener);
}

/* Whether the sources of the listener's clients have to be proven now. */
static __always_inline bool prove_is_on(__u32 listener)
{
	__u8 proves = policy.listeners[listener & (STILE_LISTENERS_MAX - 1)].proves;
	struct stile_proof *state;

	if (proves != STILE_PROVE_AUTO)
		return proves == STILE_PROVE_ALWAYS;
	state = prove_state(listener);
	return state && state->since;
}

/* Whether a cookie of the listener's may still come back: also after it was switched off. */
static __always_inline bool prove_is_possible(__u32 listener)
{
	const struct stile_proof *state = prove_state(listener);

	return state && state->challenged && prove_now() - state->challenged < PROVE_LATELY;
}

/* What stile_proven counts of the listener. */
enum prove_count { PROVE_COUNT_PROVEN, PROVE_COUNT_UNPROVABLE, PROVE_COUNT_UNPROVEN };

static __always_inline void prove_count(__u32 listener, enum prove_count what)
{
	struct stile_proven *counts = prove_counts(listener);

	if (!counts)
		return;
	if (what == PROVE_COUNT_PROVEN)
		counts->proven++;
	else if (what == PROVE_COUNT_UNPROVABLE)
		counts->unprovable++;
	else
		counts->unproven++;
}

/* A SYN that was let in: what auto goes by. */
static __always_inline void prove_note_admitted(const struct pkt *pkt, __u32 listener)
{
	if (policy.proves && !(pkt->flags & FLAG_ACK) &&
	    policy.listeners[listener & (STILE_LISTENERS_MAX - 1)].proves == STILE_PROVE_AUTO)
		prove_count(listener, PROVE_COUNT_UNPROVEN);
}

/* An enum prove_target. */
__attribute__((noinline)) int prove_target(struct xdp_md *ctx, const struct pkt *pkt)
{
	struct bpf_sock *socket;
	bool mptcp = false;
	__u32 state;

	if (!pkt)
		return PROVE_ELSEWHERE;
	socket = socket_find(ctx, pkt);
	if (!socket)
		return PROVE_ELSEWHERE;
	state = socket->state;
	if (policy.offer.mptcp)
		mptcp = bpf_skc_to_mptcp_sock(socket) != NULL;
	bpf_sk_release(socket);
	if (state == BPF_TCP_LISTEN)
		return mptcp ? PROVE_ELSEWHERE : PROVE_LISTENS;
	return state == BPF_TCP_TIME_WAIT ? PROVE_ELSEWHERE : PROVE_KNOWN;
}

/* A global function, so that the verifier follows the ways through one option only. */
shared_function int prove_option(struct options *options, __u32 at)
{
	return options ? options_step(options, at) : OPTIONS_END;
}

/* Reads all @options, whose bytes are there. */
static __always_inline void prove_options(struct options *options)
{
	__u32 at = 0, i;

	options->window_scale = OPTIONS_NO_SCALE;
	for (i = 0; i < OPTIONS_MAX && at < options->length; i++)
		at = prove_option(options, at);
}

/* Bytes of options that the segment has, by its header. */
static __always_inline __u32 prove_options_length(const struct tcphdr *tcp)
{
	return tcp->doff * 4 - sizeof(*tcp);
}

/* An enum prove_kind. */
shared_function int prove_kind(const struct pkt *pkt)
{
	__u32 ahead;

	if (!pkt || (pkt->flags & (FLAG_SYN | FLAG_RST | FLAG_ACK)) != FLAG_ACK)
		return PROVE_FOREIGN;
	ahead = proof_ahead((const __u64 *)policy.cookie_key, pkt, prove_now());
	if (ahead == 0)
		return PROVE_PROVEN;
	return ahead <= PROOF_AHEAD_MAX ? PROVE_EARLY : PROVE_FOREIGN;
}

/* A SYN, and what it gets; of the CPU's own, for want of stack. */
struct prove_work {
	struct options asked;
	struct proof proof;
	__u32 sequence, window;
	__u32 words[PROVE_WORDS]; /* of options, host order */
	__u32 n_words;
};

_Static_assert(sizeof(struct prove_work) <= SCRATCH_BYTES, "it lies in the scratch");

static __always_inline struct prove_work *prove_work(void)
{
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&stile_scratch, &zero);

	return scratch ? (struct prove_work *)scratch->bytes : NULL;
}

/* The largest segment that can come in here. */
static __always_inline __u32 prove_mss(struct xdp_md *ctx, const struct pkt *pkt)
{
	__u32 headers = sizeof(struct tcphdr), mtu = 0, mss;

	headers += pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	if (bpf_check_mtu(ctx, 0, &mtu, 0, 0) < 0 || mtu <= headers)
		return proof_size(pkt->ipv4, 0);
	mss = mtu - headers;
	return mss < PROVE_WINDOW ? mss : PROVE_WINDOW;
}

static __always_inline void prove_add(struct prove_work *work, __u32 word)
{
	__u32 at = work->n_words;

	opaque(at); /* verifier: the register that is checked is the one that indexes */
	if (at >= PROVE_WORDS)
		return;
	work->words[at] = word;
	work->n_words = at + 1;
}

/* As the stack itself lays them out. Only what was asked for, so never longer than what came. */
static __always_inline void prove_write_options(struct prove_work *work, __u32 mss, __u64 now)
{
	const struct proof *proof = &work->proof;

	work->n_words = 0;
	if (work->asked.mss)
		prove_add(work, OPTION_MSS << 24 | OPTION_MSS_SIZE << 16 | mss);
	if (proof->timestamps) {
		prove_add(work, (proof->sack ? OPTION_SACK_PERMITTED << 24 |
						       OPTION_SACK_PERMITTED_SIZE << 16
					     : OPTION_NOP << 24 | OPTION_NOP << 16) |
					OPTION_TIMESTAMPS << 8 | OPTION_TIMESTAMPS_SIZE);
		prove_add(work, proof_stamp(proof, now));
		prove_add(work, work->asked.tsval);
	} else if (proof->sack) {
		prove_add(work, OPTION_NOP << 24 | OPTION_NOP << 16 | OPTION_SACK_PERMITTED << 8 |
					OPTION_SACK_PERMITTED_SIZE);
	}
	if (proof->window_scale != OPTIONS_NO_SCALE)
		prove_add(work, OPTION_NOP << 24 | OPTION_WINDOW_SCALE << 16 |
					OPTION_WINDOW_SCALE_SIZE << 8 | policy.offer.window_scale);
}

/* Reads what the SYN in the frame asks for. 0, or -1: it cannot be read. */
__attribute__((noinline)) int prove_read(struct xdp_md *ctx, const struct pkt *pkt)
{
	struct prove_work *work = prove_work();
	void *data = (void *)(long)ctx->data;
	struct tcphdr *tcp;
	__u32 l4, length, last;
	__u8 flags;

	if (!pkt || !work)
		return -1;
	l4 = pkt->l4;
	opaque(l4); /* verifier: the register that is checked is the one that is used */
	if (l4 > PARSE_OFFSET_MAX)
		return -1;
	tcp = data + l4;
	if ((void *)(tcp + 1) > (void *)(long)ctx->data_end)
		return -1;
	flags = ((__u8 *)tcp)[13];
	length = prove_options_length(tcp);
	if (length > OPTIONS_MAX)
		return -1;
	work->asked = (struct options){ .length = length };
	last = length - 1;
	opaque(last); /* verifier: kernel 6.1 does not learn from a test for 0 that it is none */
	if (last < OPTIONS_MAX &&
	    bpf_xdp_load_bytes(ctx, l4 + sizeof(*tcp), work->asked.bytes, last + 1))
		return -1;
	prove_options(&work->asked);
	work->proof = proof_agree((const struct stile_offer *)&policy.offer, &work->asked,
				  pkt->ipv4, !(~flags & (PROVE_FLAG_ECE | PROVE_FLAG_CWR)));
	return 0;
}

/* 0, or -1: the frame ends before it does. */
static __always_inline int prove_write_tcp(struct tcphdr *tcp, const void *data_end,
					   const struct pkt *pkt, const struct prove_work *work)
{
	const __u32 size = sizeof(*tcp) + work->n_words * 4;
	__be32 *word = (__be32 *)(tcp + 1);
	__u64 sum;
	__u32 i;

	*tcp = (struct tcphdr){
		.source = swap16(pkt->dport),
		.dest = swap16(pkt->sport),
		.seq = swap32(work->sequence),
		.ack_seq = swap32(pkt->sequence + 1),
		.doff = size / 4,
		.window = swap16(work->window),
	};
	((__u8 *)tcp)[13] = FLAG_SYN | FLAG_ACK | (work->proof.ecn ? PROVE_FLAG_ECE : 0);
	sum = checksum_pseudo(&pkt->destination, &pkt->source, pkt->ipv4, size, IPPROTO_TCP);
	sum = checksum_words(sum, tcp, sizeof(*tcp) / 4);
	unrolled
	for (i = 0; i < PROVE_WORDS; i++) {
		if (i >= work->n_words)
			break;
		if ((void *)(word + i + 1) > data_end)
			return -1;
		word[i] = swap32(work->words[i]);
		sum += word[i];
	}
	tcp->check = checksum_fold(sum);
	return 0;
}

/* Turns the SYN into the answer that the scratch has. As reply(). */
__attribute__((noinline)) int prove_write(struct xdp_md *ctx, const struct pkt *pkt)
{
	struct prove_work *work = prove_work();
	void *data, *data_end, *ip, *tcp;
	__u32 l3, l4, size;

	if (!pkt || !work || work->n_words > PROVE_WORDS)
		return -1;
	l3 = reply_l3(pkt);
	if (l3 > REPLY_LINK_MAX)
		return -1;
	l4 = l3 + (pkt->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	opaque(l4); /* verifier: bounded, for l3 is */
	size = sizeof(struct tcphdr) + work->n_words * 4;
	if (l4 > REPLY_LINK_MAX + sizeof(struct ipv6hdr))
		return -1;
	if (bpf_xdp_get_buff_len(ctx) != l4 + size && reply_resize(ctx, l4 + size))
		return -1;
	data = (void *)(long)ctx->data;
	data_end = (void *)(long)ctx->data_end;
	tcp = data + l4;
	opaque(tcp); /* verifier: the pointer that is checked is the one that is used */
	if (data + sizeof(struct ethhdr) > data_end || tcp + sizeof(struct tcphdr) > data_end)
		return -1;
	reply_swap_macs(data);
	ip = data + l3;
	if (pkt->ipv4 && ip + sizeof(struct iphdr) <= data_end)
		reply_ipv4(ip, pkt, sizeof(struct iphdr) + size, IPPROTO_TCP);
	else if (!pkt->ipv4 && ip + sizeof(struct ipv6hdr) <= data_end)
		reply_ipv6(ip, pkt, size, IPPROTO_TCP);
	return prove_write_tcp(tcp, data_end, pkt, work);
}

static __always_inline void prove_note(__u32 listener, __u64 now)
{
	struct stile_proof *state = prove_state(listener);
	struct stile_proven *counts = prove_counts(listener);

	if (state && state->challenged != now)
		state->challenged = now;
	if (counts)
		counts->challenged++;
}

/* Answers the SYN with a cookie. 0, or -1, and the frame is good for nothing. */
__attribute__((noinline)) int prove_challenge(struct xdp_md *ctx, const struct pkt *pkt)
{
	struct prove_work *work = prove_work();
	__u64 now = prove_now();
	__u32 mss;

	if (!pkt || !work || prove_read(ctx, pkt))
		return -1;
	mss = prove_mss(ctx, pkt);
	prove_write_options(work, mss, now);
	work->sequence = proof_make((const __u64 *)policy.cookie_key, pkt, now, &work->proof);
	work->window = PROVE_WINDOW - PROVE_WINDOW % mss;
	prove_note(classify_listener(pkt), now);
	return prove_write(ctx, pkt);
}

#endif /* STILE_BPF_PROVE_H */
