#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 360
# One host talks to itself: two programs on one device, two devices of one namespace; what happens to their packets in
# flight when a program, a device or the module goes. All of it passes the loopback netdev.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
module=$DEV
[ "$DEV" != rxe ] || module=rdma_rxe
limit_s=2
device=$(device A) second=$(device C) third=$(device D)

# talk DESCRIPTION SERVER-DEVICE CLIENT-DEVICE OPTIONS...: mroce_verify to its end, both programs in namespace A
talk() {
	local description=$1 server=$2 client=$3 both status=0 pid

	shift 3
	RUN_PORT=$((RUN_PORT + 1))
	both="-p $RUN_PORT -t 60"
	[[ " $* " != *" -6 "* ]] || both+=" -6"
	# shellcheck disable=SC2086
	on A timeout -k 1 70 "$TOOLS/mroce_verify" $both -D "$server" > "$WORK/server" 2>&1 &
	pid=$!
	# shellcheck disable=SC2086
	on A timeout -k 1 70 "$TOOLS/mroce_verify" $both -D "$client" --no-poll "$@" 127.0.0.1 > "$WORK/client" 2>&1 || status=$?
	[ "$status" = 0 ] || kill "$pid" 2> /dev/null || true
	wait "$pid" || status=$?
	if [ "$status" = 0 ]; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "status $status; client: $(tail -n 2 "$WORK/client")"$'\n'"server: $(tail -n 2 "$WORK/server")"
	fi
}

# packets of the loopback netdev; mroce's all take it, other drivers' may not
packets() {
	on A sh -c 'cat /sys/class/net/lo/statistics/rx_packets /sys/class/net/v[CD]/statistics/rx_packets 2> /dev/null' |
		awk '{n += $1} END {print n}' || true
}

# start_talk SERVER-DEVICE CLIENT-DEVICE OPTIONS...: endless; returns when data flows. Sets SERVER and CLIENT. The programs
# are outside the namespace, so that their process ids are their own
start_talk() {
	local server=$1 client=$2 before

	shift 2
	RUN_PORT=$((RUN_PORT + 1))
	ip link set lo up
	before=$(packets)
	"$TOOLS/mroce_verify" -p "$RUN_PORT" -t 60 -D "$server" > "$WORK/server" 2>&1 &
	SERVER=$!
	"$TOOLS/mroce_verify" -p "$RUN_PORT" -t 60 -D "$client" -n 1000000000 --timeout 14 --no-poll "$@" 127.0.0.1 > "$WORK/client" 2>&1 &
	CLIENT=$!
	wait_for "[ \$(packets) -gt $((before + 1000)) ]" 20
}

# add_device NAME NETDEV
add_device() {
	on A rdma link add "$1" type "$DEV" netdev "$2" || return
	wait_for "rdma link show $1/1 | grep -q 'state ACTIVE'" 10 || return
	# its IPv4 address, as a GID, is there
	wait_for "on A grep -qsr 'ffff:0a09' /sys/class/infiniband/$1/ports/1/gids" 10
}

# Two netdevs more in namespace A: both ends of a cable, which no packet of ours will use. But the RDMA core wants the
# hardware address of the peer before the driver is asked: accept_local lets a netdev answer for another of the same host,
# and from vA, which leads elsewhere, it has to be told.
setup_cable() {
	on A ip link add vC mtu 9000 type veth peer name vD mtu 9000
	on A ip link set vC up
	on A ip link set vD up
	on A ip address add 10.9.3.1/24 dev vC
	on A ip address add 10.9.4.1/24 dev vD
	on A ip address add fd00:9:3::1/64 dev vC nodad
	on A ip address add fd00:9:4::1/64 dev vD nodad
	on A sysctl -qw net.ipv4.conf.vC.accept_local=1 net.ipv4.conf.vD.accept_local=1
	on A ip neighbour replace 10.9.4.1 lladdr "$(on A cat /sys/class/net/vD/address)" dev vA nud permanent
	on A ip neighbour replace 10.9.0.1 lladdr "$(on A cat /sys/class/net/vA/address)" dev vD nud permanent
}

