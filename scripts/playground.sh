# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=sh
# A playground, sourced by scripts/playground and scripts/demo: two network namespaces with a veth
# pair between them, nginx in one of them, Stile in front of it. play_down takes all of it away.
# Stile and nginx are entered into the namespace by nsenter, which leaves /sys/fs/bpf as it is.

O=${O:-build}
STILE=$O/stile
PLAY_SERVER=stile-play-srv
PLAY_CLIENT=stile-play-cli
PLAY_INSTANCE=playground
PLAY_METRICS=127.0.0.1:9466
PLAY_DIRECTORY=
PLAY_NGINX=
PLAY_STILE=

play_fail() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# Runs a command on that side.
play_server() {
	nsenter --net=/run/netns/$PLAY_SERVER "$@"
}

play_client() {
	nsenter --net=/run/netns/$PLAY_CLIENT "$@"
}

play_stile() {
	play_server "$STILE" --instance $PLAY_INSTANCE "$@"
}

# Ends process $1, which is a child of this shell; SIGKILL where it does not go by itself.
play_end() {
	kill "$1" 2>/dev/null || return 0
	play_tries=50
	while kill -0 "$1" 2>/dev/null; do
		play_tries=$((play_tries - 1))
		[ $play_tries -gt 0 ] || kill -9 "$1" 2>/dev/null || break
		sleep 0.1
	done
	wait "$1" 2>/dev/null || :
}

play_remove() {
	for play_name in $PLAY_SERVER $PLAY_CLIENT; do
		[ ! -e /run/netns/$play_name ] || ip netns del $play_name
	done
}

play_down() {
	[ -z "$PLAY_STILE" ] || play_end "$PLAY_STILE"
	[ -z "$PLAY_NGINX" ] || play_end "$PLAY_NGINX"
	PLAY_STILE='' PLAY_NGINX=''
	[ ! -e "/sys/fs/bpf/stile/$PLAY_INSTANCE" ] || "$STILE" --instance $PLAY_INSTANCE detach || :
	play_remove
	[ -z "$PLAY_DIRECTORY" ] || rm -rf "$PLAY_DIRECTORY"
	PLAY_DIRECTORY=
}

# Asks "$@" until it succeeds, for ten seconds at most, while process $1 lives.
play_wait() {
	play_pid=$1 play_tries=100
	shift
	until "$@" >/dev/null 2>&1; do
		play_tries=$((play_tries - 1))
		[ $play_tries -gt 0 ] && kill -0 "$play_pid" 2>/dev/null || return 1
		sleep 0.1
	done
}

# The namespaces; whatever an earlier run left behind goes first.
play_up() {
	[ "$(id -u)" -eq 0 ] || play_fail "network namespaces need root"
	PLAY_DIRECTORY=$(mktemp -d)
	# nginx reads its pages as it is, but the folder must be open where it drops root.
	chmod 755 "$PLAY_DIRECTORY"
	[ ! -e "/sys/fs/bpf/stile/$PLAY_INSTANCE" ] || "$STILE" --instance $PLAY_INSTANCE detach
	play_remove
	for play_name in $PLAY_SERVER $PLAY_CLIENT; do
		ip netns add $play_name
		nsenter --net=/run/netns/$play_name \
			sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
		nsenter --net=/run/netns/$play_name ip link set lo up
	done
	play_server ip link add play-srv type veth peer name play-cli netns $PLAY_CLIENT
	play_server ip address add 10.77.0.1/24 dev play-srv
	play_server ip address add fd77::1/64 dev play-srv nodad
	play_server ip link set play-srv up
	for play_host in 2 3 101 102 103 104 105 106 107 108; do
		play_client ip address add 10.77.0.$play_host/24 dev play-cli
	done
	play_client ip address add fd77::2/64 dev play-cli nodad
	play_client ip link set play-cli up
}

# nginx with one worker, its page made by "$1" (a location's content); "$2": more for all of HTTP.
play_start_nginx() {
	cat >"$PLAY_DIRECTORY/nginx.conf" <<-END
		daemon off;
		master_process off;
		pid nginx.pid;
		error_log error.log crit;
		events { worker_connections 512; }
		http {
			access_log off;
			${2:-}
			client_body_temp_path body;
			proxy_temp_path proxy;
			fastcgi_temp_path fastcgi;
			uwsgi_temp_path uwsgi;
			scgi_temp_path scgi;
			server {
				listen [::]:80 ipv6only=off;
				location / { $1 }
			}
		}
	END
	nsenter --net=/run/netns/$PLAY_SERVER nginx -p "$PLAY_DIRECTORY" -c "$PLAY_DIRECTORY/nginx.conf" \
		>>"$PLAY_DIRECTORY/nginx.log" 2>&1 &
	PLAY_NGINX=$!
	# Asked on its own loopback, past Stile.
	if ! play_wait "$PLAY_NGINX" play_server curl -sf http://127.0.0.1/; then
		cat "$PLAY_DIRECTORY/nginx.log" "$PLAY_DIRECTORY/error.log" >&2 || :
		play_fail "nginx did not start"
	fi
}

# Stile with the configuration file $1.
play_start_stile() {
	nsenter --net=/run/netns/$PLAY_SERVER "$STILE" --instance $PLAY_INSTANCE run -c "$1" \
		>>"$PLAY_DIRECTORY/stile.log" 2>&1 &
	PLAY_STILE=$!
	if ! play_wait "$PLAY_STILE" play_stile status; then
		cat "$PLAY_DIRECTORY/stile.log" >&2
		play_fail "Stile did not start"
	fi
}
