#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# check-layers.sh [ROOT]: who may include and call what: data flows one way, and a module knows its
# left neighbour's struct and nothing else. Prints file:line: what is wrong; 1 where anything was.
set -eu
export LC_ALL=C

cd "${1:-.}"
files=$(find include bpf user -name '*.[ch]' 2>/dev/null | sort)

# shellcheck disable=SC2016
layers='
function say(text) { print file ":" FNR ": " text }

# Is @word one of the words of @list?
function among(word, list) { return index(" " list " ", " " word " ") }

# A module is the files of one stem: loader.c, loader.h, loader_maps.c.
function module_of(path) {
	sub(/.*\//, "", path); sub(/\..*/, "", path); sub(/_.*/, "", path)
	return path
}

BEGIN {
	module = module_of(file)
	folder = file; sub(/\/.*/, "", folder)
	stem = file; sub(/.*\//, "", stem)

	# Pure headers of bpf/: arguments in, value out.
	pure = "bucket.h compiler.h judge.h key.h meta.h parse.h siphash.h table.h flow.h budget.h " \
		"places.h queue.h holder.h"
	pure_system = "stdbool.h stddef.h stdint.h string.h"

	# User modules, by what they may do.
	libbpf = "loader apply snapshot log lists"
	textual = "config datagram diag duration labels language level metrics phrase policy prefix raw tree"
	system_headers = "fcntl.h unistd.h poll.h dirent.h time.h signal.h"
	system_calls = "open|openat|socket|connect|bind|listen|ioctl|syscall|fork|execv|execvp|mmap|" \
		"unlink|mkdir|rename|stat|fstat|clock_gettime|getrandom|if_nametoindex|system|popen"

	# What a module must not know: everything to its right, and the ways back out.
	right["config"] = "policy loader apply snapshot metrics pins lists http control command log"
	right["policy"] = "loader apply snapshot metrics pins lists http control command log"
	right["loader"] = "config apply snapshot metrics pins lists http control command"
	right["apply"] = "metrics http control command"
	right["snapshot"] = "config loader apply metrics http control command"
	right["level"] = "config loader apply metrics lists http control command log"
	right["metrics"] = "config loader apply lists http control command log"
	right["http"] = "config policy loader apply snapshot metrics pins lists control command log"
	right["control"] = "config policy loader apply snapshot metrics pins lists http command log"
	right["lists"] = "config loader apply snapshot metrics http control command"
	right["sockdiag"] = "config policy loader apply snapshot metrics pins lists http control command log"
	right["pins"] = "config policy loader apply snapshot metrics lists http control command log"
}

/^[ \t]*#[ \t]*include/ {
	name = $0; sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
	ours = name ~ /^"/
	gsub(/[<>"]/, "", name); sub(/[ \t].*/, "", name)
	target = module_of(name)

	if (folder == "include" && !ours && name != "linux/types.h")
		say("the contract includes <linux/types.h> and its own parts only, not <" name ">")
	if (folder == "bpf" && (name ~ /user\// || name ~ /^\.\./))
		say("bpf/ includes nothing of user/")
	if (folder == "bpf" && name ~ /vmlinux/)
		say("UAPI headers only, no vmlinux.h")
	if (folder == "bpf" && among(stem, pure)) {
		if (ours && !among(name, pure))
			say("a pure header includes \"" name "\", which is not pure")
		if (!ours && (name ~ /^bpf\// || name == "linux/bpf.h" ||
		    name !~ /^(linux|asm|stile)\// && !among(name, pure_system)))
			say("a pure header includes UAPI headers and <stile/abi.h> only, not <" name ">")
	}
	if (folder == "user") {
		if (name ~ /skel\.h$/ && file !~ /^user\/loader[a-z_]*\.c$/)
			say("only user/loader*.c includes the skeleton")
		if (!ours && (name ~ /^bpf\// || name == "linux/bpf.h") && !among(module, libbpf))
			say("only " libbpf " include libbpf, not " module)
		if (name ~ /^\.\.\/bpf\// && !among(substr(name, 8), pure))
			say("only the pure headers of bpf/ are for user/, not " substr(name, 8))
		if (name ~ /^bpf\// && ours)
			say("headers of bpf/ are included as \"../" name "\"")
		if (!ours && among(module, textual) &&
		    (name ~ /^(sys|net|libmnl|systemd|linux)\// || among(name, system_headers)))
			say(module " makes no system call: not <" name ">")
		if (ours && name !~ /\// && target != module && (module in right) &&
		    among(target, right[module]))
			say(module " does not know " target)
		if (ours && target == "command" && module !~ /^(cmd|command|main|reading)$/)
			say("only commands know the table of commands")
	}
	next
}

# Comments may speak of anything.
{
	line = $0
	gsub(/\/\*.*\*\//, "", line)
	if (in_comment) { if (!sub(/.*\*\//, "", line)) next; in_comment = 0 }
	if (sub(/\/\*.*/, "", line)) in_comment = 1
}
folder == "include" && line ~ /__bpf__/ {
	say("the contract is the same text on both sides: no __bpf__")
}
folder == "include" && line ~ /(^|[ \t])inline([ \t]|$)/ {
	say("the contract is data: no functions")
}
folder == "bpf" && among(stem, pure) && line ~ /(^|[^A-Za-z0-9_])bpf_[a-z0-9_]+ *\(/ {
	say("a pure header calls no helper")
}
folder == "bpf" && among(stem, pure) && line ~ /&stile_/ { say("a pure header touches no map") }
folder == "user" && among(module, textual) && line ~ ("(^|[^A-Za-z0-9_.>])(" system_calls ")\\(") {
	say(module " makes no system call but reading and writing text")
}
'

check() {
	for file in $files; do awk -v file="$file" "$layers" "$file"; done
}

found=$(check)
[ -z "$found" ] || { echo "$found"; exit 1; }
