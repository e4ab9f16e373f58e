# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Markdown of what a run of the benchmarks left: of $section, of "machine", or of "bars".

def number:
	if . == null then "–"
	elif fabs >= 99.95 then round | tostring
	elif fabs >= 0.995 or . == 0 then . * 10 | round / 10 | tostring
	else . * 100 | round / 100 | tostring end;

def cells: "| " + join(" | ") + " |";

def header: cells, (["---"] + [range(1; length) | "---:"] | cells);

def lru: ", LRU hash";

# Of a table that measures an LRU hash beside each row: its figure is a column of the other's row.
def fold:
	.rows as $rows
	| .folded = ([$rows[] | .name | endswith(lru)] | any)
	| .rows = [$rows[] | select(.name | endswith(lru) | not)
		| . as $row
		| .lru = ([$rows[] | select(.group == $row.group and .name == $row.name + lru) | .net][0])];

def table:
	fold
	| .columns as $columns | .ratios as $ratios | .folded as $folded
	| ([.rows[] | has("net")] | any) as $nets | (if .rounds > 1 then ["least"] else [] end) as $least
	| ([""] + [$columns[0]] + $least + (if $nets then ["net"] else [] end)
		+ (if $folded then ["LRU, net"] else [] end) + $columns[1:] + $ratios | header),
	  (foreach .rows[] as $row ({};
		{ shown: (if $row.group != .group and $row.group != null then $row.group else null end),
		  group: $row.group, row: $row };
		(select(.shown) | "| **\(.shown)** |"),
		(.row | if .skipped then ["\(.name)", "skipped: \(.skipped)"]
			else [.name, (.[$columns[0]] | .median, .[$least[]] | number)]
				+ (if $nets then [.net | number] else [] end)
				+ (if $folded then [.lru | number] else [] end)
				+ [.[$columns[1:][]].median | number] + [.ratios[$ratios[]] | number] end | cells)));

def machine:
	.machine
	| "- processor: \(.cpus) of \(.processor)",
	  "- memory: \(.memory / 1073741824 | round) GiB",
	  "- kernel: \(.kernel | sub("-.*"; ""))";

def places: . * 100 | round / 100 | tostring;

# Rows of a group that are held to the same bar are told together: by the worst of them.
def each_bar:
	.sections | to_entries[] | .key as $part
	| [.value.rows[] | . as $row | .bars // {} | to_entries[]
		| { group: ($row.group // ""), name: $row.name, figure: .key } + .value]
	| group_by([.group, .figure, .most])[]
	| max_by(.value) + { part: $part, n: length }
	| .row = ([.group, .name] | map(select(. != "")) | join(": ")) + (if .n > 1 then ", the worst of \(.n)" else "" end);

def bars:
	"| part | row | figure | measured | at most | |", "| --- | --- | --- | ---: | ---: | --- |",
	(each_bar | [.part, .row, .figure, (.value | places), (.most | places),
		(if .met then "met" else "**missed**" end)] | cells);

def bars_as_text:
	each_bar | "\(.part): \(.row): \(.value | places) \(.figure), at most \(.most | places): \(
		if .met then "met" else "MISSED" end)";

if $section == "machine" then machine
elif $section == "bars" then bars
elif $section == "bars as text" then bars_as_text
elif .sections[$section] then .sections[$section] | table
else "no section \($section)" | halt_error end
