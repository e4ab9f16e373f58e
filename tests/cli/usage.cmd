# What the command line may be.
"$STILE" check --help
"$STILE" check -x
"$STILE" check --nosuch
"$STILE" check -c
"$STILE" check --json=yes
"$STILE" check file.yaml
"$STILE" check --elsewhere -c missing -c accept-trickster.yaml | head -n 1
"$STILE" run --interface none0 --config ''
"$STILE" doctor --help
"$STILE" doctor -i interface-name-too-long
"$STILE" doctor word
"$STILE" doctor -c missing.yaml -i none0 | grep ' config  \| interface '
