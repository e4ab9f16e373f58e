/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interfaces that appear, vanish, change their name or their namespace. The kernel's word that
 * something changed is taken as a reason to look, and nothing more, so that no word can be missed.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <event2/event.h>

#include "cmd_run.h"
#include "log.h"
#include "util.h"

#define RETRY_S 60

/* As it is now. What it was called, and how large its MTU was, is kept of one that is not here. */
static struct run_link look(const struct run *run, unsigned int i)
{
	const struct apply_interface *interface = &run->applied.interfaces[i];
	struct run_link link = run->links.links[i];

	link.where = RUN_LINK_GONE;
	if (interface->ifindex == 0)
		return link;
	if (!interface->elsewhere && netif_get(interface->ifindex, &link.state) == 0)
		link.where = RUN_LINK_HERE;
	else if (apply_is_attached(run->pins, interface->name))
		link.where = RUN_LINK_ELSEWHERE;
	return link;
}

static void log_where(const char *name, const struct run_link *now)
{
	if (now->where == RUN_LINK_HERE)
		log_info("%s: is back", name);
	else if (now->where == RUN_LINK_ELSEWHERE)
		log_warning("%s: has moved to another network namespace: Stile stays attached to "
			    "it there",
			    name);
	else
		log_warning("%s: is gone: it is attached again when it appears", name);
}

static void log_state(const char *name, const struct netif_state *before,
		      const struct netif_state *now)
{
	if (strcmp(before->name.text, now->name.text) != 0)
		log_warning("%s: is called '%s' now: Stile stays attached to it", name,
			    now->name.text);
	if (before->up != now->up)
		log_info("%s: is %s", name, now->up ? "up" : "down");
	if (before->up && now->up && before->carrier != now->carrier)
		log_info("%s: has %s", name, now->carrier ? "its carrier again" : "no carrier");
	if (before->mtu != now->mtu)
		log_info("%s: its MTU is %" PRIu32 " now, after %" PRIu32, name, now->mtu,
			 before->mtu);
}

static void follow_link(struct run *run, unsigned int i)
{
	const char *name = run->applied.interfaces[i].name;
	struct run_link *link = &run->links.links[i];
	struct run_link now = look(run, i);

	if (link->where != now.where)
		log_where(name, &now);
	if (now.where == RUN_LINK_HERE)
		log_state(name, &link->state, &now.state);
	*link = now;
}

/* Whether the name means an interface now that it is not attached to, and that is worth a try. */
static bool has_appeared(const struct run *run, unsigned int i)
{
	const struct apply_interface *interface = &run->applied.interfaces[i];
	const struct run_link *link = &run->links.links[i];
	uint32_t ifindex;

	if (netif_index(interface->name, &ifindex) < 0)
		return false;
	if (ifindex == interface->ifindex && !interface->elsewhere)
		return false;
	return ifindex != link->tried || run->links.seconds == 0;
}

/* The load that follows repeats nothing of the file; of this one nobody could tell before. */
static void log_appeared(const char *name)
{
	if (netif_is_ethernet(name) == 0)
		log_warning("%s: has appeared, without Ethernet headers: its packets cannot be "
			    "read, and all of them pass",
			    name);
	else
		log_info("%s: has appeared", name);
}

static void attach(struct run *run)
{
	struct diag diag;
	int error;

	diag_init(&diag, run->file);
	diag.again = true;
	error = run_load_again(run, &diag);
	log_diag(&diag);
	diag_release(&diag);
	run->links.seconds = RETRY_S;
	if (error) {
		for (unsigned int i = 0; i < run->applied.n_interfaces; i++) {
			struct run_link *link = &run->links.links[i];

			link->tried = 0;
			(void)netif_index(run->applied.interfaces[i].name, &link->tried);
		}
		log_error("not attached, and tried again in %d s: %s", RETRY_S, strerror(-error));
		return;
	}
	run_log_applied(run);
	run_tell_manager(run);
}

static void follow(struct run *run)
{
	bool appeared = false;

	if (run_is_detached(run))
		return; /* nothing is to be attached until a reload says so */
	for (unsigned int i = 0; i < run->applied.n_interfaces; i++) {
		follow_link(run, i);
		if (!has_appeared(run, i))
			continue;
		log_appeared(run->applied.interfaces[i].name);
		appeared = true;
	}
	if (appeared)
		attach(run);
}

static void on_change(evutil_socket_t fd, short what, void *context)
{
	(void)what; /* there is something to read */
	netif_watch_read((int)fd);
	follow(context);
}

void run_links_follow(struct run *run)
{
	struct run_links *links = &run->links;

	links->fd = netif_watch();
	if (links->fd >= 0)
		links->event =
			event_new(run->base, links->fd, EV_READ | EV_PERSIST, on_change, run);
	if (!links->event || event_add(links->event, NULL) < 0)
		log_warning("follow interfaces: %s: they are looked at every %d s instead",
			    strerror(links->fd < 0 ? -links->fd : ENOMEM), RETRY_S);
	follow(run); /* what has changed since the load */
}

void run_links_note(struct run *run)
{
	for (unsigned int i = 0; i < run->applied.n_interfaces; i++) {
		run->links.links[i] = (struct run_link){ 0 };
		run->links.links[i] = look(run, i);
	}
}

void run_links_retry(struct run *run)
{
	struct run_links *links = &run->links;

	if (links->seconds && --links->seconds)
		return;
	follow(run);
	links->seconds = RETRY_S;
}

void run_links_free(struct run *run)
{
	if (run->links.event)
		event_free(run->links.event);
	fd_release(&run->links.fd);
}
