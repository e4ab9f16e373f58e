/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The live screen in a real terminal, that of tmux. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "live.h"
#include "util.h"

static const char config[] = "interfaces: {srv0: {}}\n"
			     "rate_limiters:\n"
			     "  per-client: {limit: 5, window: 1h}\n"
			     "listeners:\n"
			     "  web: {ports: [80], rate_limiter_name: per-client}\n";

#define TMUX "LC_ALL=C.UTF-8 tmux -f /dev/null -S %s/tmux "
#define CYAN "\033[36m"
#define PROMPT "that was all"

struct terminal {
	const struct live *live;
	const char *wanted; /* on the screen */
};

static void terminal_end(const struct terminal *terminal)
{
	if (terminal->live)
		live_shell(terminal->live, LIVE_SERVER, TMUX "kill-server",
			   terminal->live->directory);
}

#define autoterminal __attribute__((cleanup(terminal_end)))

static bool is_shown(void *context)
{
	const struct terminal *terminal = context;
	autooutput struct output screen = {};

	screen = process_shell(-1, TMUX "capture-pane -p", terminal->live->directory);
	return screen.code == 0 && screen.text && strstr(screen.text, terminal->wanted);
}

static bool shows(struct terminal *terminal, const char *what, const char *wanted)
{
	autooutput struct output screen = {};

	terminal->wanted = wanted;
	if (CHECK_EQ(what, live_wait(is_shown, terminal), true))
		return true;
	screen = process_shell(-1, TMUX "capture-pane -p", terminal->live->directory);
	printf("the screen is:\n%s\n", screen.text ? screen.text : "");
	return false;
}

/* Whether it has that sequence in what it drew. */
static bool draws(const struct terminal *terminal, const char *sequence)
{
	autooutput struct output screen = {};

	screen = process_shell(-1, TMUX "capture-pane -p -e", terminal->live->directory);
	return screen.text && strstr(screen.text, sequence);
}

static void press(const struct terminal *terminal, const char *keys)
{
	live_shell(terminal->live, LIVE_SERVER, TMUX "send-keys %s", terminal->live->directory,
		   keys);
}

/* A shell that runs it, and says so when it came back. */
static void open_screen(const struct terminal *terminal, const char *environment)
{
	live_shell(terminal->live, LIVE_SERVER,
		   TMUX "new-session -d -x 80 -y 24 "
			"'%s %s --instance %s top --interval 200ms; stty -a | grep -c \" icanon\"; "
			"echo " PROMPT "; exec cat'",
		   terminal->live->directory, environment, check_stile(), terminal->live->instance);
}

static bool begin(struct live *live, const char *name)
{
	return live_begin(live, name) && live_start_web(live) && live_start(live, config) &&
	       CHECK_EQ("the limit gets in", live_count_served(live, CLIENT_ONE, 12), 5) &&
	       CHECK_EQ("another too", live_count_served(live, CLIENT_TWO, 6), 5);
}

static void try_keys(struct terminal *terminal)
{
	press(terminal, "s s");
	shows(terminal, "another order", "by refused");
	press(terminal, "/ 1.10 Enter");
	shows(terminal, "a filter", "1 client, by refused, only those with '1.10'");
	press(terminal, "Escape");
	shows(terminal, "which can be left", "2 clients, by refused\n");
	press(terminal, "Down e");
	shows(terminal, "the first one explained", CLIENT_ONE " at listener web");
	press(terminal, "x ?");
	shows(terminal, "help", "Any other key leads back.");
	press(terminal, "x b");
	shows(terminal, "a question before it blocks", "block " CLIENT_ONE " for: 10m_");
	press(terminal, "Enter");
	shows(terminal, "blocked", CLIENT_ONE " is blocked for 10m");
	live_check_explained(terminal->live, CLIENT_ONE, "blocked");
}

static void test_screen(void)
{
	autolive struct live live;
	autoterminal struct terminal terminal = {};

	if (!begin(&live, "top"))
		return;
	terminal.live = &live;
	open_screen(&terminal, "");
	if (!shows(&terminal, "the refused client is on the screen", CLIENT_ONE " "))
		return;
	CHECK("headings have a colour", draws(&terminal, CYAN));
	try_keys(&terminal);
	CHECK_EQ("killed", WTERMSIG(live_stop(&live, SIGKILL)), SIGKILL);
	shows(&terminal, "a dead daemon is seen", "THE DAEMON IS SILENT for");
	CHECK_EQ("what is pinned goes on", live_count_served(&live, CLIENT_THREE, 6), 5);
	shows(&terminal, "and so does the screen", CLIENT_THREE " ");
	press(&terminal, "Escape");
	live_shell(&live, LIVE_SERVER, TMUX "resize-window -x 100 -y 12", live.directory);
	shows(&terminal, "in another size too", "block  p pause\n");
	press(&terminal, "q");
	shows(&terminal, "q leaves the terminal as it was", "1\n" PROMPT);
}

/* Without colours, and ended by a signal. */
static void test_ended(void)
{
	autolive struct live live;
	autoterminal struct terminal terminal = {};

	if (!begin(&live, "top-ended"))
		return;
	terminal.live = &live;
	open_screen(&terminal, "NO_COLOR=1");
	shows(&terminal, "the refused client is on the screen", CLIENT_ONE " ");
	CHECK("nothing has a colour", !draws(&terminal, CYAN));
	live_shell(&live, LIVE_SERVER,
		   "kill -TERM $(pgrep -P $(" TMUX "display-message -p '#{pane_pid}'))",
		   live.directory);
	shows(&terminal, "a signal leaves the terminal as it was", "1\n" PROMPT);
}

static void test_text(void)
{
	autooutput struct output once = {}, dumb = {}, pipe = {};
	autolive struct live live;
	json_t *json;

	if (!begin(&live, "top-once"))
		return;
	once = live_stile(&live, "top --once --interval 100ms");
	CHECK_EQ("one screen", once.code, 0);
	CHECK("with the refused client", once.text && strstr(once.text, CLIENT_ONE " "));
	CHECK("and no escape sequence", once.text && !strchr(once.text, '\033'));
	json = live_json(&live, "top --once --interval 100ms --sort refused");
	CHECK_STR_EQ("the same for machines",
		     json_string_value(json_object_get(
			     json_array_get(json_object_get(json, "clients"), 0), "address")),
		     CLIENT_ONE);
	json_decref(json);
	pipe = live_stile(&live, "top");
	CHECK_EQ("a pipe is no terminal", pipe.code, 1);
	dumb = process_shell(live.netns[LIVE_SERVER],
			     "TERM=dumb script -qec '%s --instance %s top' /dev/null </dev/null",
			     check_stile(), live.instance);
	CHECK_EQ("one that cannot place its cursor is refused", dumb.code, 1);
	CHECK("with the reason", dumb.text && strstr(dumb.text, "cannot place its cursor"));
}

CHECK_SUITE(top, { "the screen, its keys, and a dead daemon", test_screen },
	    { "a signal restores the terminal", test_ended },
	    { "as text, and where there is no terminal", test_text });
