#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 240
# Devices on, under and beside other kinds of interfaces: VLAN, bridge, macvlan, bond, dummy; with IPv6 switched off.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)

# gid_index SIDE ADDRESS: where the RoCE v2 GID of an IPv4 address is
gid_index() {
	local gid file ports

	# shellcheck disable=SC2046,SC2183
	gid=$(printf 'ffff:%02x%02x:%02x%02x' $(tr . ' ' <<< "$2"))
	ports=/sys/class/infiniband/$(device "$1")/ports/1
	for file in $(on "$1" grep -lsr "$gid" "$ports/gids"); do
		grep -q 'RoCE v2' "$ports/gid_attrs/types/${file##*/}" && echo "${file##*/}" && return
	done
	return 1
}

# verify_address DESCRIPTION ADDRESS-OF-A ADDRESS-OF-B: between the GIDs of these two
verify_address() {
	local both status=0

	check "$1: GIDs" eval "wait_for 'gid_index A $2 && gid_index B $3' 5"
	RUN_PORT=$((RUN_PORT + 1))
	both="$TOOLS/mroce_verify -p $RUN_PORT -t 60"
	run_pair "$both -D $b -x $(gid_index B "$3")" "$both -D $a -x $(gid_index A "$2") -q 2 -n 200 --bidir $3" || status=1
	check "$1: data flows" eval "[ $status = 0 ] || { cat $WORK/client $WORK/server; false; }"
}

packets() {
	on "$1" cat "/sys/class/net/$2/statistics/rx_packets"
}

# device_on DESCRIPTION NETDEV: the device of A lives there, data flows both ways, it goes
device_on() {
	check "device on a $1" on A rdma link add "$a" type "$DEV" netdev "$2"
	check "$1: the port is active" wait_for "on A rdma link show $a/1 | grep -q 'state ACTIVE'" 10
	verify_address "$1" "$(address A)" "$(address B)"
	check "$1: the device goes" on A rdma link delete "$a"
}

# address_to NETDEV: it has the address of A, alone
address_to() {
	on A ip address flush dev vA
	on A ip link set "$1" mtu 9000 up
	on A ip address replace "$(address A)/24" dev "$1"
	wait_for "on A busybox ping -c 1 -W 1 $(address B) > /dev/null" 20
}

setup_pair
modprobe -a bridge macvlan bonding dummy 2> /dev/null || true

# The device is on the interface below, and has the GIDs of the VLAN, too
for side in A B; do
	on $side ip link add link v$side name v$side.7 type vlan id 7
	on $side ip link set v$side.7 up
done
on A ip address add 10.7.0.1/24 dev vA.7
on B ip address add 10.7.0.2/24 dev vB.7
before=$(packets B vB.7)
verify_address "VLAN" 10.7.0.1 10.7.0.2
check "VLAN: it was tagged" [ "$(($(packets B vB.7) - before))" -gt 100 ]
verify_address "VLAN is there, untagged traffic" "$(address A)" "$(address B)"
on A ip link delete vA.7
on B ip link delete vB.7
verify "the VLAN is gone: data flows" -n 100

# A port of a bridge has the bridge's GIDs
on A ip link add br0 type bridge
on A ip link set vA master br0
address_to br0
verify_address "device on a port of a bridge" "$(address A)" "$(address B)"
on A rdma link delete "$a"
device_on bridge br0
on A ip link delete br0

on A ip link add mv0 link vA type macvlan mode bridge
address_to mv0
device_on macvlan mv0
on A ip link delete mv0

on A ip link add bond0 type bond mode active-backup miimon 10
on A ip link set vA down
on A ip link set vA master bond0
address_to bond0
device_on bond bond0
on A rdma link add "$a" type "$DEV" netdev vA
verify_address "device on a member of a bond" "$(address A)" "$(address B)"
on A rdma link delete "$a"
check_gone "a bond goes with a device on it" "no_device $a" bash -c "
	ip netns exec A rdma link add $a type $DEV netdev bond0 && ip -n A link delete bond0"
configure_interface A

# A dummy reaches nobody but itself
on A ip link add d0 type dummy
on A ip link set d0 up
on A ip address add 10.5.0.1/24 dev d0
on A rdma link add "$a" type "$DEV" netdev d0
check "device on a dummy: talks to itself" wait_for "timeout 20 ip netns exec A $TOOLS/mroce_qpstate -A $a $(on A "$TOOLS/mroce_qpstate" -A "$a" -l | head -1) | grep -q PASS" 20
check "no device for the first namespace's loopback" eval "! on A rdma link add x type $DEV netdev lo 2> /dev/null"
check_gone "a dummy goes with a device on it" "no_device $a" ip -n A link delete d0

# Lower and upper device both have one; the lower goes first
on A ip link add mv0 link vA type macvlan mode bridge
on A ip link set mv0 up
on A rdma link add "$a" type "$DEV" netdev vA
on A rdma link add upper type "$DEV" netdev mv0
check "two devices in a namespace share its port" [ "$(on A ss -Hlun "sport = :$UDP_PORT" | wc -l)" = 2 ]
wait_for "device_is_ready A" 10
verify "two devices: data flows" -n 100
check_gone "the lower interface goes with both" "no_device $a && no_device upper" ip -n A link delete vA
check "the UDP port is free" eval "! on A ss -Hlun 'sport = :$UDP_PORT' | grep -q ."
wait_for "! rdma link show | grep -q 'link $b/'" 5
ip netns delete A
ip netns delete B

# IPv6 switched off after boot
setup_link
for side in A B; do
	on $side sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
done
add_devices
verify "without IPv6: data flows" -n 200 -q 2 --bidir
check "without IPv6: no IPv6 address is a GID" eval "! on A grep -qsr '^fd00' /sys/class/infiniband/$a/ports/1/gids"
on A sysctl -qw net.ipv6.conf.all.disable_ipv6=0
on B sysctl -qw net.ipv6.conf.all.disable_ipv6=0
configure_interface A
configure_interface B
verify "IPv6 is back: data flows over it" -n 200 -6
check "devices and link go away" teardown_pair
