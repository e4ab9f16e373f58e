/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a request on UDP that is refused, in every language. Its answer is never longer than
 * itself, is made of bytes that are there, and does not depend on what lies behind it in memory.
 * The input begins with the language and the wait; before a raw one's request is the text of its
 * answer, up to a byte of zeros.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* What the kernel does in its place. */
static long host_loop(uint32_t n, long (*turn)(uint32_t, void *), void *context, uint64_t flags)
{
	uint32_t i = 0;

	(void)flags;
	while (i < n && turn(i, context) == 0)
		i++;
	return i;
}
#define bpf_loop host_loop

#include "../../user/datagram.h"
#include "datagram_plan.h"
#include "raw.h"

#define HEAD 5
#define SIP_BUSY "SIP/2.0 503 Service Unavailable\r\n"
#define SIP_END "Content-Length: 0\r\n\r\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void demand(bool condition)
{
	if (!condition)
		abort();
}

struct answer {
	uint8_t bytes[STILE_DATAGRAM_SIZE];
	size_t size; /* 0: there is none */
};

static void append(struct answer *answer, const uint8_t *from, size_t offset, size_t length,
		   size_t there)
{
	demand(length > 0 && offset <= there && length <= there - offset);
	demand(length <= sizeof(answer->bytes) - answer->size);
	memcpy(answer->bytes + answer->size, from + offset, length);
	answer->size += length;
}

/* As datagram_write() of bpf/datagram.h puts it together. */
static void compose(const struct stile_datagram *datagram, const struct stile_datagram_work *work,
		    struct answer *ret_answer)
{
	struct answer answer = { .size = 0 };

	demand(work->n_ranges > 0 && work->n_ranges <= STILE_DATAGRAM_RANGES);
	demand(work->n_made <= STILE_DATAGRAM_MADE && datagram->n_text <= STILE_DATAGRAM_TEXT);
	for (unsigned int i = 0; i < work->n_ranges; i++) {
		const struct stile_datagram_range *range = &work->ranges[i];

		if (range->source == STILE_RANGE_REQUEST)
			append(&answer, work->request, range->from, range->length, work->size);
		else if (range->source == STILE_RANGE_TEXT)
			append(&answer, datagram->text, range->from, range->length,
			       datagram->n_text);
		else
			append(&answer, work->made, range->from, range->length, work->n_made);
		demand(range->source == STILE_RANGE_REQUEST ||
		       range->length <= STILE_DATAGRAM_TEXT_PIECE);
	}
	demand(answer.size == work->total && answer.size <= work->size);
	*ret_answer = answer;
}

struct request {
	const uint8_t *bytes;
	size_t size;
	uint32_t wait;
};

/* The answer where @filler, over and over, is whatever lay there before. */
static void ask(const struct stile_datagram *datagram, const struct request *request,
		const char filler[2], struct answer *ret_answer)
{
	struct stile_datagram_work *work = malloc(sizeof(*work));

	demand(work);
	for (size_t i = 0; i < sizeof(*work); i++)
		((char *)work)[i] = filler[i % 2];
	memcpy(work->request, request->bytes, request->size);
	memset(work->request + request->size, 0, sizeof(uint64_t));
	memset(work->made, 'a', STILE_DATAGRAM_TAG);
	work->size = (uint32_t)request->size;
	work->milliseconds = request->wait;
	work->seconds = (request->wait + 999) / 1000;
	ret_answer->size = 0;
	if ((!datagram->n_lines || datagram_scan(datagram, work) == 0) &&
	    datagram_choose(datagram, work) == 0)
		compose(datagram, work, ret_answer);
	free(work);
}

/* Headers that begin with the status and end once, at the end. */
static void check_sip(const struct answer *answer)
{
	static const char end[] = "\r\n\r\n";
	const uint8_t *found = memmem(answer->bytes, answer->size, end, strlen(end));

	demand(memcmp(answer->bytes, SIP_BUSY, strlen(SIP_BUSY)) == 0);
	demand(found && found + strlen(end) == answer->bytes + answer->size);
}

