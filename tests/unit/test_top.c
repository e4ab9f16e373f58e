/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rates of snapshots made by hand, numbers and histories in few columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "top_frames.h"
#include "util.h"

static void test_growth(void)
{
	static const struct {
		const char *what;
		uint64_t before, now, want;
	} rows[] = {
		{ "a counter that stands still grows by nothing", 7, 7, 0 },
		{ "a counter that grew", 7, 10, 3 },
		{ "a lower counter began anew at zero", 1000, 4, 4 },
		{ "up to the highest number there is", 0, UINT64_MAX, UINT64_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(rows[i].what, top_growth(rows[i].before, rows[i].now), rows[i].want);
}

static void test_rates(void)
{
	struct top_frame *first = top_frame_new(NULL, snapshot_at(10), clients_with(1, 1, 1), 1);
	struct top_frame *frame = second_frame(2);

	CHECK_EQ("the first frame knows no rate", first->seconds * 1000, 0);
	CHECK_EQ("it has the clients", first->n_clients, 1);
	CHECK_EQ("one limiter at one listener", frame->n_flows, 1);
	CHECK_EQ("admitted in a second", frame->flows[0].rate.admitted, 10);
	CHECK_EQ("shed in a second", frame->flows[0].rate.shed, 150);
	CHECK_EQ("which the history remembers", frame->flows[0].history[0], 150);
	CHECK_EQ("once", frame->flows[0].n_history, 1);
	CHECK_EQ("a client's admitted", frame->rates[0].admitted, 2);
	CHECK_EQ("a client's refused", frame->rates[1].shed, 60);
	top_frame_free(first);
	top_frame_free(frame);
}

/* A reload gives the slots of the limiter and of its attachment to others. */
static void test_reload(void)
{
	struct snapshot *later = snapshot_at(13);
	struct snapshot_client *clients = clients_with(1, 6, 90);
	struct top_frame *before = second_frame(1), *frame;

	later->policy.limiters[7] = later->policy.limiters[SLOT_PER_CLIENT];
	strcpy(later->policy.limiters[SLOT_PER_CLIENT].name, "another");
	later->policy.attachments[2] = (struct stile_attachment){ 7, SLOT_WEB, 0, 0, 0 };
	later->decisions[2].count[STILE_DECISION_ALLOWED] = 125;
	later->decisions[2].count[STILE_DECISION_LIMITED] = 40;
	clients[0].limiter = 7;
	frame = top_frame_new(before, later, clients, 1);
	CHECK_EQ("two limiters now", frame->n_flows, 2);
	CHECK_STR_EQ("the new one has the slot", frame->flows[0].limiter, "another");
	CHECK_EQ("and no history", frame->flows[0].n_history, 0);
	CHECK_EQ("the other is found by its name", frame->flows[1].rate.admitted, 5);
	CHECK_EQ("what began anew counts from zero", frame->flows[1].rate.shed, 40);
	CHECK_EQ("the history goes on", frame->flows[1].n_history, 2);
	CHECK_EQ("a client is found by its limiter's name", frame->rates[0].shed, 20);
	top_frame_free(before);
	top_frame_free(frame);
}

static void test_history_is_bounded(void)
{
	struct top_frame *frame = top_frame_new(NULL, snapshot_at(1), clients_with(0, 0, 0), 0);

	for (uint64_t i = 2; i < TOP_HISTORY + 10; i++) {
		struct snapshot *snapshot = snapshot_at(i);
		struct top_frame *next;

		decide(snapshot, 0, i * i);
		next = top_frame_new(frame, snapshot, clients_with(0, 0, 0), 0);
		top_frame_free(frame);
		frame = next;
	}
	CHECK_EQ("no more than there is room for", frame->flows[0].n_history, TOP_HISTORY);
	CHECK_EQ("the last is the newest", frame->flows[0].history[TOP_HISTORY - 1],
		 2 * (TOP_HISTORY + 9) - 1);
	top_frame_free(frame);
}

static void test_numbers(void)
{
	static const struct {
		const char *want;
		double number;
	} rows[] = {
		{ "0", 0 },	   { "0", -1 },		{ "0.4", 0.42 },
		{ "9.9", 9.94 },   { "10", 9.96 },	{ "87", 87.4 },
		{ "999", 999.4 },  { "1.0k", 999.6 },	{ "12.3k", 12340 },
		{ "100k", 99960 }, { "4.6M", 4560000 }, { "18.4E", 18446744073709551615.0 },
		{ "lots", 1e30 },
	};
	char text[TOP_NUMBER_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_STR_EQ(rows[i].want, top_number(rows[i].number, text), rows[i].want);
		CHECK("at most five columns", strlen(text) <= 5);
	}
}

static void test_spans(void)
{
	static const struct {
		const char *want;
		uint64_t ns;
	} rows[] = {
		{ "0.0s", 0 },
		{ "0.1s", 1 },
		{ "59.9s", 599 * SECOND / 10 },
		{ "1m0s", 599 * SECOND / 10 + 1 },
		{ "15m17s", 917 * SECOND },
		{ "3h12m", 3 * 3600 * SECOND + 12 * 60 * SECOND },
		{ "4d1h", 97 * 3600 * SECOND },
		{ "999d23h", (1000 * 86400 - 1) * SECOND },
		{ "years", UINT64_MAX },
	};
	char text[TOP_NUMBER_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR_EQ("a span in seven columns", top_span(rows[i].ns, text), rows[i].want);
	CHECK_STR_EQ("a count has no fraction", top_count(7, text), "7");
	CHECK_STR_EQ("up to a thousand", top_count(999, text), "999");
	CHECK_STR_EQ("from there on it is rounded", top_count(1049, text), "1.0k");
}

static void test_spark(void)
{
	const struct top_flow flow = { .history = { 0, 1, 50, 100, 0.01 }, .n_history = 5 };
	char text[TOP_TEXT_SIZE];

	CHECK_STR_EQ("the highest is the tallest, what little there was is seen",
		     top_spark(&flow, 5, true, text), " ▁▄█▁");
	CHECK_STR_EQ("without Unicode", top_spark(&flow, 5, false, text), " .=#.");
	CHECK_STR_EQ("the newest stand at the right", top_spark(&flow, 7, false, text), "   .=#.");
	CHECK_STR_EQ("the oldest are left out", top_spark(&flow, 2, false, text), "#.");
}

CHECK_SUITE(top, { "counters grow and begin anew", test_growth }, { "rates", test_rates },
	    { "names are followed through a reload", test_reload },
	    { "the history is bounded", test_history_is_bounded }, { "numbers", test_numbers },
	    { "spans and counts", test_spans }, { "the history in signs", test_spark });
