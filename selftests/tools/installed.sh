#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Install the packages in a throw-away copy of this machine, and print the directory of what the copy has more: packages,
# modules that DKMS has built for the kernels in /lib/modules, dpkg's records. Quick when nothing has changed.
set -euo pipefail
. "$(dirname "$0")/../../scripts/env.sh"
directory=$OUT/build/installed
mkdir -p "$OUT/build"
exec 9> "$directory.lock"
flock 9
mapfile -t packages < <("$TOP/scripts/package.sh")
stamp=$({ cat "$OUT/packages/.stamp"; dpkg-query -W dkms 'linux-headers-*'; ls /lib/modules; } | sha256sum)
if [ "$(cat "$directory.stamp" 2> /dev/null)" != "$stamp" ]; then
	rm -rf "$directory" "$directory.stamp"
	# for every kernel, not the running and the newest; without the index of manual pages, which takes long
	# shellcheck disable=SC2016
	nice "$TOP/selftests/tools/throwaway.sh" "$directory" bash -c \
		'echo autoinstall_all_kernels=1 >> /etc/dkms/framework.conf; dpkg --no-triggers -i "$@"' - "${packages[@]}" \
		> "$directory.log" 2>&1 9>&- || {
		find "$directory/var/lib/dkms" -name make.log -exec tail -n 20 {} + >> "$directory.log"
		tail -n 40 "$directory.log" >&2
		die "the packages cannot be installed"
	}
	echo "$stamp" > "$directory.stamp"
fi
echo "$directory"
