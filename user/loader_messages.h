/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What libbpf has to say: handed to a sink, and the first of it kept as the reason of a failure. */
#ifndef STILE_LOADER_MESSAGES_H
#define STILE_LOADER_MESSAGES_H

/* Takes libbpf's messages from now on, and forgets the reason. */
void loader_messages_begin(void);

/* loader_messages() and loader_reason() stand in loader.h. */

#endif /* STILE_LOADER_MESSAGES_H */
