#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packaging.sh: what is installed and where, the unit's exposure, the example, and completions in
# the shells that they are for. $O has the built program.
set -u
export LC_ALL=C

cd "$(dirname "$0")/.."
O=${O:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# check WHAT COMMAND...: it succeeds.
check() {
	what=$1
	shift
	if "$@" >"$tmp/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $what"
		cat "$tmp/said"
	fi
}

same() { [ "$1" = "$2" ] || { printf 'got  %s\nwant %s\n' "$1" "$2" && false; }; }

# What bash offers after the words given; the last one is being typed.
bash_offers() {
	bash -c '. packaging/completions/stile.bash; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _stile
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | tr '\n' ' '
}

fish_offers() {
	fish -c "source packaging/completions/stile.fish; complete -C '$1'" | cut -f1 | sort | tr '\n' ' '
}

options_of() {
	{ stile help "$1" | grep -o -- '--[a-z][a-z-]*' && echo --help; } | sort -u | tr '\n' ' '
}

PATH=$(cd "$O" && pwd):$PATH
export DESTDIR="$tmp/root" PREFIX=/usr SBINDIR=/usr/sbin DATADIR=/usr/share MANDIR=/usr/share/man
export UNITDIR=/usr/lib/systemd/system O

check 'it installs' sh packaging/install.sh
check 'the program runs' "$DESTDIR/usr/sbin/stile" version
for file in lib/systemd/system/stile.service lib/sysusers.d/stile.conf share/man/man8/stile.8 \
	share/man/man5/stile.yaml.5 share/doc/stile/examples/stile.yaml; do
	check "$file" test -s "$DESTDIR/usr/$file"
done
check 'the unit starts what is installed' grep -q '^ExecStart=/usr/sbin/stile run$' \
	"$DESTDIR/usr/lib/systemd/system/stile.service"
check 'the example is right' stile check --elsewhere -c packaging/stile.yaml
check 'it uninstalls' sh packaging/install.sh --remove
check 'and leaves nothing' same "$(find "$DESTDIR" -type f)" ''
check 'the unit is exposed by 2.0 at most' \
	systemd-analyze security --offline=true --threshold=20 packaging/stile.service
check 'rules are right' promtool check rules packaging/prometheus/stile.rules.yaml
check 'each alert fires where it has to' \
	promtool test rules packaging/prometheus/stile.rules.test.yaml
for metric in $(grep -oh '\bstile_[a-z_]*' packaging/prometheus/stile.rules.yaml \
	packaging/grafana-stile.json | grep -v '^stile_events$\|^stile_shed$\|^stile_accept_queue$' | sort -u); do
	check "there is a metric $metric" grep -q "^\.It Cm $metric\b" docs/stile.8
done
jq '{groups: [{name: "dashboard", rules: [.panels[].targets[].expr | {record: "a:b", expr: .}]}]}' \
	packaging/grafana-stile.json >"$tmp/dashboard.yaml"
check 'what the dashboard asks for is right' promtool check rules "$tmp/dashboard.yaml"
check 'zsh reads its completion' zsh -n packaging/completions/_stile
check 'bash: a command' same "$(bash_offers stile doc)" 'doctor '
check 'fish: a command' same "$(fish_offers 'stile doc')" 'doctor '
for command in $(stile help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *[A-Z].*/\1/p'); do
	[ "$command" != help ] || continue
	check "bash: $command" same "$(bash_offers stile "$command" --)" "$(options_of "$command")"
	check "fish: $command" same "$(fish_offers "stile $command --")" "$(options_of "$command")"
done

[ -z "${CHECK_RESULTS:-}" ] || echo "$passed $failed 0" >>"$CHECK_RESULTS"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
