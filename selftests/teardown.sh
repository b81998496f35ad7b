#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 300
# Everything is taken away while data flows: it ends in bounded time, programs learn of it, and all can be set up again.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)
module=$DEV
[ "$DEV" != rxe ] || module=rdma_rxe

# watch_device: a program that has nothing but the device's events to tell it, beside the traffic
watch_device() {
	"$TOOLS/mroce_orphan" -w "$a" > "$WORK/watcher" 2>&1 &
	WATCHER=$!
	wait_for "grep -q READY '$WORK/watcher'" 20
}

# watcher_knows DESCRIPTION: it has the device-fatal event, its calls fail with EIO
watcher_knows() {
	wait_for "grep -qE '^(OK|FAIL)' '$WORK/watcher'" 20 || true
	check "$1: the device-fatal event beside traffic" grep -q ^OK "$WORK/watcher"
	kill -9 "$WATCHER"
	wait "$WATCHER" 2> /dev/null || true
}

port_is_free() {
	! on "$1" ss -Hlun "sport = :$UDP_PORT" | grep -q .
}

restore() {
	restore_pair
	verify "data flows again" -n 300 -q 2
}

# Before the kernel is sure of an interface's own IPv6 address, it does not ask for those of others
addresses_are_sure() {
	[ -z "$(on A ip -6 address show tentative; on B ip -6 address show tentative)" ]
}

# link_del [TRAFFIC-OPTIONS...]
link_del() {
	local what="ip link del${*:+ ($*)}"

	[ $# = 0 ] || wait_for addresses_are_sure
	watch_device
	start_traffic -q 4 --bidir "$@"
	check_gone "$what under traffic: both devices go" "no_device $a && no_device $b" ip -n A link delete vA
	watcher_knows "$what"
	traffic_fails "$what" client server
	check "$what: the UDP port is free" port_is_free A
	restore
}

# netns_del [TRAFFIC-OPTIONS...]
netns_del() {
	local what="ip netns del${*:+ ($*)}"

	[ $# = 0 ] || wait_for addresses_are_sure
	watch_device
	start_traffic -q 4 "$@"
	check_gone "$what under traffic: device, interface and namespace go" \
		"no_device $a && no_interface B vB" ip netns delete A
	watcher_knows "$what"
	traffic_fails "$what" client server
	restore
}

setup_pair
verify "data flows" -n 300

watch_device
start_traffic -q 4
check_quick "rdma link del under traffic" 2 ip netns exec A rdma link delete "$a"
watcher_knows "rdma link del"
traffic_fails "rdma link del" client server
check "rdma link del: the device is gone" no_device "$a"
check "rdma link del: the UDP port is free" port_is_free A
restore

link_del
link_del -6
netns_del
netns_del -6

watch_device
start_traffic -q 4 --bidir
check_gone "rmmod under traffic: both devices go" "no_device $a && no_device $b" rmmod "$module"
watcher_knows "rmmod"
traffic_fails "rmmod" client server
check "rmmod: the UDP ports are free" eval "port_is_free A && port_is_free B"
restore

start_traffic -q 4 --bidir
kill -9 "$CLIENT" "$SERVER"
check "killed programs leave at once" wait_for "! kill -0 $CLIENT 2> /dev/null && ! kill -0 $SERVER 2> /dev/null" 5
kill_traffic
check "nothing of them is left" wait_for "! rdma resource show qp | grep -q mroce_verify" 5
verify "data flows after the kill" -n 300

start_traffic -q 2
on A ip link set vA down
traffic_fails "interface down" client
kill_traffic
check_quick "rdma link del with the interface down" 2 ip netns exec A rdma link delete "$a"
configure_interface A
restore

for ((round = 1; round <= 10; round++)); do
	start_traffic -q 2 > /dev/null
	if [ $((round % 2)) = 0 ]; then kill -9 "$CLIENT"; else kill -9 "$SERVER"; fi
	timeout 10 ip netns exec A rdma link delete "$a" || break
	kill_traffic
	timeout 10 ip netns exec B rdma link delete "$b" || break
	add_devices || break
done
check "10 rounds of kill, del, add" [ "$round" = 11 ]
verify "data flows after them" -n 300
check "devices and link go away" teardown_pair

# It leaves every namespace there is, in far less time for each than a grace period takes. Without devices: of those the
# RDMA core has a copy in each namespace, and these take their time.
printf 'netns add more%d\n' {1..100} | ip -batch -
check "100 more namespaces" [ "$(ip netns list | grep -c more)" = 100 ]
check_gone "rmmod with 100 more namespaces" "[ ! -d /sys/module/$module ]" rmmod "$module"
printf 'netns delete more%d\n' {1..100} | ip -batch -
