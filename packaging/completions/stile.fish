# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# fish completion for stile(8). Commands and options are the program's own: it is asked for them.

function __stile_commands
    stile help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\([A-Z].*\)/\1\t\2/p'
end

function __stile_options
    set -l words (commandline -opc)
    stile help $words[2] 2>/dev/null | grep -o -- '--[a-z][a-z-]*' | sort -u
    echo --help
end

complete -c stile -f -n __fish_use_subcommand -a '(__stile_commands)'
complete -c stile -f -n 'not __fish_use_subcommand' -a '(__stile_options)'
complete -c stile -F -n '__fish_prev_arg_in -c --config --control'
complete -c stile -f -n '__fish_prev_arg_in -i --interface' -a '(ls /sys/class/net)'
