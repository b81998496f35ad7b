#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: host
# 'make install' and 'make uninstall' below DESTDIR, the Debian packages: contents, installation with DKMS in a throw-away
# copy of this machine, removal. On the build machine; what needs the module in a kernel is in install.sh.
set -euo pipefail
. "$(dirname "$0")/../scripts/env.sh"
. "$(dirname "$0")/lib.sh"
cd "$TOP"
# this machine's kernel log is not ours
check_kernel_log() { :; }

release=$(stock_kernel)
triplet=$(gcc -print-multiarch)
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' packaging/debian/changelog)
export KDIR=/lib/modules/$release/build
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR PREFIX LIBDIR PARTS MODULE

# same DESCRIPTION WANTED GOT: two lists, sorted
same() {
	local difference

	if difference=$(diff -u <(sort <<< "$2") <(sort <<< "$3")); then
		ktap_ok "$1"
	else
		ktap_not_ok "$1" "$difference"
	fi
}

# files DIRECTORY [EXPRESSION]: of all kinds but directories
files() {
	(cd "$1" && find . "${@:2}" ! -type d | sed 's/^\.//')
}

# ---- make install ----------------------------------------------------------------------------------------------------
root=$WORK/root
tools="/etc/mroce/links.conf
PREFIX/bin/mroce-doctor
PREFIX/sbin/mroce
PREFIX/sbin/mroce-links
PREFIX/share/bash-completion/completions/mroce
PREFIX/lib/systemd/system-generators/mroce-generator
PREFIX/lib/systemd/system/mroce-link@.service"
manuals="PREFIX/share/man/man1/mroce-doctor.1
PREFIX/share/man/man8/mroce-links.8
PREFIX/share/man/man8/mroce.8
PREFIX/share/man/man8/mroce-dev.8
PREFIX/share/man/man8/mroce-plane.8
PREFIX/share/man/man8/mroce-conn.8
PREFIX/share/man/man8/mroce-path.8
PREFIX/share/man/man8/mroce-link.8
PREFIX/share/man/man8/mroce-monitor.8"
provider="/etc/libibverbs.d/mroce.driver
/usr/lib/$triplet/libibverbs/libmroce-rdmav34.so
/usr/lib/$triplet/libmroce.so.1"
development="PREFIX/include/infiniband/mrocedv.h
PREFIX/share/man/man7/mrocedv.7"
link=/usr/lib/$triplet/libmroce.so
module=/lib/modules/$release/updates/mroce.ko

# as_prefix PREFIX LIST...
as_prefix() {
	printf '%s\n' "${@:2}" | sed "s|^PREFIX|$1|"
}

mkdir -p "$root/etc/libibverbs.d" "$root/usr/local/bin"
echo mine > "$root/etc/libibverbs.d/other.driver"
before=$(cd "$root" && find . | sort)
check "make install" make -s install DESTDIR="$root"
same "it installs the expected files" \
	"$(as_prefix /usr/local "$tools" "$manuals" "$provider" "$development" "$link" "$module" PREFIX/lib/mroce/installed /etc/libibverbs.d/other.driver)" \
	"$(files "$root")"
check "no file has a name that is to be filled in" eval "! grep -rnE '@[A-Z]+@' '$root/etc' '$root/usr/local'"
check "the unit calls the installed program" grep -q '^ExecStart=/usr/local/sbin/mroce-links add %I$' \
	"$root/usr/local/lib/systemd/system/mroce-link@.service"
check "the module is for the kernel of its directory" [ "$(modinfo -F vermagic "$root$module" | cut -d ' ' -f 1)" = "$release" ]

