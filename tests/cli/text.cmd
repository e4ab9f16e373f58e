# Texts that are no configuration, or are one in spite of how they are written.
look() {
	echo "-- $1"
	printf -- "$2" | "$STILE" check --elsewhere -c - 2>&1 | sed '/^LIMITER/,$d'
}
good='listeners:\n  web: {ports: 80, rate_limiter_name: a}\nrate_limiters:\n  a: {limit: 5}\n'

look 'empty' ''
look 'blanks and comments alone' '\n   \n# nothing\n'
look 'a document that is empty' '---\n...\n'
look 'null' 'null\n'
look 'a word' 'stile\n'
look 'a list' '- a\n'
look 'nothing but a byte order mark' '\357\273\277'
look 'a byte order mark' "\357\273\277$good"
look 'a mistake behind a byte order mark' '\357\273\277enabled: 1\n'
look 'lines that end in CR LF' "$(echo "$good" | sed 's/\\n/\\r\\n/g')"
look 'a mistake behind lines that end in CR LF' '# one\r\nenabled: maybe\r\n'
look 'lines that end in CR' '# one\renabled: maybe\r'
look 'no end of the last line' 'enabled: maybe'
look 'a mistake behind letters of two bytes' 'log: {level: "\303\274\303\274", format: "\303\274"}\n'
look 'UTF-16' '\377\376e\000'
look 'UTF-16, the other order' '\376\377\000e'
look 'Latin-1' 'enabled: true\nlog: {level: "d\351bug"}\n'
look 'a character that is cut off' 'enabled: true # \303'
look 'a control character' 'enabled: true\nlog: \001\n'
look 'a NUL' 'enabled: true\000\n'
look 'a NUL that is written out' 'on_stop: "keep\\0"\n'
look 'escapes and a control character that is written out' 'on_stop: "\\e[31mkeep"\n'
look 'a tab before a key' 'log:\n\tlevel: info\n'
look 'a tab before an item' 'trusted:\n\t- 10.0.0.0/8\n'
look 'a tab after a colon' 'enabled:\ttrue\n'
look 'a second document' 'enabled: true\n---\nenabled: false\n'
look 'text after the end' '{enabled: true}\nenabled: false\n'
look 'a directive' '%%YAML 1.1\n---\nenabled: maybe\n'
look 'a directive that is too new' '%%YAML 2.0\n---\nenabled: maybe\n'
look 'a character that does not exist' 'log: {level: "\355\240\200"}\n'
look 'a control character of two bytes, written out' 'on_stop: "\\x9b31mkeep"\n'
look 'a character that is cut off at the end' 'log: {level: x} # \303'
