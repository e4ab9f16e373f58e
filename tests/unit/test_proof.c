/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SYN cookies: what a handshake agreed on goes out in a number and a time stamp, and comes back. */
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "proof.h"
#include "random.h"
#include "util.h"

#define SLOT (1ULL << COOKIE_SLOT_SHIFT) /* ns */
#define SEQUENCE 0xfffffff0U		 /* of the SYN, so that what follows wraps */
#define NUMBERS (1U << 24)

static const __u64 key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
static const struct stile_offer everything = { 1, 1, 1, 1, 7, 0, {} };

static struct pkt packet(bool ipv4)
{
	struct pkt pkt = { .ipv4 = ipv4, .sport = 40000, .dport = 80, .sequence = SEQUENCE };

	memset(&pkt.source, 0x11, sizeof(pkt.source));
	memset(&pkt.destination, 0x22, sizeof(pkt.destination));
	return pkt;
}

/* How far the segment of @pkt's client that acknowledges @number is ahead of the first. */
static __u32 ahead(struct pkt pkt, __u32 number, __u64 now)
{
	pkt.sequence++;
	pkt.acknowledgment = number + 1;
	return proof_ahead(key, &pkt, now);
}

static bool is_same(const struct proof *one, const struct proof *two)
{
	return one->mss == two->mss && one->window_scale == two->window_scale &&
	       one->sack == two->sack && one->timestamps == two->timestamps && one->ecn == two->ecn;
}

/* There and back; the client's time stamps, if any, echo what it was sent. */
static struct proof come_back(struct pkt pkt, const struct proof *proof, __u64 now)
{
	const __u32 number = proof_make(key, &pkt, now, proof);
	const struct options options = {
		.timestamps = proof->timestamps,
		.tsval = 77,
		.tsecr = proof->timestamps ? proof_stamp(proof, now) : 0,
	};

	CHECK_EQ("it fits", ahead(pkt, number, now), 0);
	pkt.sequence++;
	pkt.acknowledgment = number + 1;
	return proof_read(&pkt, &options);
}

/* The size that is kept without time stamps. */
static uint16_t kept_size(bool ipv4, uint16_t mss)
{
	static const uint16_t sizes[2][4] = { { 1440, 1380, 1340, 1220 },
					      { 1460, 1400, 1220, 536 } };
	size_t i = 0;

	while (i < 3 && sizes[ipv4][i] > mss)
		i++;
	return sizes[ipv4][i];
}

/* Every scale, with and without each of the others. */
static void check_size(bool ipv4, uint16_t mss, __u64 now)
{
	const struct pkt pkt = packet(ipv4);

	for (unsigned int bits = 0; bits < 16 * 8; bits++) {
		struct proof proof = { .mss = mss,
				       .window_scale = bits & 15,
				       .sack = bits >> 4 & 1,
				       .timestamps = bits >> 5 & 1 };
		struct proof back;

		proof.ecn = proof.timestamps && bits >> 6 & 1;
		back = come_back(pkt, &proof, now);
		if (!proof.timestamps)
			proof.mss = kept_size(ipv4, mss);
		if (!CHECK("all of it comes back", is_same(&back, &proof)))
			return;
	}
}

static void test_round(void)
{
	static const uint16_t sizes[] = { 536,	537,  1219, 1220, 1221, 1339, 1340, 1379,  1380,
					  1399, 1400, 1439, 1440, 1459, 1460, 8960, 65495, 65535 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (__u64 now = 6 * SLOT; now < 8 * SLOT; now += SLOT - 1) {
			check_size(true, sizes[i], now);
			if (sizes[i] >= 1220)
				check_size(false, sizes[i], now);
		}
	}
}

