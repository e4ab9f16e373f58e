/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control socket: one request a connection, a line of text ("reload"), answered by a status
 * line ("ok" or "failed") and any text, then closed. Mode 0600, or 0660 of a group:
 * whoever may open it may ask.
 */
#ifndef STILE_CONTROL_H
#define STILE_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

struct event_base;
struct control;

/* Handles @request; writes text for the client to *ret_text (malloc'ed, or NULL); true: ok. */
typedef bool control_handler(const char *request, char **ret_text, void *context);

/*
 * Takes the place of a socket that a killed daemon left. 0 or negative errno: -EADDRINUSE where a
 * daemon answers there, -EEXIST where something stands there that is no socket.
 */
int control_listen(struct event_base *base, const char *path, control_handler *handler,
		   void *context, struct control **ret_control);

/* Lets that group ask too. 0 or negative errno. */
int control_share(const struct control *control, gid_t gid);

/* Removes the socket, where it is still this one. Before @base is freed. */
void control_free(struct control *control);

/*
 * Client side, in control_call.c: sends @request, waits for the answer. 1 ok, 0 failed, with
 * *ret_text ("" or whole lines, the caller's); or negative errno: -ENOENT, -ECONNREFUSED where no
 * daemon is there, -ETIMEDOUT where it has done nothing for @patience seconds, or is stopped; then
 * *ret_text says so, and what to do, without an end of line.
 */
int control_call(const char *path, const char *request, unsigned int patience, char **ret_text);

/* Removes a socket at which nobody listens, of a daemon that was killed. */
void control_sweep(const char *path);

/* The two's own. */
struct sockaddr_un;
int control_address(const char *path, struct sockaddr_un *ret_address);

#endif /* STILE_CONTROL_H */
