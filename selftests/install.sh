#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: qemu
# quick: none
# limit_s: 300
# A machine with the Debian packages, as tools/installed.sh leaves it: the module that DKMS built is loaded when a device
# is added, devices from links.conf, mroce-doctor all along, Secure Boot's lockdown. (Removal is in package.sh: dpkg and depmod take minutes here.)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
conf=/etc/mroce/links.conf

# doctor DESCRIPTION STATUS PATTERN [COMMAND...]: what mroce-doctor says, run by the command
doctor() {
	local description=$1 wanted=$2 pattern=$3 status=0 output

	shift 3
	output=$("$@" mroce-doctor 2>&1) || status=$?
	if [ "$status" = "$wanted" ] && [[ $output =~ ^$pattern$ ]]; then
		ktap_ok "doctor: $description"
	else
		ktap_not_ok "doctor: $description" "status $status instead of $wanted, '$output' instead of '$pattern'"
	fi
}

# unit START-OR-STOP NETDEV: what systemd would run
unit() {
	local command

	command=$(sed -n "s/^Exec$1=//p" /usr/lib/systemd/system/mroce-link@.service)
	${command//%I/$2}
}

# fails PATTERN COMMAND...: it does, and says why
fails() {
	local output

	! output=$("${@:2}" 2>&1) && grep -qE "$1" <<< "$output" && return
	echo "'$output' instead of '$1'"
	return 1
}

is_active() {
	rdma link show mr0/1 | grep -q 'state ACTIVE .*netdev v0'
}

set_link_up() {
	ip link set v0 mtu 9000 up && ip link set v1 mtu 9000 up && ip address replace 10.9.0.1/24 dev v0
}

rm -f /etc/libibverbs.d/mroce.driver
cp -a "$OUT/build/installed/." /
ip link set lo up
modprobe veth
ip link add v0 type veth peer name v1

found=$(modinfo -n mroce)
check "DKMS's module is the one that would be loaded" [ "${found%.xz}" = "/lib/modules/$(uname -r)/updates/dkms/mroce.ko" ]
doctor "no device yet" 1 'no mroce device: .*'
python3 -c "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', $UDP_PORT)); time.sleep(60)" &
wait_for "[ -n \"\$(ss -Hlun 'sport = :$UDP_PORT')\" ]" 20
doctor "the port is taken" 1 "UDP port $UDP_PORT is taken: \"python3\".*"
kill $!
wait $! 2> /dev/null || true

# links.conf
echo "mr9 nothing" > "$conf"
check "a netdev that is missing is told" fails "mr9 on nothing: there is no netdev nothing" unit Start nothing
doctor "the netdev is missing" 1 'mr9: there is no netdev nothing .*'
echo "mr0 v0 # a comment" > "$conf"
check "a netdev without a line is told" fails "no line for the netdev v1" unit Start v1
check "the unit adds the device, which loads the module" unit Start v0
check "the device is there" [ "$(mroce-links show)" = "mr0 v0 DOWN" ]
doctor "the port is down" 1 'mr0: its port is down, because v0 .*'
check "the unit once more: it is there already" unit Start v0
set_link_up
check "the port is active" wait_for is_active 20
check "programs see it" eval "ibv_devinfo -d mr0 | grep -q PORT_ACTIVE"
doctor "everything is there" 0 ok
check "the program mroce sees it" eval "/usr/sbin/mroce -j dev | grep -q '\"dev\": \"mr0\"'"
ip link set v0 mtu 1500
doctor "a small MTU" 0 'ok, but mr0 is faster with a larger MTU: v0 has 1500, .*'
ip link set v0 mtu 9000
ulimit -l 64
doctor "a user's limit" 0 'ok, but nobody can register no more than 64 KiB .*' setpriv --reuid=nobody --clear-groups
provider=$(echo /usr/lib/*/libibverbs/libmroce-rdmav34.so)
mv "$provider" /run/
doctor "the provider is missing" 1 '/etc/libibverbs.d/mroce.driver is there, but not /.*'
mv "/run/${provider##*/}" "$provider"
echo "mr0 v1" > "$conf"
check "a name that is taken is told" fails "mr0 on v1: a device of this name is on another netdev" unit Start v1
echo "mr1 v0" > "$conf"
check "a refusal is told, with the kernel's reason" fails "cannot add mr1 on v0: the netdev has an mroce device" unit Start v0
echo "mr0 v0" > "$conf"

# The netdev goes and comes back
ip link delete v0
check "the device goes with its netdev" wait_for "[ \"\$(mroce-links show)\" = 'mr0 v0 no-netdev' ]" 20
check "the unit stops" unit Stop v0
ip link add v0 type veth peer name v1
set_link_up
check "the unit adds the device to the new netdev" unit Start v0
check "the port is active again" wait_for is_active 20
check "the unit deletes the device" unit Stop v0
check "nothing is there" [ "$(mroce-links show)" = "mr0 v0 no-link" ]
doctor "it should be there" 1 'mr0 on v0 is not there: .*'

# Secure Boot: a key that the kernel does not know. The lockdown cannot be undone
rmmod mroce
mountpoint -q /sys/kernel/security || mount -t securityfs securityfs /sys/kernel/security
echo integrity > /sys/kernel/security/lockdown
check "the kernel is locked down and refuses the module" fails "(Key|key|not permitted)" modprobe mroce
doctor "the key is unknown" 1 "module mroce is signed by '.*', a key this kernel does not know: .*"