set_lo() {
	on A tc qdisc delete dev lo root 2> /dev/null || true
	[ $# = 0 ] || on A tc qdisc add dev lo root netem limit 20000 "$@"
}

setup_pair
setup_cable
add_device "$second" vC
add_device "$third" vD

talk "two programs on one device" "$device" "$device" -q 4 -n 500 --bidir
talk "two programs on one device, IPv6" "$device" "$device" -6 -n 300
before=$(on A cat /sys/class/net/vC/statistics/tx_packets)
talk "two devices of one namespace" "$second" "$third" -q 4 -n 500 --bidir
talk "two devices of one namespace, IPv6" "$second" "$third" -6 -n 300
talk "two devices whose netdevs have nothing in common" "$device" "$third" -n 300
[ "$DEV" != mroce ] ||
	check "no packet of them leaves by the cable" [ $(($(on A cat /sys/class/net/vC/statistics/tx_packets) - before)) -lt 50 ]
verify "beside it, another host" -n 300

set_lo loss 1%
talk "one device, 1 % loss" "$device" "$device" -q 2 -n 300
talk "two devices, 1 % loss" "$second" "$third" -q 2 -n 300
set_lo delay 1ms reorder 75%
talk "two devices, 25 % reordering" "$second" "$third" -q 2 -n 300
set_lo

for who in CLIENT SERVER; do
	start_talk "$device" "$device" -q 4 --bidir
	kill -9 "${!who}"
	other=SERVER
	[ "$who" = CLIENT ] || other=CLIENT
	check "one device: the ${who,,} is killed, the other ends" wait_for "! kill -0 ${!other} 2> /dev/null" 10
	kill_traffic
	check "nothing of them is left" wait_for "! rdma resource show qp | grep -q mroce_verify" 5
done
start_talk "$second" "$third" -q 4 --bidir
kill -9 "$CLIENT" "$SERVER"
check "two devices: both programs are killed and leave at once" wait_for "! kill -0 $CLIENT 2> /dev/null && ! kill -0 $SERVER 2> /dev/null" 5
kill_traffic
talk "data flows after the kills" "$device" "$device" -q 2 -n 300

# Programs come and go while others of the same device work on
start_talk "$device" "$device" -q 2
for ((round = 1; round <= 10; round++)); do
	on A timeout -k 1 20 "$TOOLS/mroce_qpstate" -A "$device" reset_and_reuse destroy_busy > "$WORK/cases" 2>&1 || break
done
check "10 programs come and go beside the traffic: $(grep FAIL "$WORK/cases" || true)" [ "$round" = 11 ]
check "the traffic goes on" kill -0 "$CLIENT"
before=$(packets)
check "and moves data" wait_for "[ \$(packets) -gt $((before + 1000)) ]" 10
kill_traffic

# The peer of the traffic is removed and comes back: programs learn of it, new ones work
start_talk "$second" "$third" -q 2
check_quick "rdma link del of the peer under traffic" $limit_s ip netns exec A rdma link delete "$second"
traffic_fails "the peer's device is deleted" server client
check "its device comes back" add_device "$second" vC
talk "data flows again" "$second" "$third" -n 300 -q 2

# A new device counts its QPs anew. The old peer, cut off meanwhile, knocks at a number that is another program's by now.
qpn_of() {
	on A rdma resource show qp link "$1/1" | sed -n "s/.* lqpn \([0-9]*\) .* pid $2 .*/\1/p"
}
on A rdma link delete "$second"
check "a new device" add_device "$second" vC
# its own end, if it has nothing to send just then: 25 s
start_talk "$second" "$third" -q 1 --timeout 16 -t 25
qpn=$(qpn_of "$second" $SERVER)
old=$CLIENT stopped=$SERVER
set_lo loss 100%
# its end would tell the peer, by TCP
kill -STOP "$stopped"
on A rdma link delete "$second"
check "another new device takes its place" add_device "$second" vC
RUN_PORT=$((RUN_PORT + 1))
"$TOOLS/mroce_verify" -p "$RUN_PORT" -t 60 -D "$second" > "$WORK/server" 2>&1 &
SERVER=$!
mv "$WORK/client" "$WORK/old"
"$TOOLS/mroce_verify" -p "$RUN_PORT" -t 60 -D "$third" -n 500 -q 1 --no-poll 127.0.0.1 > "$WORK/client" 2>&1 &
CLIENT=$!
check "another program has QP ${qpn:-?} at once" wait_for "[ -n '$qpn' ] && [ \"\$(qpn_of $second $SERVER)\" = '$qpn' ]" 10
check "the old peer still tries" kill -0 $old
set_lo
status=0
wait "$CLIENT" || status=$?
wait "$SERVER" || status=$?
check "the new program's data is right" [ "$status" = 0 ]
ktap_diag "$(tail -n 1 "$WORK/client")"
# Its packets are refused, by a peer that lives: 8 times 8 timeouts of a quarter of a second
check "the old peer ends" wait_for "! kill -0 $old 2> /dev/null" 90
kill -9 "$stopped"
check "with an error: $(tail -n 1 "$WORK/old")" grep -q '^FAIL ' "$WORK/old"

start_talk "$device" "$device" -q 2 --bidir
check_quick "rdma link del under traffic" $limit_s ip netns exec A rdma link delete "$device"
traffic_fails "rdma link del" client server
check "the device comes back" add_device "$device" vA
talk "data flows again on it" "$device" "$device" -n 300 -q 2

start_talk "$second" "$third" -q 2
check_quick "ip link del under traffic" $((2 * limit_s)) ip -n A link delete vC
traffic_fails "ip link del" client server
check "both devices go" wait_for "no_device $second && no_device $third" 5

start_talk "$device" "$device" -q 4 --bidir
check_quick "rmmod under traffic" $((4 * limit_s)) rmmod "$module"
traffic_fails "rmmod" client server
load_driver A
check "the module comes back" add_device "$device" vA
talk "data flows with the module loaded again" "$device" "$device" -n 300 -q 2

on A ip link set lo down
if [ "$DEV" = mroce ]; then
	on A "$TOOLS/mroce_qpstate" -A "$device" qp_to_itself > "$WORK/cases" 2>&1 || true
	check "with the loopback netdev down, modify_qp says ENETDOWN" grep ENETDOWN "$WORK/cases"
fi
on A ip link set lo up
talk "and with it up again data flows" "$device" "$device" -n 300
on A rdma link delete "$device"
check "the namespaces go away" eval "ip netns delete A && ip netns delete B"
