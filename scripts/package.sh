#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Build the Debian packages into $OUT/packages, from a copy of the sources. Quick when nothing has changed.
#
# The version is the one of packaging/debian/changelog.
set -euo pipefail
. "$(dirname "$0")/env.sh"
packages=$OUT/packages
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$TOP/packaging/debian/changelog")
work=$OUT/build/package
tree=$work/mroce-$version

# The build must not hear of the make and the directories of ours
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR PREFIX LIBDIR PARTS MODULE KDIR CC CFLAGS LDFLAGS DEB_BUILD_OPTIONS
sources=(drivers include userspace scripts packaging Documentation LICENSES COPYING README.md)
excludes=(--exclude='.*' --exclude='*.o' --exclude='*.ko' --exclude=__pycache__)

copy_sources() {
	rm -rf "$work"
	mkdir -p "$tree"
	tar -C "$TOP" "${excludes[@]}" -cf - "${sources[@]}" | tar -C "$tree" -xf -
	mv "$tree/packaging/debian" "$tree/debian"
}

for need in build-essential debhelper dh-dkms libibverbs-dev libmnl-dev; do
	dpkg-query -W "$need" > /dev/null 2>&1 || die "needs the packages build-essential debhelper dh-dkms libibverbs-dev libmnl-dev"
done
mkdir -p "$packages"
exec 9> "$packages/.lock"
flock 9
stamp=$({ tar -C "$TOP" "${excludes[@]}" --sort=name --mtime=@0 --owner=0 --group=0 -cf - "${sources[@]}"
	dpkg-query -W libibverbs-dev debhelper dh-dkms; } | sha256sum)
if [ "$(cat "$packages/.stamp" 2> /dev/null)" != "$stamp" ]; then
	rm -f "$packages"/*.deb "$packages/.stamp"
	copy_sources
	(cd "$tree" && DEB_BUILD_OPTIONS=noautodbgsym nice dpkg-buildpackage -b -us -uc) > "$packages/build.log" 2>&1 || {
		tail -20 "$packages/build.log" >&2
		die "see $packages/build.log"
	}
	mv "$work"/*.deb "$packages/"
	echo "$stamp" > "$packages/.stamp"
fi
printf '%s\n' "$packages"/*.deb
