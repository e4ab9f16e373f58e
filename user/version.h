/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which Stile this is. */
#ifndef STILE_VERSION_H
#define STILE_VERSION_H

#define STILE_VERSION "0.1.0"

#endif /* STILE_VERSION_H */