mkdir -p "$root/lib/modules/5.0-other/updates"
echo "f 0 /lib/modules/5.0-other/updates/mroce.ko" >> "$root/usr/local/lib/mroce/installed"
touch "$root/lib/modules/5.0-other/updates/mroce.ko"
echo "mr0 eth0" > "$root/etc/mroce/links.conf"
check "make install once more" make -s install DESTDIR="$root"
check "it leaves a changed links.conf alone" [ "$(cat "$root/etc/mroce/links.conf")" = "mr0 eth0" ]
check "make uninstall" make -s uninstall DESTDIR="$root"
check "it leaves a changed links.conf alone, too" [ "$(cat "$root/etc/mroce/links.conf")" = "mr0 eth0" ]
rm -r "$root/etc/mroce" "$root/lib/modules/5.0-other/updates" && rmdir -p --ignore-fail-on-non-empty "$root/lib/modules/5.0-other"
same "otherwise it leaves what was there before, of every kernel" "$before" "$(cd "$root" && find . | sort)"
check "without an installation it is refused" eval "! make -s uninstall DESTDIR='$root' 2> /dev/null"
check "make install, PREFIX=/opt/mroce" make -s install DESTDIR="$root" PREFIX=/opt/mroce
same "it installs the tools there" "$(as_prefix /opt/mroce "$tools" "$manuals" "$development" PREFIX/lib/mroce/installed)" \
	"$(files "$root" \( -path './opt/*' -o -path './etc/mroce/*' \))"
check "make uninstall, PREFIX=/opt/mroce" make -s uninstall DESTDIR="$root" PREFIX=/opt/mroce
same "nothing is left" "$before" "$(cd "$root" && find . | sort)"

# ---- units -----------------------------------------------------------------------------------------------------------
check "the port that mroce-doctor looks at is the one of the packets" \
	grep -qE "^port=$(awk '$2 == "MROCE_UDP_PORT" {print $3}' include/mroce/wire.h)[[:space:]]" scripts/doctor.sh

# generated LINES...: what the generator makes of a configuration, and what it says
generated() {
	printf '%s\n' "$@" > "$WORK/links.conf"
	rm -rf "$WORK/units"
	mkdir "$WORK/units"
	MROCE_LINKS_CONF=$WORK/links.conf bash "$WORK/mroce-generator" "$WORK/units" 2>&1
	files "$WORK/units"
}

sed "s|@UNITDIR@|/usr/lib/systemd/system|" packaging/links.sh > "$WORK/mroce-generator"
same "a unit for each line, wanted by netdev and boot" \
	"/multi-user.target.wants/mroce-link@eth0.service
/multi-user.target.wants/mroce-link@my\\x2deth.7.service
/sys-subsystem-net-devices-eth0.device.wants/mroce-link@eth0.service
/sys-subsystem-net-devices-my\\x2deth.7.device.wants/mroce-link@my\\x2deth.7.service" \
	"$(generated "# a comment" "" "mr0 eth0" "	mr1  my-eth.7 # another")"
same "no unit for a line that is wrong, which is told" \
	"/multi-user.target.wants/mroce-link@eth0.service
/sys-subsystem-net-devices-eth0.device.wants/mroce-link@eth0.service
mroce-links: $WORK/links.conf:2: a line is: NAME NETDEV
mroce-links: $WORK/links.conf:3: a second line for the netdev eth0
mroce-links: $WORK/links.conf:4: a second line for the device mr0
mroce-links: $WORK/links.conf:5: a name has no /" \
	"$(generated "mr0 eth0" "mr1" "mr2 eth0" "mr0 eth1" "a/../b eth2")"

