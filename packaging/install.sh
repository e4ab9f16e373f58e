#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# install.sh [--remove]: every file of an installation, where the Makefile's variables say.
set -eu

cd "$(dirname "$0")/.."
doc=$DATADIR/doc/stile

files() {
	echo "755 $O/stile $SBINDIR/stile"
	for page in docs/*.[58]; do echo "644 $page $MANDIR/man${page##*.}/${page##*/}"; done
	cat <<-END
		644 $O/stile.service $UNITDIR/stile.service
		644 packaging/stile.sysusers $PREFIX/lib/sysusers.d/stile.conf
		644 packaging/stile.yaml $doc/examples/stile.yaml
		644 packaging/listen-backlog.conf $doc/examples/listen-backlog.conf
		644 packaging/prometheus/stile.rules.yaml $doc/examples/prometheus/stile.rules.yaml
		644 packaging/grafana-stile.json $doc/examples/grafana-stile.json
		644 packaging/fail2ban/stile.conf $doc/examples/fail2ban/stile.conf
		755 packaging/crowdsec/stile-bouncer $doc/examples/crowdsec/stile-bouncer
		644 packaging/completions/stile.bash $DATADIR/bash-completion/completions/stile
		644 packaging/completions/_stile $DATADIR/zsh/vendor-completions/_stile
		644 packaging/completions/stile.fish $DATADIR/fish/vendor_completions.d/stile.fish
	END
}

if [ "${1-}" = --remove ]; then
	files | while read -r _ _ to; do rm -f "$DESTDIR$to"; done
	if [ -d "$DESTDIR$doc" ]; then find "$DESTDIR$doc" -depth -type d -empty -delete; fi
	exit
fi
sed "s,/usr/sbin/stile,$SBINDIR/stile," packaging/stile.service >"$O/stile.service"
files | while read -r mode from to; do install -D -m "$mode" "$from" "$DESTDIR$to"; done
