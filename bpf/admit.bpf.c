/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes connections of handshakes that nothing was kept of, at tc's ingress: the segment that
 * brings a cookie back and that XDP has admitted finds a request for its connection, made of the
 * cookie, so that the service's own socket takes it as if it had answered the SYN itself (Linux
 * 6.9). XDP has let nothing else pass that fits a cookie and has no socket, but for what follows it
 * at once: one connection is made of what was admitted, see attempt.h.
 */
#include <linux/pkt_cls.h>

#include "attempt.h"
#include "classify.h"
#include "prove.h"

/* libbpf wants a definition to hold against the kernel's. */
struct sock {
};

/* As the kernel has it; not in its headers for users. */
struct bpf_tcp_req_attrs {
	__u32 rcv_tsval, rcv_tsecr;
	__u16 mss;
	__u8 rcv_wscale, snd_wscale;
	__u8 ecn_ok, wscale_ok, sack_ok, tstamp_ok, usec_ts_ok;
	__u8 reserved[3];
};

extern int bpf_sk_assign_tcp_reqsk(struct __sk_buff *skb, struct sock *sk,
				   struct bpf_tcp_req_attrs *attrs, int attrs__sz) __ksym;

/* A global function: see read_extended() in xdp.bpf.c. */
__attribute__((noinline)) int admit_parse(struct __sk_buff *skb, struct pkt *ret_pkt)
{
	if (!ret_pkt)
		return STILE_REASON_TRUNCATED;
	return parse((void *)(long)skb->data, (void *)(long)skb->data_end, ret_pkt);
}

/* The options of the segment. 0, or -1: it cannot be read. */
static __always_inline int admit_options(struct __sk_buff *skb, const struct pkt *pkt,
					 struct options *ret_options)
{
	__u8 words; /* of the header, in its upper half */

	if (bpf_skb_load_bytes(skb, pkt->l4 + 12, &words, 1))
		return -1;
	ret_options->length = (words >> 4) * 4 - sizeof(struct tcphdr);
	if (ret_options->length > OPTIONS_MAX)
		return -1;
	if (ret_options->length && bpf_skb_load_bytes(skb, pkt->l4 + sizeof(struct tcphdr),
						      ret_options->bytes, ret_options->length))
		return -1;
	prove_options(ret_options);
	return 0;
}

static __always_inline int admit_assign(struct __sk_buff *skb, struct bpf_sock *socket,
					const struct proof *proof, const struct options *options)
{
	struct bpf_tcp_req_attrs attrs = {
		.rcv_tsval = options->tsval,
		.rcv_tsecr = options->tsecr,
		.mss = proof->mss,
		.rcv_wscale = policy.offer.window_scale,
		.snd_wscale = proof->window_scale,
		.ecn_ok = proof->ecn,
		.wscale_ok = proof->window_scale != OPTIONS_NO_SCALE,
		.sack_ok = proof->sack,
		.tstamp_ok = proof->timestamps,
	};
	struct tcp_sock *listening;

	if (!attrs.wscale_ok) {
		attrs.rcv_wscale = 0;
		attrs.snd_wscale = 0;
	}
	if (socket->state != BPF_TCP_LISTEN)
		return 0;
	listening = bpf_skc_to_tcp_sock(socket);
	if (!listening)
		return -1;
	return bpf_sk_assign_tcp_reqsk(skb, (struct sock *)listening, &attrs, sizeof(attrs));
}

/* Hands the segment, which brought a cookie back, to the socket that listens. */
__attribute__((noinline)) int admit(struct __sk_buff *skb, const struct pkt *pkt)
{
	struct options options = {};
	struct bpf_sock *socket;
	struct proof proof;
	int failed;

	if (!pkt || admit_options(skb, pkt, &options))
		return -1;
	socket = socket_find(skb, pkt);
	if (!socket)
		return -1;
	proof = proof_read(pkt, &options);
	failed = admit_assign(skb, socket, &proof, &options);
	bpf_sk_release(socket);
	return failed;
}

SEC("tc")
int stile_admit(struct __sk_buff *skb)
{
	struct stile_proven *counts;
	struct pkt pkt = {};
	__u32 listener;
	__u64 hash;

	if (!policy.proves || admit_parse(skb, &pkt) != PARSE_OK ||
	    pkt.protocol != STILE_PROTOCOL_TCP)
		return TC_ACT_UNSPEC;
	listener = classify_listener(&pkt);
	if (listener == 0 || !prove_is_possible(listener) || prove_kind(&pkt) != PROVE_PROVEN)
		return TC_ACT_UNSPEC;
	counts = prove_counts(listener);
	hash = attempt_hash(&pkt);
	if (!counts || !attempt_spend(hash, attempt_place(hash)))
		return TC_ACT_UNSPEC;
	if (admit(skb, &pkt))
		counts->failed++;
	return TC_ACT_UNSPEC;
}
