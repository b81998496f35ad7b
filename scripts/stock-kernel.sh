#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Install a stock kernel of a newer series, and its headers, from bookworm-backports, if none is installed.
#
#   stock-kernel.sh SERIES     prints its version
set -euo pipefail
KERNEL_SERIES=$1
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/apt.sh"

install_newest() {
	local version

	[ "$(id -u)" = 0 ] || die "no kernel $KERNEL_SERIES is installed, and only root can do that"
	apt_use bookworm-backports
	version=$(apt_private apt-cache pkgnames "linux-headers-$KERNEL_SERIES" | sed -n 's/^linux-headers-\(.*[0-9]+deb12-amd64\)$/\1/p' |
		sort -V | tail -1)
	[ -n "$version" ] || die "bookworm-backports has no kernel $KERNEL_SERIES"
	echo "installing the stock kernel $version" >&2
	DEBIAN_FRONTEND=noninteractive apt_private apt-get -qq install -y --no-install-recommends \
		"linux-image-$version" "linux-headers-$version" > /dev/null
}

(stock_kernel) > /dev/null 2>&1 || install_newest >&2
stock_kernel
