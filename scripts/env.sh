# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034
# Where things are. Sourced by every script that runs on the build machine.
#
#   MROCE_CACHE     kernel source and kernels built from it; survives 'make clean'
#   OUT             everything else that is built or measured
#   KERNEL_VERSION  stock kernel of the qemu lanes, an installed linux-image package
#   KERNEL_SERIES   or the series of which the newest installed one is taken

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=$(realpath -m "${OUT:-$TOP/out}")
MROCE_CACHE=$(realpath -m "${MROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mroce}")
UML_VERSION=7.3
UML_SOURCE=$MROCE_CACHE/linux-$UML_VERSION
KERNEL_SERIES=${KERNEL_SERIES:-6.1}
export PATH=$PATH:/usr/sbin:/sbin

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# use_uml_variant VARIANT: the User-Mode Linux kernel of selftests/uml/uml-VARIANT.config, or the plain one
use_uml_variant() {
	export UML_VARIANT=$1
	UML_KERNEL=$MROCE_CACHE/uml-$UML_VERSION-$UML_VARIANT
}
use_uml_variant "${UML_VARIANT:-plain}"

# use_stock_series SERIES: such as 6.12; empty: that of the distribution
use_stock_series() {
	export KERNEL_SERIES=${1:-6.1}
}

# The newest installed stock kernel that modules can be built for
stock_kernel() {
	local image version

	if [ -n "${KERNEL_VERSION:-}" ]; then
		echo "$KERNEL_VERSION"
		return
	fi
	for image in $(printf '%s\n' /boot/vmlinuz-"$KERNEL_SERIES".* | sort -Vr); do
		version=${image#/boot/vmlinuz-}
		if [ -d "/lib/modules/$version/build" ]; then
			echo "$version"
			return
		fi
	done
	die "no kernel in /boot has its headers installed: run scripts/setup.sh"
}

# Value of the line '# KEY: VALUE' in the head of a test script
script_header() {
	sed -n "1,20s/^# $2: *//p" "$1" | head -1
}
