/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages to the service manager (sd_notify(3)), which never make the sender wait: a manager that
 * does not read must not stop what is watched over. Without a manager nothing is sent.
 */
#ifndef STILE_NOTIFY_H
#define STILE_NOTIFY_H

/* Lines such as "READY=1\nSTATUS=...". */
__attribute__((format(printf, 1, 2))) void notify(const char *format, ...);

#endif /* STILE_NOTIFY_H */
