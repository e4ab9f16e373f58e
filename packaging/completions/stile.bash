# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# bash completion for stile(8). Commands and options are the program's own: it is asked for them.

_stile_commands() {
	stile help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *[A-Z].*/\1/p'
}

_stile_options() {
	stile help "$1" 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u
}

# Names of the running instance: listeners, limiters or interfaces.
_stile_names() {
	stile status --json 2>/dev/null |
		sed -n "/^  \"$1s\"/,/^  \]/s/^ *\"$2\": \"\(.*\)\",\{0,1\}$/\1/p" | sort -u
}

_stile() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--instance) i=$((i + 1)) ;;
		-*) ;;
		*) command=${COMP_WORDS[i]} && break ;;
		esac
	done
	case $before in
	-c | --config | --control) COMPREPLY=($(compgen -f -- "$word")) && return ;;
	-i | --interface) COMPREPLY=($(compgen -W "$(ls /sys/class/net)" -- "$word")) && return ;;
	--listener) COMPREPLY=($(compgen -W "$(_stile_names listener listener)" -- "$word")) && return ;;
	--limiter) COMPREPLY=($(compgen -W "$(_stile_names limiter limiter)" -- "$word")) && return ;;
	--sort) COMPREPLY=($(compgen -W "refusing admitting refused admitted wait idle address open" -- "$word")) && return ;;
	esac
	if [ -z "$command" ] || [ "$command" = help ]; then
		COMPREPLY=($(compgen -W "$(_stile_commands) help --instance --help --version" -- "$word"))
	else
		COMPREPLY=($(compgen -W "$(_stile_options "$command") --help" -- "$word"))
	fi
}

complete -F _stile stile
