#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# First program of a User-Mode Linux guest. Its root is the build machine's, read-only: put a memory overlay over it.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin

mount -t proc proc /proc
mount -t tmpfs overlay /run
mkdir /run/upper /run/work /run/root
mount -t overlay -o lowerdir=/,upperdir=/run/upper,workdir=/run/work overlay /run/root
mount -t devtmpfs dev /run/root/dev
mount -t proc proc /run/root/proc
mount -t sysfs sys /run/root/sys
environment=$(sed -n 's/.*mroce_env=\([^ ]*\).*/\1/p' /proc/cmdline)
. "$environment"
# not just chroot: who lives in one may not make user namespaces
cd /run/root || exit
pivot_root . mnt
umount -l mnt
# shellcheck disable=SC2153
exec chroot . /bin/bash "$TOP/selftests/guest.sh"