/* What a client says of itself may be anything. */
static void test_agree(void)
{
	static const struct stile_offer nothing = {};
	const struct options all = {
		.mss = 1460, .window_scale = 9, .sack = 1, .timestamps = 1, .tsval = 5
	};
	const struct options bare = { .window_scale = OPTIONS_NO_SCALE };
	struct stile_offer offer = everything;
	struct proof proof = proof_agree(&everything, &all, true, true);

	CHECK("all of it", is_same(&proof, &(struct proof){ 1460, 9, 1, 1, 1, {} }));
	proof = proof_agree(&everything, &all, true, false);
	CHECK_EQ("ECN is asked for by flags", proof.ecn, 0);
	proof = proof_agree(&everything, &bare, true, true);
	CHECK("nothing, and nowhere to keep ECN",
	      is_same(&proof, &(struct proof){ 536, OPTIONS_NO_SCALE, 0, 0, 0, {} }));
	proof = proof_agree(&everything, &bare, false, false);
	CHECK_EQ("the least of IPv6", proof.mss, 1220);
	proof = proof_agree(&nothing, &all, true, true);
	CHECK("the host wants nothing",
	      is_same(&proof, &(struct proof){ 1460, OPTIONS_NO_SCALE, 0, 0, 0, {} }));
	offer.timestamps = 0;
	proof = proof_agree(&offer, &all, true, true);
	CHECK("no time stamps", is_same(&proof, &(struct proof){ 1460, 9, 1, 0, 0, {} }));
	offer = everything;
	offer.ecn = 0;
	proof = proof_agree(&offer, &all, true, true);
	CHECK("no ECN", is_same(&proof, &(struct proof){ 1460, 9, 1, 1, 0, {} }));
}

/* A client may echo anything, but no segment size comes of it that the kernel would not take. */
static void test_stamps(void)
{
	struct options options = { .timestamps = 1, .tsecr = 100 };
	const struct proof proof = { .mss = 1400, .window_scale = 3, .timestamps = 1 };
	struct pkt pkt = packet(true);
	struct proof back;
	__u32 before, after;

	pkt.acknowledgment = proof_make(key, &pkt, 5 * SLOT, &proof) + 1;
	back = proof_read(&pkt, &options);
	CHECK_EQ("less than the number says", back.mss, 1400);
	options = (struct options){};
	back = proof_read(&pkt, &options);
	CHECK("stamps that are left out are not agreed on",
	      is_same(&back, &(struct proof){ 1400, 3, 0, 0, 0, {} }));
	before = proof_stamp(&proof, 5 * SLOT);
	after = proof_stamp(&proof, 9 * SLOT);
	CHECK("time goes on", (__s32)(after - before) > 0);
	CHECK_EQ("and not within 137 s", proof_stamp(&proof, 4 * SLOT),
		 proof_stamp(&proof, 8 * SLOT - 1));
}

static void test_slots(void)
{
	const struct proof proof = { .mss = 1460, .window_scale = 7, .sack = 1 };

	for (__u64 now = 6 * SLOT; now < 9 * SLOT; now += SLOT / 2) {
		const struct pkt pkt = packet(now & SLOT);
		const __u64 begin = now / SLOT * SLOT;
		const __u32 number = proof_make(key, &pkt, now, &proof);

		CHECK_EQ("at the begin of its slot", ahead(pkt, number, begin), 0);
		CHECK_EQ("at its end", ahead(pkt, number, begin + SLOT - 1), 0);
		CHECK_EQ("in the next", ahead(pkt, number, begin + SLOT), 0);
		CHECK_EQ("to its end", ahead(pkt, number, begin + 2 * SLOT - 1), 0);
		CHECK("not after it", ahead(pkt, number, begin + 2 * SLOT) > PROOF_AHEAD_MAX);
		CHECK("nor one more", ahead(pkt, number, begin + 3 * SLOT) > PROOF_AHEAD_MAX);
		CHECK("nor before", ahead(pkt, number, begin - 1) > PROOF_AHEAD_MAX);
	}
}

