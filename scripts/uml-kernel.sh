#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Build the User-Mode Linux kernel of the uml lanes, once per configuration, and print its directory.
#
#   uml-kernel.sh [plain|kasan|lockdep]     UML_VARIANT names it too
#
# The source is Debian's package linux-source-7.3 of trixie-backports.
set -euo pipefail
UML_VARIANT=${1:-${UML_VARIANT:-plain}}
. "$(dirname "$0")/env.sh"
. "$(dirname "$0")/apt.sh"

fetch_source() {
	local package=linux-source-$UML_VERSION dir=$MROCE_CACHE/apt

	apt_use trixie-backports
	(cd "$dir" && apt_private apt-get -qq download "$package" >&2) || die "cannot download $package"
	rm -rf "$UML_SOURCE.tmp" "$dir/package"
	mkdir -p "$UML_SOURCE.tmp"
	dpkg -x "$dir/$package"_*.deb "$dir/package"
	tar -C "$UML_SOURCE.tmp" --strip-components=1 -xf "$dir/package/usr/src/$package.tar.xz"
	mv "$UML_SOURCE.tmp" "$UML_SOURCE"
	rm -rf "$dir/package" "$dir/$package"_*.deb
}

kernel_make() {
	nice make -s -C "$UML_SOURCE" O="$UML_KERNEL" ARCH=um "$@" >&2
}

# An option whose dependencies are not met is dropped without a word
check_config() {
	local option missing=

	while read -r option; do
		grep -qxF "$option" "$UML_KERNEL/.config" || missing+=" $option"
	done < <(awk -F '[ =]' '/^CONFIG/ {line[$1] = $0} /^# CONFIG.* is not set/ {delete line[$2]}
		END {for (o in line) print line[o]}' "${configs[@]}")
	[ -z "$missing" ] || die "this kernel does not take:$missing"
}

build_kernel() {
	echo "building the User-Mode Linux kernel ($UML_VARIANT), some minutes, once" >&2
	mkdir -p "$UML_KERNEL"
	kernel_make x86_64_defconfig
	cat "${configs[@]}" >> "$UML_KERNEL/.config"
	kernel_make olddefconfig 2> /dev/null
	check_config
	kernel_make -j"$(nproc)" all
	rm -rf "$UML_KERNEL/lib/modules"
	kernel_make INSTALL_MOD_PATH="$UML_KERNEL" modules_install
}

configs=("$TOP/selftests/uml/uml.config")
[ "$UML_VARIANT" = plain ] || configs+=("$TOP/selftests/uml/uml-$UML_VARIANT.config")
# comments do not count
stamp=$(grep -hE '^(CONFIG|# CONFIG_.* is not set)' "${configs[@]}" | sha256sum | cut -c1-16)

mkdir -p "$MROCE_CACHE"
exec 9> "$UML_KERNEL.lock"
flock 9
if [ "$(cat "$UML_KERNEL/.stamp" 2> /dev/null)" != "$stamp" ]; then
	(
		flock 8
		[ -d "$UML_SOURCE" ] || fetch_source
	) 8> "$MROCE_CACHE/lock"
	build_kernel
	echo "$stamp" > "$UML_KERNEL/.stamp"
fi
echo "$UML_KERNEL"