# ---- packages --------------------------------------------------------------------------------------------------------
check "make package" make -s package
packages=("$OUT"/packages/*.deb)
same "four packages of one version" "ibverbs-provider-mroce $version
libmroce-dev $version
mroce $version
mroce-dkms $version" "$(for file in "${packages[@]}"; do dpkg-deb -f "$file" Package Version | sed 's/.*: //' | paste -sd ' '; done)"
for file in "${packages[@]}"; do
	dpkg-deb -x "$file" "$WORK/$(dpkg-deb -f "$file" Package)"
done
same "mroce has the tools" "$(as_prefix /usr "$tools" "${manuals//$'\n'/.gz$'\n'}.gz")" "$(files "$WORK/mroce" ! -path '*/doc/*' ! -path '*/lintian/*')"
same "ibverbs-provider-mroce has the provider" "$provider" "$(files "$WORK/ibverbs-provider-mroce" ! -path '*/doc/*')"
same "libmroce-dev has what is needed to build programs" "$(as_prefix /usr "$development.gz" "$link")" \
	"$(files "$WORK/libmroce-dev" ! -path '*/doc/*')"
check "and an example" [ -s "$WORK/libmroce-dev/usr/share/doc/libmroce-dev/examples/mroce_paths.c" ]
same "mroce-dkms has all sources of the module" \
	"$(find drivers include -type f ! -name '.*' ! -name '*.o' ! -name '*.ko' | sed "s|^|/usr/src/mroce-$version/|"; echo "/usr/src/mroce-$version/dkms.conf")" \
	"$(files "$WORK/mroce-dkms" ! -path '*/doc/*')"
upstream=$(dpkg-query -W -f '${Version}' libibverbs1 | sed 's/[.-].*//')
check "the provider depends on the libibverbs it is built for" eval \
	"dpkg-deb -f '$OUT'/packages/ibverbs-provider-*.deb Depends | grep -qF 'libibverbs1 (>= $upstream), libibverbs1 (<< $((upstream + 1))~)'"

# ---- installed, removed ----------------------------------------------------------------------------------------------
check "the packages can be installed in a copy of this machine" selftests/tools/installed.sh
copy=$WORK/copy
cp -a "$OUT/build/installed" "$copy"
for kernel in /lib/modules/*/build; do
	kernel=${kernel%/build}
	# newer ones have it compressed
	file=$(echo "$copy/usr$kernel/updates/dkms/mroce.ko"*)
	check "DKMS builds the module for ${kernel##*/}" \
		[ "$(modinfo -F vermagic "$file" | cut -d ' ' -f 1)" = "${kernel##*/}" ]
	check "and signs it" [ -n "$(modinfo -F signer "$file")" ]
	check "modprobe finds it" grep -q '^updates/dkms/mroce\.ko[.a-z]*:' "$copy/usr$kernel/modules.dep"
done

# in_copy COMMAND...
in_copy() {
	selftests/tools/throwaway.sh "$copy" "$@"
}

check "the program mroce finds its libraries" eval "! in_copy ldd /usr/sbin/mroce | grep 'not found'"
check "libibverbs can load the provider" eval \
	"! in_copy ldd -r '/usr/lib/$triplet/libibverbs/libmroce-rdmav34.so' | grep -E 'not found|undefined'"
check "a program for direct verbs can be built with the packages alone, the example" in_copy gcc -Wall -Werror -o /run/example \
	/usr/share/doc/libmroce-dev/examples/mroce_paths.c -lmroce -libverbs
check "and finds its library" eval "in_copy ldd /run/example | grep '=> .*/$triplet/libmroce\.so\.1 '"
check "which is what libibverbs loads" [ "$(readlink -f "$copy/usr/lib/$triplet/libibverbs/libmroce-rdmav34.so")" = \
	"$copy/usr/lib/$triplet/libmroce.so.1" ]
# it warns of a word that it does not know, and succeeds
check "systemd takes the unit" eval \
	"in_copy systemd-analyze verify --man=no mroce-link@eth0.service > '$WORK/verify' 2>&1 && ! grep mroce '$WORK/verify'"
in_copy sed -i '$ a mr0 eth0' /etc/mroce/links.conf
check "the packages can be removed" in_copy dpkg --no-triggers --remove mroce mroce-dkms ibverbs-provider-mroce libmroce-dev
same "configuration stays, as it was changed" "/etc/libibverbs.d/mroce.driver
/etc/mroce/links.conf" "$(files "$copy/etc" -path '*mroce*' | sed 's|^|/etc|')"
check "with the change" grep -q '^mr0 eth0$' "$copy/etc/mroce/links.conf"
check "and purged" in_copy dpkg --no-triggers --purge mroce mroce-dkms ibverbs-provider-mroce libmroce-dev
same "no file is left" "" "$(files "$copy" -path '*mroce*')"
check "nor a word of it" eval "! (cd '$copy' && grep -rlsI mroce etc usr/lib/modules var/lib/dkms var/lib/dpkg/status)"
