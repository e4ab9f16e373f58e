#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# check-style.sh [ROOT]: the budgets and the rules of C that the formatter does not know. Prints
# file:line: what is wrong; 1 where anything was. It reads formatted text: a function's braces are
# in the first column, and a statement is indented by one tab per level.
set -eu
export LC_ALL=C

cd "${1:-.}"
files=$(find include bpf user tests -name '*.[ch]' 2>/dev/null | sort)

lines() {
	[ ! -e "$1" ] || [ "$(wc -l <"$1")" -le "$2" ] ||
		echo "$1:$(($2 + 1)): $(wc -l <"$1") lines, at most $2"
}

check() {
	lines Makefile 150
	lines README.md 80
	lines CONTRIBUTING.md 100
	for file in $files; do awk -v file="$file" "$style" "$file"; done
}

# shellcheck disable=SC2016
style='
function say(at, text) { print file ":" at ": " text }

# The line without the contents of strings and comments; // stays, to be found.
function code(text,    out, c, i) {
	gsub(/\\\\/, "", text); gsub(/\\"/, "", text)
	gsub(/"[^"]*"/, "\"\"", text)
	out = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 2)
		if (in_comment) {
			if (c == "*/") { in_comment = 0; i++ }
		} else if (c == "/*") { in_comment = 1; i++ }
		else if (c == "//") return out "//"
		else out = out substr(text, i, 1)
	}
	return out
}

function columns(text,    n, i, c) {
	n = 0
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\t") n += 8 - n % 8
		else if (c < "\200" || c > "\277") n++
	}
	return n
}

# How many parameters the signature has; commas within a parameter of function type do not count.
function parameters(text,    depth, n, i, c) {
	gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", text)
	gsub(/SEC\(""\)/, "", text)
	i = index(text, "(")
	if (!i || text ~ /\( *(void)? *\)[^(]*$/) return 0
	n = 1
	for (depth = 0; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "(") depth++
		if (c == ")" && --depth == 0) break
		if (c == "," && depth == 1) n++
	}
	return n
}

function name_of(text) {
	gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", text)
	gsub(/SEC\(""\)/, "", text)
	sub(/ *\(.*/, "", text); sub(/.*[ *\t]/, "", text)
	return text
}

function has_word(text, words) { return text ~ ("(^|[^A-Za-z0-9_])(" words ")([^A-Za-z0-9_]|$)") }

function end_function(    n, most) {
	n = NR - start + 1
	most = is_sec ? 40 : 80
	if (n > most) say(start, name "() has " n " lines, at most " most (is_sec ? " after SEC()" : ""))
	in_function = 0
}

BEGIN {
	bpf = file ~ /^bpf\//
	header = file ~ /\.h$/
	# The headers of bpf/ hold code, and abi.h is the one contract.
	most_lines = header && !bpf && file != "include/stile/abi.h" ? 150 : 400
	spdx = "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */"
}

NR == 1 && $0 != spdx { say(1, "the first line is to be " spdx) }
NR == 2 && !/^\/\*/ { say(2, "no comment that says what the file is for") }
columns($0) > 100 { say(NR, columns($0) " columns, at most 100") }
/^ *        / || /^\t* +\t/ { say(NR, "indented with spaces") }
NR == most_lines + 1 { too_long = 1 }
header && /^#ifndef STILE_[A-Z0-9_]*_H$/ { guarded = 1 }

{
	raw = $0
	text = code($0)
	if (text ~ /\/\/$/) say(NR, "a // comment")
	if (raw ~ /TODO/ && raw !~ /TODO.*#[0-9]/) say(NR, "TODO without the number of an issue")
}

# Macros: the body may go over several lines.
text ~ /^[ \t]*#[ \t]*define/ { in_macro = 1 }
in_macro {
	if (has_word(text, "return|goto|break|continue")) say(NR, "a macro that changes control flow")
	if (text !~ /\\$/) in_macro = 0
	next
}

text ~ /^[ \t]*#[ \t]*(if|elif|else|endif)/ && in_function { say(NR, "#if inside a function") }
text ~ /^[ \t]*#[ \t]*if/ && bpf && !header {
	say(NR, "#if in bpf/: variants are const volatile globals")
}
text ~ /^[ \t]*#/ { signature = ""; next }

bpf && has_word(text, "XDP_(ABORTED|DROP|PASS|TX|REDIRECT)") && !(in_function && is_sec) {
	say(NR, "XDP_* outside a SEC() function")
}
has_word(text, "goto") && (bpf || text !~ /goto undo;/) {
	say(NR, bpf ? "goto in bpf/" : "goto to another label than undo")
}

in_function && /^}/ { end_function() }
in_function {
	if (bpf && text ~ /^\t+static[ \t]/) say(NR, "a static variable inside a function in bpf/")
	if (text ~ /^\t\t\t\t+(if|for|while|do|switch|else)([^A-Za-z0-9_]|$)/ ||
	    text ~ /^\t\t\t\t+[a-z_]*for_?each[a-z_]* *\(/)
		say(NR, "nested deeper than 3")
	next
}
/^{$/ && signature != "" {
	in_function = 1
	start = signature_at
	name = name_of(signature)
	is_sec = signature ~ /SEC\(/
	n = parameters(signature)
	if (n > 5) say(start, name "() has " n " parameters, at most 5")
	signature = ""
	next
}

# What comes before a brace in the first column is the signature.
text ~ /^[ \t]*$/ || text ~ /^}/ || text ~ /[;}]$/ { signature = ""; next }
{ if (signature == "") signature_at = NR; signature = signature " " text }

END {
	if (too_long) say(most_lines + 1, NR " lines, at most " most_lines)
	if (header && !guarded) say(1, "no guard STILE_..._H")
}
'

found=$(check)
[ -z "$found" ] || { echo "$found"; exit 1; }
