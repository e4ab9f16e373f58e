/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Policies for tests: what policy_text.h says. Lookups are made as bpf/classify.h makes them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "policy_text.h"
#include "util.h"

uint64_t policy_text_begun;

static uint64_t count(void *context)
{
	return *(uint64_t *)context += 2;
}

static int compile(const char *text, const struct stile_policy *previous, struct diag *diag,
		   struct policy *ret_policy)
{
	uint64_t last = 0;
	const struct policy_machine machine = {
		.tick = POLICY_TEXT_TICK,
		.tick_base = 77,
		.queue_length = 8,
		.queue_backlog = 12,
		.since = 1000,
		.generation = policy_text_begun,
		.random = count,
		.context = &last,
	};
	struct config config;
	int result;

	diag_init(diag, "f");
	result = config_parse(text, strlen(text), diag, &config);
	if (result < 0)
		return result;
	result = policy_compile(&config, previous, &machine, diag, ret_policy);
	config_release(&config);
	return result;
}

bool policy_text_compile(const char *text, const struct stile_policy *previous,
			 struct policy *ret_policy)
{
	struct diag diag;
	int result = compile(text, previous, &diag, ret_policy);

	if (!CHECK_EQ(text, result, 0))
		diag_print(&diag, stdout);
	diag_release(&diag);
	return result == 0;
}

char *policy_text_diag(const char *text, const struct stile_policy *previous)
{
	struct policy policy;
	char *printed = NULL;
	struct diag diag;
	size_t length;
	FILE *out = open_memstream(&printed, &length);
	int result = compile(text, previous, &diag, &policy);

	CHECK_EQ("mistakes, and only they, are refused", result != 0, diag.n_errors != 0);
	if (result == 0)
		policy_release(&policy);
	diag_print(&diag, out);
	(void)fclose(out);
	diag_release(&diag);
	return printed;
}

int policy_text_limiter(const struct policy *policy, const char *name)
{
	for (int slot = 0; slot < STILE_LIMITERS_MAX; slot++)
		if (strcmp(policy->kernel.limiters[slot].name, name) == 0)
			return slot;
	return -1;
}

int policy_text_listener(const struct policy *policy, const char *name)
{
	for (int slot = 0; slot < STILE_LISTENERS_MAX; slot++)
		if (strcmp(policy->kernel.listeners[slot].name, name) == 0)
			return slot;
	return -1;
}

const char *policy_text_judges(const struct policy *policy, const __u16 *judges, size_t n,
			       char *ret_names, size_t size)
{
	const struct stile_policy *kernel = &policy->kernel;

	*ret_names = '\0';
	for (size_t i = 0; i < n && judges[i]; i++) {
		size_t length = strlen(ret_names);

		snprintf(ret_names + length, size - length, "%s ",
			 kernel->limiters[kernel->attachments[judges[i]].limiter].name);
	}
	return ret_names;
}

const char *policy_text_at(const struct policy *policy, const char *address,
			   enum stile_protocol protocol, unsigned int port)
{
	uint8_t bytes[16] = { 0 };
	uint32_t row = 0;
	uint16_t page, listener;

	if (address)
		CHECK_EQ(address, prefix_parse_address(address, bytes), 0);
	for (size_t i = 0; address && i < policy->n_hosts; i++)
		if (memcmp(policy->hosts[i].host.address, bytes, sizeof(bytes)) == 0)
			row = policy->hosts[i].row;
	page = policy->ports[row].page[protocol][port >> 8];
	listener = policy->pages[page].listener[port & 255];
	return listener ? policy->kernel.listeners[listener].name : "-";
}