static void test_parties(void)
{
	static const __u64 another[2] = { 0x0706050403020101, 0x0f0e0d0c0b0a0908 };
	const struct proof proof = { .mss = 1460, .window_scale = OPTIONS_NO_SCALE };

	for (int ipv4 = 0; ipv4 < 2; ipv4++) {
		const struct pkt pkt = packet(ipv4);
		const __u32 number = proof_make(key, &pkt, 7 * SLOT, &proof);
		struct pkt other = pkt;

		other.sport++;
		CHECK("another port of the client's",
		      ahead(other, number, 7 * SLOT) > PROOF_AHEAD_MAX);
		other = pkt;
		other.dport++;
		CHECK("another service", ahead(other, number, 7 * SLOT) > PROOF_AHEAD_MAX);
		other = pkt;
		((__u8 *)&other.source)[15]++;
		CHECK("another client", ahead(other, number, 7 * SLOT) > PROOF_AHEAD_MAX);
		other = pkt;
		((__u8 *)&other.destination)[15]++;
		CHECK("another address of the service",
		      ahead(other, number, 7 * SLOT) > PROOF_AHEAD_MAX);
		CHECK("another secret", ((proof_make(another, &pkt, 7 * SLOT, &proof) ^ number) &
					 (NUMBERS - 1)) != 0);
	}
}

/* RFC 9293, 3.4: numbers wrap. */
static void test_ahead(void)
{
	static const __u32 distances[] = { 1, 15, 16, 1460, 65535, 65536, NUMBERS - 1 };
	const struct proof proof = { .mss = 1460, .window_scale = 7, .sack = 1 };

	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		struct pkt pkt = packet(true);
		const __u32 number = proof_make(key, &pkt, 7 * SLOT, &proof);

		pkt.sequence += distances[i];
		CHECK_EQ("so far ahead", ahead(pkt, number, 7 * SLOT), distances[i]);
		pkt.sequence = SEQUENCE - distances[i];
		CHECK_EQ("and before it", ahead(pkt, number, 7 * SLOT), NUMBERS - distances[i]);
		pkt = packet(true);
		CHECK_EQ("more of ours is acknowledged",
			 ahead(pkt, number + distances[i], 7 * SLOT), NUMBERS - distances[i]);
	}
}

/*
 * Of the 2^24 numbers that differ where the hash is, one is taken, for either slot. So it is enough
 * to count that, and that the hashes of clients are spread over all of them.
 */
static void test_chance(void)
{
	struct pkt pkt = packet(true);
	__u32 first, buckets[256] = {}, low = ~0U, high = 0;

	first = ahead(pkt, 0, 7 * SLOT);
	pkt.sequence++;
	for (__u32 i = 0; i < NUMBERS; i += i < 4096 ? 1 : 4093) {
		pkt.acknowledgment = i + 1;
		if (!CHECK_EQ("each number has a distance of its own",
			      proof_ahead(key, &pkt, 7 * SLOT), (first - i) & (NUMBERS - 1)))
			return;
	}
	for (__u32 i = 0; i < 1U << 16; i++) {
		pkt.sport = (__u16)i;
		buckets[proof_ahead(key, &pkt, 7 * SLOT) >> 16]++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(buckets); i++) {
		low = buckets[i] < low ? buckets[i] : low;
		high = buckets[i] > high ? buckets[i] : high;
	}
	/* 256 each, and six times the deviation of 16 */
	CHECK("and clients' hashes are everywhere alike", low >= 160 && high <= 352);
}

/* Whatever is acknowledged reads as something that the kernel takes (net/core/filter.c). */
static void test_junk(void)
{
	uint64_t random = 20261130;

	for (int i = 0; i < 20000; i++) {
		const struct options options = { .timestamps = random_next(&random) & 1,
						 .tsecr = (__u32)random_next(&random) };
		struct pkt pkt = packet(i & 1);
		struct proof proof;

		pkt.acknowledgment = (__u32)random_next(&random);
		proof = proof_read(&pkt, &options);
		if (!CHECK("a segment size", proof.mss >= (pkt.ipv4 ? 536 : 1220)) ||
		    !CHECK("a window scale", proof.window_scale <= OPTIONS_NO_SCALE) ||
		    !CHECK("yes or no", (proof.sack | proof.timestamps | proof.ecn) <= 1))
			return;
	}
}

CHECK_SUITE(proof, { "every handshake, there and back", test_round },
	    { "what is agreed on", test_agree }, { "time stamps", test_stamps },
	    { "slots", test_slots }, { "whose it is", test_parties },
	    { "how far ahead", test_ahead }, { "numbers that fit by chance", test_chance },
	    { "any number", test_junk });
