/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pages of 256 ports, kept once each: all the ports of a listener without ports are one page, and
 * a row that differs from another in one port shares all pages but one with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy_build.h"
#include "util.h"

#define PAGES_MAX 65536 /* what the 16 bits of struct stile_ports can tell apart */
#define CHAINS 4096	/* a power of two */

struct policy_pages {
	struct stile_page *pages;
	uint32_t *next; /* page after this one in its chain, plus one */
	size_t n_pages, n_reserved;
	uint32_t chains[CHAINS]; /* first page, plus one */
};

static uint32_t chain_of(const struct stile_page *page)
{
	uint64_t word, hash = 0;

	for (size_t i = 0; i < sizeof(*page); i += sizeof(word)) {
		memcpy(&word, (const char *)page + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return (uint32_t)hash & (CHAINS - 1);
}

static int pages_reserve(struct policy_pages *pages)
{
	size_t n = pages->n_reserved ? pages->n_reserved * 2 : 16;
	struct stile_page *grown;
	uint32_t *next;

	if (pages->n_pages < pages->n_reserved)
		return 0;
	grown = reallocarray(pages->pages, n, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pages->pages = grown;
	next = reallocarray(pages->next, n, sizeof(*next));
	if (!next)
		return -ENOMEM;
	pages->next = next;
	pages->n_reserved = n;
	return 0;
}

/* Appends @page, which is in no chain yet. */
static int page_add(struct policy_pages *pages, const struct stile_page *page, uint16_t *ret_index)
{
	uint32_t *chain = &pages->chains[chain_of(page)];

	if (pages->n_pages == PAGES_MAX)
		return -ENOSPC;
	if (pages_reserve(pages) < 0)
		return -ENOMEM;
	pages->pages[pages->n_pages] = *page;
	pages->next[pages->n_pages] = *chain;
	*ret_index = (uint16_t)pages->n_pages;
	*chain = (uint32_t)++pages->n_pages;
	return 0;
}

int policy_pages_find(struct policy_pages *pages, const uint16_t listener[STILE_PORTS_PER_PAGE],
		      uint16_t *ret_index)
{
	struct stile_page page;

	memcpy(page.listener, listener, sizeof(page.listener));
	for (uint32_t at = pages->chains[chain_of(&page)]; at; at = pages->next[at - 1]) {
		if (memcmp(&pages->pages[at - 1], &page, sizeof(page)) == 0) {
			*ret_index = (uint16_t)(at - 1);
			return 0;
		}
	}
	return page_add(pages, &page, ret_index);
}

int policy_pages_create(struct policy_pages **ret_pages)
{
	static const struct stile_page nobody;
	struct policy_pages *pages = calloc(1, sizeof(*pages));
	uint16_t index;

	if (!pages || page_add(pages, &nobody, &index) < 0) {
		policy_pages_free(pages);
		return -ENOMEM;
	}
	*ret_pages = pages;
	return 0;
}

void policy_pages_free(struct policy_pages *pages)
{
	if (!pages)
		return;
	free(pages->pages);
	free(pages->next);
	free(pages);
}

struct stile_page *policy_pages_take(struct policy_pages *pages, size_t *ret_n_pages)
{
	struct stile_page *taken = pages->pages;

	*ret_n_pages = pages->n_pages;
	pages->pages = NULL;
	pages->n_pages = 0;
	return taken;
}
