#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Install what was built, or remove what was installed.
#
#   install.sh install|uninstall
#   install.sh stage DIRECTORY      only lay out the files below DIRECTORY
#
#   DESTDIR=     a root other than /; nothing but files is touched then
#   PREFIX=      of tools, units, manual pages and the header: default /usr/local
#   LIBDIR=      libibverbs' library directory: it finds providers only beside itself
#   PARTS=       default "module provider tools"
#
# The manifest PREFIX/lib/mroce/installed says what was put where: one line for each, 'f CHECKSUM FILE' or
# 'd - DIRECTORY' for a directory that was not there before.
set -euo pipefail
. "$(dirname "$0")/env.sh"
DESTDIR=${DESTDIR:-}
PREFIX=${PREFIX:-/usr/local}
LIBDIR=${LIBDIR:-/usr/lib/$(gcc -print-multiarch)}
PARTS=${PARTS:-module provider tools}
MODULE=${MODULE:-$OUT/build/module/drivers/infiniband/sw/mroce/mroce.ko}
manifest=$DESTDIR$PREFIX/lib/mroce/installed

# ---- the files -------------------------------------------------------------------------------------------------------
# put MODE SOURCE TARGET: TARGET is below the stage; names of directories in scripts and units are filled in
put() {
	mkdir -p "$stage${3%/*}"
	sed -e "s|@SBINDIR@|$PREFIX/sbin|; s|@UNITDIR@|$PREFIX/lib/systemd/system|" "$TOP/$2" > "$stage$3"
	chmod "$1" "$stage$3"
}

stage_module() {
	local release

	release=$(modinfo -F vermagic "$MODULE")
	install -D -m 644 "$MODULE" "$stage/lib/modules/${release%% *}/updates/mroce.ko"
}

stage_provider() {
	make -s -C "$TOP/userspace" O="$OUT/userspace" DESTDIR="$stage" LIBDIR="$LIBDIR" PREFIX="$PREFIX" install >&2
}

stage_tools() {
	make -s -C "$TOP/userspace" O="$OUT/userspace" DESTDIR="$stage" PREFIX="$PREFIX" install-tool >&2
	put 755 scripts/doctor.sh "$PREFIX/bin/mroce-doctor"
	put 755 packaging/links.sh "$PREFIX/sbin/mroce-links"
	put 755 packaging/links.sh "$PREFIX/lib/systemd/system-generators/mroce-generator"
	put 644 packaging/mroce-link@.service "$PREFIX/lib/systemd/system/mroce-link@.service"
	put 644 packaging/mroce-doctor.1 "$PREFIX/share/man/man1/mroce-doctor.1"
	put 644 packaging/mroce-links.8 "$PREFIX/share/man/man8/mroce-links.8"
	put 644 packaging/links.conf /etc/mroce/links.conf
}

stage_parts() {
	local part

	for part in $PARTS; do
		"stage_$part"
	done
}

# ---- install and uninstall -------------------------------------------------------------------------------------------
checksum() {
	sha256sum < "$1" | cut -d ' ' -f 1
}

# make_directory PATH: note each part of it that is new
make_directory() {
	[ ! -d "$DESTDIR$1" ] || return 0
	make_directory "${1%/*}"
	mkdir "$DESTDIR$1"
	echo "d - $1" >> "$stage.manifest"
}

# install_file PATH: a configuration file that is there belongs to the administrator
install_file() {
	if [[ $1 == *.conf ]] && [ -e "$DESTDIR$1" ]; then
		echo "kept $DESTDIR$1"
		return
	fi
	make_directory "${1%/*}"
	# a new file beside the old one, renamed: programs that use the old one keep it
	cp -dp "$stage$1" "$DESTDIR$1.new"
	mv -T "$DESTDIR$1.new" "$DESTDIR$1"
	echo "f $(checksum "$stage$1") $1" >> "$stage.manifest"
}

# Whatever the old manifest names and the new one does not (modules for other kernels) is still to be removed one day
merge_manifests() {
	make_directory "$PREFIX/lib/mroce"
	[ ! -e "$manifest" ] || cat "$manifest" >> "$stage.manifest"
	awk '!seen[$3]++' "$stage.manifest" > "$manifest"
}

# refresh: what the system has to be told; a depmod for each kernel in the list FILE..., ldconfig for libraries
refresh() {
	local release

	[ -z "$DESTDIR" ] || return 0
	for release in $(printf '%s\n' "$@" | sed -n 's|^/lib/modules/\([^/]*\)/.*|\1|p' | sort -u); do
		[ ! -d "/lib/modules/$release" ] || depmod "$release"
	done
	! printf '%s\n' "$@" | grep -q '\.so\.' || ldconfig
	[ ! -d /run/systemd/system ] || systemctl daemon-reload
}

do_install() {
	local file files

	: > "$stage.manifest"
	[ -z "$DESTDIR" ] || mkdir -p "$DESTDIR"
	mapfile -t files < <(cd "$stage" && find . ! -type d | sed 's/^\.//' | sort)
	for file in "${files[@]}"; do
		install_file "$file"
	done
	merge_manifests
	refresh "${files[@]}"
}

# remove_file CHECKSUM PATH
remove_file() {
	[ -e "$DESTDIR$2" ] || [ -L "$DESTDIR$2" ] || return 0
	if [[ $2 == *.conf ]] && [ "$(checksum "$DESTDIR$2")" != "$1" ]; then
		echo "kept $DESTDIR$2: it was changed"
		return
	fi
	rm -f "$DESTDIR$2"
}

do_uninstall() {
	local kind sum path files=()

	[ -e "$manifest" ] || die "no $manifest: nothing is installed there"
	while read -r kind sum path; do
		[ "$kind" = f ] || continue
		remove_file "$sum" "$path"
		files+=("$path")
	done < "$manifest"
	mapfile -t directories < <(sed -n 's/^d - //p' "$manifest" | sort -r)
	rm "$manifest"
	for path in "${directories[@]}"; do
		[ ! -d "$DESTDIR$path" ] || rmdir --ignore-fail-on-non-empty "$DESTDIR$path"
	done
	refresh "${files[@]}"
}

case ${1:-} in
stage)
	stage=$(realpath -m "$2")
	stage_parts
	;;
install)
	stage=$(mktemp -d)
	trap 'rm -rf "$stage" "$stage.manifest"' EXIT
	stage_parts
	do_install
	;;
uninstall) do_uninstall ;;
*) die "install, uninstall, or stage DIRECTORY" ;;
esac
