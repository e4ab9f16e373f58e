/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What policies ask of a limiter or a listener, and a draft (config.h) may not know. Only what
 * needs none of these is held against the rest of the configuration.
 */
#ifndef STILE_CONFIG_PART_H
#define STILE_CONFIG_PART_H

#include <stdint.h>

enum config_part {
	CONFIG_LIMIT = 1 << 0,
	CONFIG_WINDOW = 1 << 1,
	CONFIG_BURST = 1 << 2,
	CONFIG_ALGORITHM = 1 << 3,
	CONFIG_UNIT = 1 << 4,
	CONFIG_PROTOCOL = 1 << 5,
	CONFIG_ADDRESSES = 1 << 6,
	CONFIG_PORTS = 1 << 7,
	CONFIG_LANGUAGE = 1 << 8,
	CONFIG_RAW = 1 << 9,
};

/* Limits and bursts beyond it are kept as this: no algorithm takes them. */
#define CONFIG_COUNT_OVER UINT64_C(36000000001)

#endif /* STILE_CONFIG_PART_H */
