#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Boot one QEMU guest with Debian's stock kernel and wait for its end.
#
#   boot.sh ENVIRONMENT-FILE RESULT-FILE LIMIT_S      the console goes to standard output
#   NET="-netdev ... -device ..."                     network devices; none by default
#   ACCEL=tcg|kvm                                     found out by itself, once per boot of the build machine
set -euo pipefail
. "$(dirname "$0")/../../scripts/env.sh"
environment=$1 result=$2 limit_s=$3
version=$(stock_kernel)
work=$OUT/build/qemu-$version

build_initrd() {
	local root=$work/root module

	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,sys,lower,overlay,new,modules}
	cp /bin/busybox "$root/bin/"
	install -m 755 "$TOP/selftests/qemu/init.sh" "$root/init"
	# modprobe knows the order
	for module in virtio_pci 9pnet_virtio 9p overlay; do
		modprobe -S "$version" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' | while read -r module; do
		cp "$module" "$root/modules/"
		basename "$module" >> "$root/modules/order"
	done
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd"
}

# -erms,-fsrm: with them the kernel copies by 'rep movsb', which the emulator runs byte by byte
machine() {
	local accel=$1 cpu=host

	shift
	[ "$accel" = kvm ] || cpu=max,-erms,-fsrm
	[ "$accel" = kvm ] || accel=tcg,thread=multi
	timeout -k 5 "$limit_s" qemu-system-x86_64 -accel "$accel" -cpu "$cpu" -smp "${CPUS:-2}" -m "${MEM:-2048}" \
		-nodefaults -display none -no-reboot -kernel "/boot/vmlinuz-$version" -initrd "$work/initrd" \
		-serial stdio "$@" < /dev/null
}

# A /dev/kvm that exists may still be unable to start this kernel: try, and remember until the next boot
find_accel() {
	local answer
	answer=$work/accel-$(cat /proc/sys/kernel/random/boot_id)

	if [ ! -s "$answer" ]; then
		rm -f "$work"/accel-*
		echo tcg > "$answer.new"
		if [ -w /dev/kvm ] && limit_s=10 machine kvm -append "console=ttyS0 panic=-1 quiet mroce_probe" 2> /dev/null |
			grep -q 'the accelerator works'; then
			echo kvm > "$answer.new"
		fi
		mv "$answer.new" "$answer"
	fi
	cat "$answer"
}

mkdir -p "$work"
exec 9> "$work/.lock"
flock 9
[ "$work/initrd" -nt "$TOP/selftests/qemu/init.sh" ] || build_initrd
accel=${ACCEL:-$(find_accel)}
exec 9>&-

# tsc=reliable: the watchdog finds an emulated TSC unstable, and the kernel then patches its tick while other
# processors run it, which the emulator gets wrong (an int3 that nobody put there any more)
# shellcheck disable=SC2086
machine "$accel" -serial "file:$result" ${NET:-} \
	-append "console=ttyS0 panic=-1 quiet mitigations=off nokaslr tsc=reliable mroce_env=$environment ${KERNEL_ARGS:-}" \
	-virtfs local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap 2>&1
