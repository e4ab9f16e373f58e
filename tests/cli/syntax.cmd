# Texts that are no YAML.
look() {
	echo "-- $1"
	printf -- "$2" | "$STILE" check -c - 2>&1
}

look 'no colon' 'enabled true\nlisteners: {}\n'
look 'no colon, further in' 'listeners:\n  web\n    ports: 80\n'
look 'no blank after the colon' 'log:{level: info}\nenabled: true\n'
look 'two colons' 'log: level: info\n'
look 'a key too far to the right' 'enabled: true\n  on_stop: keep\n'
look 'a key too far to the left' 'log:\n    level: info\n  format: text\n'
look 'a list that is not closed' 'trusted: [10.0.0.0/8\nenabled: true\n'
look 'a list that is not closed at the end' 'trusted: [10.0.0.0/8'
look 'a map that is not closed' 'log: {level: info\nenabled: true\n'
look 'a map that is closed by the wrong bracket' 'log: {level: info]\n'
look 'a quote that is not closed' 'control: "/run/x\nenabled: true\n'
look 'an unknown escape' 'control: "C:\\run"\n'
look 'an item within a line' 'trusted: - 10.0.0.0/8\n'
look 'an item among keys' 'log:\n  level: info\n  - text\n'
look 'a key among items' 'trusted:\n  - 10.0.0.0/8\n  more: 1\n'
look 'a percent sign' 'listeners: {a: {accept_queue_limit: %%80}}\n'
look 'an at sign' 'control: @run\n'
look 'an asterisk' 'listeners: {a: {addresses: [*]}}\n'
look 'an asterisk and a port' 'metrics: {listen: *:9466}\n'
look 'an IPv6 address in a list' 'listeners: {a: {addresses: [::1]}}\n'
look 'an IPv6 address and a port' 'metrics: {listen: [::1]:9466}\n'
look 'an item that is missing' 'trusted: [, 10.0.0.0/8]\n'
look 'a question mark' '? enabled\n? [a]\n: 1\n'
look 'a mistake and then no YAML' 'enabled: maybe\nlog: {level: inof}\ntrusted: [10.0.0.0/8\n'
look 'a folded text' 'control: >\n  /run/\n \tx\n'
look 'a version that is too long' '%%YAML 1.11111111111111111\n---\n'
