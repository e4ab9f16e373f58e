/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Puts a configuration in force: compiles it against what is pinned, loads it as the next
 * generation, swaps the program of every interface, attaches new interfaces, detaches removed
 * ones. What fails changes nothing. A start is a reload on top of whatever is found.
 */
#ifndef STILE_APPLY_H
#define STILE_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "diag.h"
#include "pins.h"
#include "policy.h"
#include "syncookies.h"

struct apply_interface {
	char name[16];
	enum stile_mode mode; /* as attached: native or generic */
	uint32_t ifindex;     /* 0: it is not there, and not attached */
	bool elsewhere;	      /* another network namespace has it */
	bool adopted;	      /* it was attached before */
};

struct apply_result {
	uint64_t generation;
	struct apply_interface interfaces[STILE_INTERFACES_MAX];
	unsigned int n_interfaces;
	unsigned int n_tables[_POLICY_TABLE_MAX]; /* by what became of them */
};

/*
 * @diag gets mistakes of the configuration (-EINVAL) and, at line 0, why the kernel refused
 * (other errno).
 */
int apply_config(const struct pins *pins, const struct config *config, struct diag *diag,
		 struct apply_result *ret_result);

/*
 * Whether our program is attached to the interface that was called @ifname, wherever that is and
 * whatever it is called now.
 */
bool apply_is_attached(const struct pins *pins, const char *ifname);

/*
 * Tells the program in force that the daemon lives: once a second, so that the watchdog does not
 * bite. 0, or negative errno: -ENOENT where nothing is in force.
 */
int apply_heartbeat(const struct pins *pins);

/*
 * Gives places back that handshakes held which came to nothing, as this network namespace has them.
 * @cookies is kept from one look to the next.
 * 0 or negative errno.
 */
int apply_sweep(const struct pins *pins, struct syncookies *cookies);

/* What TCP agrees to in this network namespace, and whether it takes cookies (tcp_syncookies). */
struct stile_offer apply_offer(void);
bool apply_takes_cookies(void);

/* ns that a handshake lives at most, in this network namespace. */
uint64_t apply_handshake_life(void);

/*
 * Notes the service levels for whoever reads what is pinned: those of @levels, by listener slot,
 * whose time is not 0. 0 or negative errno, as above.
 */
int apply_levels(const struct pins *pins, const struct stile_level levels[STILE_LISTENERS_MAX]);

/* Detaches everything and removes the pins. 0 where nothing was there. */
int apply_detach(const struct pins *pins);

#endif /* STILE_APPLY_H */
