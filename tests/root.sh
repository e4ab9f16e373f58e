#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# root.sh COMMAND...: runs it where / is a mount point. In a plain chroot it is none, so that no
# mount namespace can be made from there, which tests do: then the root is mounted once more, apart
# from the first, and the command runs in that.
set -eu

if unshare --mount true 2>/dev/null; then
	exec "$@"
fi
root=$(mktemp -d /tmp/stile-root-XXXXXX)
trap 'umount -l -R "$root" && rmdir "$root"' EXIT
trap 'exit 1' INT TERM HUP
mount --rbind / "$root"
mount --make-rprivate "$root"
code=0
# shellcheck disable=SC2016
chroot "$root" sh -c 'cd "$0" && exec "$@"' "$(pwd)" "$@" || code=$?
exit "$code"
