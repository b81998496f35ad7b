#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=dash
# First program of a QEMU guest, in the initial RAM disk. The build machine's root comes over 9p, read-only: put a
# memory overlay over it.
b=/bin/busybox

$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
if $b grep -q mroce_probe /proc/cmdline; then
	echo "guest: the accelerator works"
	$b poweroff -f
fi
for m in $($b cat /modules/order); do
	$b insmod "/modules/$m"
done
$b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 hostroot /lower || $b poweroff -f
$b mount -t tmpfs overlay /overlay
$b mkdir /overlay/upper /overlay/work
$b mount -t overlay -o lowerdir=/lower,upperdir=/overlay/upper,workdir=/overlay/work overlay /new || $b poweroff -f
for m in dev proc sys; do
	$b mount --move /$m /new/$m
done
environment=$($b sed -n 's/.*mroce_env=\([^ ]*\).*/\1/p' /new/proc/cmdline)
. "/new$environment"
exec $b switch_root /new /bin/bash "$TOP/selftests/guest.sh"
