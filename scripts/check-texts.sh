#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# check-texts.sh [ROOT]: whatever is said of a configuration stands in a golden file of tests/cli:
# each string with a blank in the sources that read, compile and review one, what it is filled with
# left open. Prints file: text of those that stand in none; 1 where anything did.
set -eu
export LC_ALL=C

cd "${1:-.}"
files=$(find user -name 'config*.c' -o -name 'policy*.c' -o -name 'review*.c' -o -name 'tree*.c' \
	-o -name 'diag*.c' -o -name 'prefix.c' -o -name 'cmd_check.c' -o -name 'cmd_check_text.c' \
	-o -name 'cmd_check_host.c' | sort)

# What no file can bring about: memory that runs out, a message that libyaml has not got yet, names
# of the slots that a policy in force takes, more different ports than a machine can check, and a
# kernel without types.
unprovoked='out of memory
accept_queue_limit of '\''%s'\'' has no effect: this kernel does not tell where accept queues are (BTF)
prove_sources of '\''%s'\'' has no effect: %s
something else
found no YAML here: %s%s%s
no reason given
no room for '\''%s'\'' beside the %s of the policy in force, which gives up its places only after this load: load the configuration without the new ones first
too many pairs of a rate limiter and a listener that it judges: there is room for %d, those of the policy in force included
the ports of the listeners'\'' addresses differ too much from each other: write fewer addresses, or ranges of ports that they share'

# Every literal with a blank, one a line, as the source has it; not what a text is compared with,
# which stands first in a row of a table or within a call that compares.
literals() {
	awk '
		{ text = text $0 "\n" }
		END {
			gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
			gsub(/"[ \t\n]*PRI[a-z]+[0-9]*[ \t\n]*"/, "llu", text)
			gsub(/%"[ \t\n]*PRI[a-z]+[0-9]*/, "%llu\"", text)
			gsub(/"[ \t\n]*"/, "", text)
			while (match(text, /"([^"\\\n]|\\.)*"/)) {
				before = substr(text, 1, RSTART - 1)
				literal = substr(text, RSTART + 1, RLENGTH - 2)
				text = substr(text, RSTART + RLENGTH)
				if (literal ~ /[a-z].* |^[ a-z]* [a-z]/ &&
				    before !~ /(\{ *|(cmp|str)\([^,()]*, *|sizeof\(|_Static_assert\([^;]*)$/ &&
				    literal !~ /^[A-Za-z0-9_]*$/)
					print literal
			}
		}
	' "$1"
}

# As an extended regular expression.
pattern() {
	sed -e 's/\\"/"/g; s/\\\\/\\/g; s/\(\\[nt]\)*$//' -e 's/[][\\.^$*+?(){}|]/\\&/g' \
		-e 's/%[-0-9\\.*]*\(ll\|l\|z\)*[a-z]/.*/g; s/%%/%/g'
}

check() {
	for file in $files; do
		literals "$file" | sort -u | while IFS= read -r text; do
			printf '%s\n' "$unprovoked" | grep -qxF -- "$text" && continue
			grep -qE -- "$(printf '%s\n' "$text" | pattern)" tests/cli/*.want ||
				printf '%s\n' "$file: no golden file has: $text"
		done
	done
}

found=$(check)
[ -z "$found" ] || { echo "$found"; exit 1; }
