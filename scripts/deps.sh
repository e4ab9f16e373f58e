#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# deps.sh [GROUP]...: installs what is missing of scripts/packages (all groups: build test deb bench),
# as root or through sudo. Services that come with a package are neither started nor enabled.
set -eu

cd "$(dirname "$0")/.."
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d

is_installed() {
	[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]
}

# The entries of scripts/packages of which no alternative is installed.
missing() {
	grep -v '^#' scripts/packages | while read -r group names; do
		case " $groups " in *" $group "*) ;; *) continue ;; esac
		found=
		for name in $(echo "$names" | tr '|' ' '); do
			if is_installed "$name"; then found=yes; fi
		done
		[ -n "$found" ] || echo "$names"
	done
}

# The first alternative of each entry that the release has.
choose() {
	for names in "$@"; do
		for name in $(echo "$names" | tr '|' ' '); do
			if apt-cache show "$name" >/dev/null 2>&1; then break; fi
		done
		echo "$name"
	done
}

list_installed() {
	dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' | sed -n 's/^ii *//p' | sort
}

# The enabled services that the packages named on standard input brought.
enabled_services() {
	while read -r package; do
		dpkg-query -L "$package" | sed -n 's,.*/lib/systemd/system/\([^/@]*\.service\)$,\1,p'
	done | while read -r unit; do
		if systemctl --quiet is-enabled "$unit" 2>/dev/null; then echo "$unit"; fi
	done
}

# Runs as root: installs $1, space-separated entries.
install_all() {
	before=$(mktemp) log=$(mktemp)
	made_policy=
	trap 'rm -f "$before" "$log"; [ -z "$made_policy" ] || rm -f "$policy"' EXIT
	trap 'exit 1' INT TERM HUP
	list_installed >"$before"
	if [ ! -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		made_policy=yes
		chmod 755 "$policy"
	fi
	apt-get -qq update || echo 'apt-get update failed: going on with the lists that are there' >&2
	# shellcheck disable=SC2046,SC2086
	if ! apt-get -qq install -y --no-install-recommends -o Acquire::Retries=3 \
		-o Dpkg::Use-Pty=0 $(choose $1) >"$log" 2>&1; then
		cat "$log" >&2
		exit 1
	fi
	if [ -d /run/systemd/system ]; then
		list_installed | comm -13 "$before" - | enabled_services |
			while read -r unit; do
				systemctl disable --now "$unit" || echo "$unit: not disabled" >&2
			done
	fi
}

if [ "${1-}" = --install ]; then
	install_all "$2"
	exit
fi
groups=${*:-build test deb bench}
if ! command -v apt-get >/dev/null; then
	echo "no apt-get here: install what scripts/packages names for: $groups" >&2
	exit 0
fi
wanted=$(missing | tr '\n' ' ')
[ -n "$wanted" ] || exit 0
echo "installing: $wanted"
if [ "$(id -u)" -eq 0 ]; then
	sh scripts/deps.sh --install "$wanted"
elif command -v sudo >/dev/null; then
	sudo sh scripts/deps.sh --install "$wanted"
else
	echo "run as root, or install sudo: apt-get install $wanted" >&2
	exit 1
fi
