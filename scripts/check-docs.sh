#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# check-docs.sh [ROOT]: what the manual pages list is what the sources list: verdicts, reasons,
# decisions and replies in the very words of reason.h, commands, options, metrics, configuration
# keys. Prints what is missing on either side; 1 where anything was. A list of the manual pages is
# the items `.It Cm NAME` (keys: `.It Ic NAME`) below a heading.
set -eu
export LC_ALL=C

cd "${1:-.}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The lists of reason.h: "HEADING label: what it means".
reasons() {
	awk '
		/^#define STILE_[A-Z]+\(X\)/ {
			list = $2; sub(/\(.*/, "", list); sub(/STILE_/, "", list)
			list = substr(list, 1, 1) tolower(substr(list, 2))
		}
		list { entry = entry $0 }
		list && entry ~ /X\([A-Z_]+, *"/ && split(entry, parts, "\"") >= 5 {
			print list " " parts[2] ": " parts[4]
			entry = ""
		}
		!/\\$/ { list = "" }
	' include/stile/reason.h
}

# The same from the manual page; the words stand in the line after the item.
reasons_told() {
	awk '
		/^\.S[hs] / { list = $2 ~ /^(Verdicts|Reasons|Decisions|Replies)$/ ? $2 : "" }
		list && wanted { print list " " wanted ": " $0 }
		{ wanted = list && /^\.It Cm / ? $3 : "" }
	' docs/stile.8
}

# The items of macro $2 below heading $3 of page $1, up to the next heading.
items() {
	awk -v macro="$2" -v heading="$3" '
		/^\.Sh / { inside = $0 == ".Sh " heading }
		inside && $1 == ".It" && $2 == macro { print heading " " $3 }
	' "docs/$1"
}

# The keys of the configuration; $1: what stands for their functions.
keys() {
	grep -hv 'char \*const' user/config*.c | tr '\t\n' '  ' |
		grep -o "{ *\"[a-z0-9_]*\", *$1 *}" | sed 's/[^"]*"\([^"]*\)".*/\1/'
}

of_sources() {
	reasons
	sed -n 's/^\t{ "\([a-z]*\)", cmd_.*/COMMANDS \1/p' user/main.c
	grep -o -- '--[a-z][a-z-]*' user/main.c | sed 's/^--/option --/'
	grep -o '"stile_[a-z_]*"' user/metrics*.c | sed 's/.*"\(.*\)"/\1/; s/^/METRICS /'
	keys '[a-z_]*read_[a-z0-9_]*' | sed 's/^/KEYS /'
}

of_pages() {
	reasons_told
	items stile.8 Cm COMMANDS
	grep -o 'Fl -[a-z][a-z-]*' docs/stile.8 | sed 's/^Fl -/option --/'
	items stile.8 Cm METRICS
	items stile.yaml.5 Ic KEYS
}

# Words that a value can be.
words() {
	grep -o '"[a-z_]*"' user/names.c | tr -d '"' | sort -u | while read -r word; do
		grep -q "\.*Cm $word\( \|$\)" docs/stile.yaml.5 ||
			echo "docs/stile.yaml.5: the value '$word' is missing"
	done
}

check() {
	of_sources | sort -u >"$work/sources"
	of_pages | sort -u >"$work/pages"
	comm -23 "$work/sources" "$work/pages" | sed "s/.*/docs: '&' is missing/"
	comm -13 "$work/sources" "$work/pages" | sed "s/.*/docs: '&' is not in the sources/"
	words
}

found=$(check)
[ -z "$found" ] || { echo "$found"; exit 1; }
