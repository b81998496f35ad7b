#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Build the modules in a directory of their own, so that one tree serves several kernels.
#
#   build-module.sh DIRECTORY MAKE-ARGUMENTS...
#
# DIRECTORY becomes a tree of links to the sources: the objects land beside the links, never in the source tree.
set -euo pipefail
. "$(dirname "$0")/env.sh"
build=$(realpath -m "$1")
shift

link_sources() {
	local directory files

	while read -r directory; do
		mapfile -t files < <(find "$TOP/$directory" -maxdepth 1 -type f \
			\( -name '*.[ch]' -o -name 'Kbuild*' -o -name Kconfig -o -name Makefile \) ! -name '*.mod.c')
		[ "${#files[@]}" -gt 0 ] || continue
		mkdir -p "$build/$directory"
		ln -sf -t "$build/$directory" "${files[@]}"
	done < <(cd "$TOP" && find drivers include kunit -path kunit/host -prune -o -type d -print)
	ln -sf "$TOP/Kbuild" "$build/Kbuild"
	find "$build" -xtype l -delete
}

# Of a kernel that was configured anew (O=, its .stamp says as what) not everything would be built again
start_over_for_another_kernel() {
	local argument stamp=

	for argument; do
		[[ $argument != O=* ]] || stamp=${argument#O=}/.stamp
	done
	[ -n "$stamp" ] && ! cmp -s "$stamp" "$build/.kernel" || return 0
	find "$build" -mindepth 1 ! -name .lock -delete
	cp "$stamp" "$build/.kernel"
}

mkdir -p "$build"
exec 9> "$build/.lock"
flock 9
start_over_for_another_kernel "$@"
link_sources
nice make -s -j"$(nproc)" "$@" M="$build" modules