/* A request with the headers of an answer to one, the tag too: its answer has the same. */
static void check_sip_again(const struct stile_datagram *datagram, const struct answer *answer,
			    uint32_t wait)
{
	size_t begin = strlen(SIP_BUSY), kept = answer->size - strlen(SIP_END);
	char text[2 * STILE_DATAGRAM_SIZE];
	int size = snprintf(text, sizeof(text), "OPTIONS sip:a@b SIP/2.0\r\n%.*s%s",
			    (int)(kept - begin), (const char *)answer->bytes + begin,
			    "Subject: so long that the wait has room beside it\r\n\r\n");
	struct request request = { (const uint8_t *)text, (size_t)size, wait };
	struct answer again;

	if (size > STILE_DATAGRAM_SIZE || memchr(answer->bytes, 0, answer->size))
		return;
	ask(datagram, &request, "\0\0", &again);
	demand(again.size >= answer->size && memcmp(again.bytes, answer->bytes, kept) == 0);
}

/* Of whom it is, and that it is one: two servers never answer each other. */
static void check_answer(const struct stile_datagram *datagram, enum stile_language language,
			 const struct request *request, const struct answer *answer)
{
	struct request back = { answer->bytes, answer->size, request->wait };
	struct answer again;

	if (language == STILE_LANGUAGE_DNS)
		demand(memcmp(answer->bytes, request->bytes, 2) == 0);
	else if (language == STILE_LANGUAGE_COAP)
		demand(memcmp(answer->bytes + 2, request->bytes + 2, 2) == 0);
	if (language == STILE_LANGUAGE_SIP) {
		check_sip(answer);
		check_sip_again(datagram, answer, request->wait);
	}
	ask(datagram, &back, "\0\0", &again);
	demand(language == STILE_LANGUAGE_RAW ? again.size < answer->size : again.size == 0);
}

static bool build(struct request *request, uint8_t choice, enum stile_language *ret_language,
		  struct stile_datagram *ret_datagram)
{
	static const enum stile_language languages[] = { STILE_LANGUAGE_DNS, STILE_LANGUAGE_DNS,
							 STILE_LANGUAGE_NTP, STILE_LANGUAGE_COAP,
							 STILE_LANGUAGE_SIP, STILE_LANGUAGE_SIP,
							 STILE_LANGUAGE_RAW };
	struct raw raw = { .server_first = false };
	struct datagram_wish wish = { .dns_refused = choice & 1, .raw = &raw };
	struct raw_mistake mistake;

	*ret_language = languages[choice % (sizeof(languages) / sizeof(*languages))];
	if (*ret_language == STILE_LANGUAGE_RAW) {
		const uint8_t *end = memchr(request->bytes, 0, request->size);

		if (!end || !raw_parse((const char *)request->bytes, &raw, &mistake))
			return false;
		request->size -= (size_t)(end + 1 - request->bytes);
		request->bytes = end + 1;
	}
	return datagram_build(*ret_language, &wish, ret_datagram) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stile_datagram datagram;
	enum stile_language language;
	struct answer answer, other;
	struct request request;

	if (size <= HEAD)
		return 0;
	request = (struct request){ data + HEAD, size - HEAD, 0 };
	memcpy(&request.wait, data + 1, sizeof(request.wait));
	if (!build(&request, data[0], &language, &datagram) || request.size == 0 ||
	    request.size > STILE_DATAGRAM_SIZE)
		return 0;
	ask(&datagram, &request, "\0\0", &answer);
	ask(&datagram, &request, "\r\n", &other);
	demand(answer.size == other.size && memcmp(answer.bytes, other.bytes, answer.size) == 0);
	if (answer.size)
		check_answer(&datagram, language, &request, &answer);
	sink += answer.size;
	return 0;
}
