#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# deb.sh: the Debian package of what is committed, built in a tree of its own under $O/deb. What it
# takes to build stands in debian/control; DEB_VERSION is another version than the program's.
set -eu

cd "$(dirname "$0")/.."
O=${O:-build}
version=${DEB_VERSION:-$(sed -n 's/^#define STILE_VERSION "\(.*\)"$/\1/p' include/stile/version.h)}
out=$(mkdir -p "$O/deb" && cd "$O/deb" && pwd)
tree=$out/stile-$version
date=$(git log -1 --format=%aD)

rm -rf "$tree" "$out"/stile_* "$out"/stile-dbgsym_*
mkdir "$tree"
git archive HEAD | tar -x -C "$tree"
cp -r "$tree/packaging/debian" "$tree/debian"
cat >"$tree/debian/changelog" <<END
stile ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- Stile developers <stile@localhost>  $date
END
cd "$tree"
unset O DESTDIR PREFIX SBINDIR DATADIR MANDIR UNITDIR # of the Makefile that called
dpkg-buildpackage --build=binary --unsigned-changes --no-check-builddeps >"$out/build.log" 2>&1 || {
	tail -n 40 "$out/build.log"
	exit 1
}
rm -rf "$tree"
ls "$out"/stile_*.deb
