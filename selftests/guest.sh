#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Process 1 of every guest, once its root file system stands: the build machine's files below, a memory overlay on top.
# Reads the environment file that run.sh wrote (its name is on the kernel command line), runs one test script with its
# standard output on the result terminal, and powers off. What the guest writes elsewhere goes to the console.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C

give_up() {
	echo "guest: $*"
	poweroff -f
}

mount_file_systems() {
	mkdir -p /dev/pts /dev/shm
	[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
	mount -t devpts devpts /dev/pts
	mount -t tmpfs shm /dev/shm
	mount -t tmpfs run /run
	mount -t debugfs debug /sys/kernel/debug
	mount -t tracefs trace /sys/kernel/tracing
	mkdir -p /run/netns /run/tmp
}

# libibverbs finds the provider in the build directory, nothing is installed
register_provider() {
	mkdir -p /etc/libibverbs.d
	echo "driver $PROVIDER" > /etc/libibverbs.d/mroce.driver
}

# User-Mode Linux reports no clock rate, and perftest prints zeros without one
fake_clock_rate() {
	local cpu

	grep -q '^cpu MHz' /proc/cpuinfo && return
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		printf 'processor\t: %d\ncpu MHz\t\t: %s\n\n' "$cpu" "$HOST_MHZ"
	done > /run/cpuinfo
	mount --bind /run/cpuinfo /proc/cpuinfo
}

mount_file_systems 2> /dev/null
environment=$(sed -n 's/.*mroce_env=\([^ ]*\).*/\1/p' /proc/cmdline)
[ -r "$environment" ] || give_up "no environment file '$environment'"
set -a
. "$environment"
set +a
export TMPDIR=/run/tmp
[ -c "$RESULT_TTY" ] || give_up "no result terminal $RESULT_TTY"
stty -F "$RESULT_TTY" raw -echo
register_provider
fake_clock_rate
# modules of a kernel that is not installed
[ -z "${KERNEL_MODULES:-}" ] || ln -sfn "$KERNEL_MODULES" "/lib/modules/$(uname -r)"
ulimit -l unlimited
sysctl -qw kernel.panic_on_oops=1
hostname "mroce-$ROLE"
cd "$TOP/selftests" || give_up "no directory $TOP/selftests"
# from here on the kernel log belongs to the test
dmesg -C
dmesg -n 7
bash "$TEST_SCRIPT" > "$RESULT_TTY" < /dev/null
echo "guest: the test ended with status $?"
# let the terminal drain
stty -F "$RESULT_TTY" sane
sync
poweroff -f
