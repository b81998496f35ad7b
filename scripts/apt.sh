# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# Packages of a suite that this machine's apt does not know. Sourced after env.sh.
# With a package list and a state directory of its own, beside the system's, so that the system's stay as they are.

# apt_use SUITE: apt_private is about it from here on
apt_use() {
	local mirror

	APT_PRIVATE=$MROCE_CACHE/apt/$1
	# the mirror this machine uses already
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 -E '/debian/?$') ||
		die "the apt sources of this machine name no Debian mirror"
	mkdir -p "$APT_PRIVATE"/{lists,cache/archives}/partial
	{
		echo "deb $mirror $1 main"
		cat /etc/apt/sources.list 2> /dev/null || true
	} > "$APT_PRIVATE/sources.list"
	apt_private apt-get -qq update >&2
}

# apt_private TOOL ARGUMENTS...
apt_private() {
	local tool=$1

	shift
	"$tool" -o Dir::Etc::sourcelist="$APT_PRIVATE/sources.list" -o Dir::State::Lists="$APT_PRIVATE/lists" \
		-o Dir::Cache="$APT_PRIVATE/cache" -o APT::Sandbox::User=root "$@"
}
