#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Does libibverbs find the provider and give it the right devices?
#
#   match.sh DIR        DIR holds libmroce-rdmav34.so, and supported (supported.c)
#
# A made-up sysfs with one device, in a mount namespace whose /dev is empty, so
# no module is needed. Only the match by name can be tried: the driver id comes
# by RDMA netlink, which cannot be made up (selftests look at that one).
set -u

dir=$(cd "$1" && pwd)

if [ "${2:-}" != inside ]; then
	if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
		echo "KTAP version 1"
		echo "1..1"
		echo "ok 1 match # SKIP needs root and mount namespaces"
		exit 0
	fi
	exec unshare -m "$0" "$dir" inside
fi

sys=/dev/sys
num=0
failed=0

# make_device NAME ABI: the only device there is
make_device() {
	rm -rf "$sys"
	mkdir -p "$sys/class/infiniband_verbs/uverbs0" \
		 "$sys/class/infiniband/$1/ports/1"
	echo 6 >"$sys/class/infiniband_verbs/abi_version"
	echo "$1" >"$sys/class/infiniband_verbs/uverbs0/ibdev"
	echo "$2" >"$sys/class/infiniband_verbs/uverbs0/abi_version"
	echo 231:192 >"$sys/class/infiniband_verbs/uverbs0/dev"
	echo "1: CA" >"$sys/class/infiniband/$1/node_type"
	echo "0002:00ff:fe00:0001" >"$sys/class/infiniband/$1/node_guid"
}

devices() {
	SYSFS_PATH=$sys IBV_DRIVERS=$dir/libmroce ibv_devices 2>&1 |
		awk 'NR > 2 { print $1 }'
}

# supported DIRECTORY: with the provider in there, instances of the library in a program, and devices that it takes
supported() {
	SYSFS_PATH=$sys IBV_DRIVERS=$1/libmroce "$dir/supported" 2>&1
}

# expect NAME WANTED GOT
expect() {
	num=$((num + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $num $1"
	else
		echo "# wanted '$2', got '$3'"
		echo "not ok $num $1"
		failed=1
	fi
}

mount -t tmpfs none /dev
mkdir /dev/infiniband
mknod /dev/infiniband/uverbs0 c 231 192
mknod -m 666 /dev/null c 1 3

echo "KTAP version 1"
echo "1..7"
make_device mroce0 1
expect own_name_is_claimed mroce0 "$(devices)"
make_device mroce0 2
expect other_abi_is_refused "" "$(devices | grep mroce0)"
make_device mlx9_0 1
expect foreign_name_is_left_alone "" "$(devices | grep mlx9_0)"
make_device mroce0 1
expect nobody_else_claims_it "" \
	"$(SYSFS_PATH=$sys ibv_devices 2>&1 | awk 'NR > 2 { print $1 }')"
# A program that is linked with the library registers it. For a device that nobody has claimed libibverbs loads what it is
# told to, which is the same instance under its other name, and a second one if it is a copy.
expect direct_verbs_take_it "1 mroce0" "$(supported "$dir")"
make_device mlx9_0 1
expect libibverbs_has_the_same_instance "1" "$(supported "$dir")"
mkdir /dev/copy
cp -L "$dir/libmroce-rdmav34.so" /dev/copy/
expect copy_is_another_instance "2" "$(supported /dev/copy)"
exit "$failed"
