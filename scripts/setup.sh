#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Install the packages of packages.txt that are missing. Quick when nothing is.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

mapfile -t wanted < <(grep -v '^#' "$here/packages.txt")
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | awk '$1 == "ii" {print $2}')
mapfile -t missing < <(comm -23 <(printf '%s\n' "${wanted[@]}" | sort) <(sort -u <<< "$installed"))
[ "${#missing[@]}" -gt 0 ] || exit 0

[ "$(id -u)" = 0 ] || {
	echo "missing packages, and only root can install them: ${missing[*]}" >&2
	exit 1
}
echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes
apt-get -qq update
apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null
