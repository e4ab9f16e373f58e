/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The configuration compiled into what the kernel side reads: slots, tables and tries, everything
 * resolved and checked against each other. Names keep the slots of the previous policy, so that
 * counters and buckets go on. Pure: no libbpf, no system call; what only the machine knows comes
 * in as struct policy_machine.
 */
#ifndef STILE_POLICY_H
#define STILE_POLICY_H

#include <stdint.h>

#include <stile/abi.h>

#include "config.h"
#include "names.h"

struct policy_machine {
	uint64_t tick;					   /* ns per jiffy */
	uint64_t tick_base;				   /* see struct stile_policy */
	uint32_t queue_length, queue_backlog, queue_young; /* the same; 0: not known */
	uint64_t since;		  /* ns of CLOCK_BOOTTIME, used where there is no previous policy */
	uint64_t handshake;	  /* ns that one lives at most; 0: as the kernel's default has it */
	uint64_t generation;	  /* the latest that was begun, whatever became of it */
	struct stile_offer offer; /* what TCP agrees to here */
	const char *proofs_reason;	   /* why sources cannot be proven here; NULL: they can */
	uint64_t (*random)(void *context); /* for seeds */
	void *context;
};

/* What becomes of a limiter's bucket table. */
enum policy_table {
	POLICY_TABLE_NEW,    /* it starts empty */
	POLICY_TABLE_KEPT,   /* it goes on as it is */
	POLICY_TABLE_COPIED, /* its buckets go on in another one, see carry.h */
	_POLICY_TABLE_MAX,
};

struct policy_source {
	struct stile_source_key key;
	struct stile_source value;
};

struct policy_host {
	struct stile_host host;
	uint32_t row; /* of ports */
};

struct policy {
	struct stile_policy kernel;
	enum policy_table tables[STILE_LIMITERS_MAX]; /* by slot */
	struct policy_host *hosts;
	size_t n_hosts;
	struct stile_ports *ports; /* at least one row */
	size_t n_ports;
	struct stile_page *pages; /* at least one: page 0 */
	size_t n_pages;
	struct policy_source *sources;
	size_t n_sources;
	struct stile_datagram *datagrams; /* slot 0 is empty; NULL: there is none */
	size_t n_datagrams;
	struct stile_answer *answers; /* slot 0 is empty; NULL: there is none */
	size_t n_answers;
	struct stile_prefix *trusted, *blocked;
	size_t n_trusted, n_blocked;
};

/*
 * Compiles @config. @previous is the policy in force, or NULL. Mistakes and warnings go to @diag.
 * 0, -EINVAL where @diag holds errors, or -ENOMEM; *ret_policy is written on success only and
 * released with policy_release(). Interfaces get ifindex 0: apply.h looks them up.
 */
int policy_compile(const struct config *config, const struct stile_policy *previous,
		   const struct policy_machine *machine, struct diag *diag,
		   struct policy *ret_policy);

void policy_release(struct policy *policy);

/* Bytes of kernel memory that the bucket table of @limiter takes. */
uint64_t policy_table_bytes(const struct stile_limiter *limiter);

/* Bytes of kernel memory that the table of handshakes takes; 0: no limiter counts places. */
uint64_t policy_handshake_bytes(const struct policy *policy);

/* Bytes of kernel memory that the table of sessions takes; 0: no limiter counts any. */
uint64_t policy_session_bytes(const struct policy *policy);

/* Bytes of kernel memory that all maps take together, and once more for each CPU. */
uint64_t policy_map_bytes(const struct policy *policy);
uint64_t policy_map_bytes_per_cpu(void);

#endif /* STILE_POLICY_H */
