#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 400
# What happens to an interface in its life, under traffic: carrier, names, MTU, addresses.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A)

# ---- under traffic ------------------------------------------------------------------------------------------------------
# begin OPTIONS...: traffic that goes on until 'traffic_ends', in the background
begin() {
	LIMIT_S=$(patience 120) start_traffic -q 4 --timeout 18 --seconds "$(patience 110)" "$@" || true
	check "traffic starts" flows
}

in_flight() {
	kill -0 "$CLIENT" 2> /dev/null && kill -0 "$SERVER" 2> /dev/null
}

# flows [SIDE]: data arrives there (B), now
flows() {
	local side=${1:-B} before

	before=$(counter "$side" rx_bytes)
	wait_for "[ \$(counter $side rx_bytes) -gt $((before + 500000)) ] || ! in_flight" 20 && in_flight
}

port_state() {
	wait_for "on $1 rdma link show $(device "$1")/1 | grep -q 'state $2'" 10
}

setup_pair

begin --bidir
on B ip link set vB down
check "carrier lost: the port of A is down" port_state A DOWN
check "interface down: the port of B is down" port_state B DOWN
configure_interface B
check "carrier back: the port of A is active" port_state A ACTIVE
check "carrier back: data flows on" flows
traffic_ends "loss of carrier: nothing is lost"

begin --bidir
on A ip link set vA down
on A ip link set vA name interface-of-15
on A ip link set interface-of-15 up
on A ip address replace "$(address A 6)/64" dev interface-of-15 nodad
check "an interface name of 15 characters" wait_for "on A rdma link show $a/1 | grep -q 'netdev interface-of-15'" 5
check "it has the same device" port_state A ACTIVE
check "renamed interface: data flows on" flows
name=$(printf '%.0sm' {1..63})
check "a device name of 63 characters" on A rdma dev set "$a" name "$name"
a_counter() { on A rdma link show "$name/1"; }
check "it is known by that name" a_counter
on A rdma dev set "$name" name "$a"
check "renamed device: data flows on" flows
on A ip link set interface-of-15 down
on A ip link set interface-of-15 name vA
configure_interface A
check "renamed back: data flows on" flows
traffic_ends "renaming: nothing is lost"
verify "data flows after renaming" -n 100

# Each MTU on one side, then on both: what is numbered already is larger than what fits
begin --bidir
for mtu in 1500 1280 9000; do
	for side in A B; do
		on $side ip link set v$side mtu $mtu
		check "MTU $mtu on $side: A to B" flows B
		check "MTU $mtu on $side: B to A" flows A
	done
done
traffic_ends "changes of the MTU: nothing is lost"
begin --bidir -6
for mtu in 1400 9000; do
	for side in A B; do
		on $side ip link set v$side mtu $mtu
		check "IPv6, MTU $mtu on $side: A to B" flows B
		check "IPv6, MTU $mtu on $side: B to A" flows A
	done
done
traffic_ends "IPv6, changes of the MTU: nothing is lost"

largest_packet() {
	local tap

	on A tcpdump -i vA -nn -c 300 -Z root "udp dst port $UDP_PORT and dst host $(address B)" > "$WORK/dump" 2> "$WORK/tcpdump" &
	tap=$!
	wait_for "grep -q 'listening on' $WORK/tcpdump" 10
	verify_pair -n 100 -q 2 >&2
	wait "$tap"
	sed -n 's/.*length \([0-9]*\)$/\1/p' "$WORK/dump" | sort -n | tail -1
}
check "after all that a new connection has packets of 8 KiB again" [ "$(largest_packet)" -gt 8192 ]

# A queueing discipline or filter that takes nothing for a while: waited for, not run against
begin --bidir
before=$(counter A local_drop_pkts)
on A tc qdisc add dev vA clsact
on A tc filter add dev vA egress protocol ip flower ip_proto udp action drop
# its tail is what could go wrong: this is the time in which a loop shows
sleep 2
refused=$(($(counter A local_drop_pkts) - before))
on A tc qdisc delete dev vA clsact
check "the local stack refuses packets: they are tried again" [ "$refused" -gt 0 ]
check "but not in a loop" [ "$refused" -lt 20000 ]
ktap_diag "$refused refused in 2 s"
check "it takes them again: data flows on" flows
traffic_ends "packets refused by the local stack: nothing is lost"

begin --bidir
on A ip address delete "$(address A)/24" dev vA
check "address removed: no GID" wait_for "! on A grep -qsr ffff:0a09:0001 /sys/class/infiniband/$a/ports/1/gids" 5
on A ip address add "$(address A)/24" dev vA
check "address added: it is a GID" wait_for "device_is_ready A" 5
check "address added: data flows on" flows
traffic_ends "address removed and added: nothing is lost"

LIMIT_S=40 start_traffic -q 2 --timeout 12
on A ip address delete "$(address A)/24" dev vA
traffic_fails "address removed for good" client
kill_traffic
configure_interface A
wait_for "device_is_ready A" 5
verify "data flows with the address back" -n 100
