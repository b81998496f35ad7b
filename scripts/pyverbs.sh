#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unpack rdma-core's own tests of verbs, as Debian ships them, into DIRECTORY/tests.
#
#   pyverbs.sh DIRECTORY
#
# They come with the package python3-pyverbs, as documentation. Systems that install no documentation (containers) have
# the package without them: then it is downloaded once more, of the same version, and kept in the cache.
set -euo pipefail
. "$(dirname "$0")/env.sh"
directory=${1:?usage: pyverbs.sh DIRECTORY}
shipped=usr/share/doc/rdma-core/tests

# fetch VERSION: into the current directory
fetch() {
	apt-get -qq -o APT::Sandbox::User=root download "python3-pyverbs=$1" >&2
}

# download VERSION: print the package's file
download() {
	local cache=$MROCE_CACHE/pyverbs file

	mkdir -p "$cache"
	# apt writes a colon in a version as %3a
	file=$cache/python3-pyverbs_${1//:/%3a}_$(dpkg --print-architecture).deb
	if [ ! -s "$file" ]; then
		cd "$cache"
		fetch "$1" || { apt-get -qq update >&2 && fetch "$1"; } || die "cannot download python3-pyverbs $1"
	fi
	echo "$file"
}

# unpack FROM: a directory that has the tests, some of them compressed
unpack() {
	rm -rf "$directory.tmp"
	mkdir -p "$directory.tmp"
	cp -rL "$1" "$directory.tmp/tests"
	find "$directory.tmp/tests" -name '*.gz' -exec gunzip {} +
	[ -s "$directory.tmp/tests/base.py" ] || die "no tests in $1"
	echo "$version" > "$directory.tmp/version"
	rm -rf "$directory"
	mv "$directory.tmp" "$directory"
}

# shellcheck disable=SC2016
version=$(dpkg-query -W -f '${Version}' python3-pyverbs) || die "python3-pyverbs is not installed"
[ "$(cat "$directory/version" 2> /dev/null)" != "$version" ] || exit 0
if [ -s "/$shipped/run_tests.py" ]; then
	unpack "/$shipped"
else
	package=$(download "$version")
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	dpkg -x "$package" "$scratch"
	unpack "$scratch/$shipped"
fi
