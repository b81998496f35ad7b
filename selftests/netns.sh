#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 200
# 'rdma dev set DEVICE netns NAME': the verbs device moves, its netdev stays. Programs that have it open lose it, those of
# the new namespace can use it over the network of the old one, as with hardware; it ends with its netdev.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)

sees() {
	on "$1" rdma link show | grep -q "link $2/"
}

# Both ends in one namespace: they meet over its loopback interface
verify_in() {
	local side=$1 description=$2 server status=0

	RUN_PORT=$((RUN_PORT + 1))
	on "$side" timeout 60 "$TOOLS/mroce_verify" -p $RUN_PORT -D "$b" > "$WORK/server" 2>&1 &
	server=$!
	wait_for "[ -n \"\$(on $side ss -Hltn 'sport = :$RUN_PORT')\" ]" 20
	on "$side" timeout 60 "$TOOLS/mroce_verify" -p $RUN_PORT -D "$a" -n 200 -q 2 127.0.0.1 > "$WORK/client" 2>&1 || status=$?
	[ "$status" = 0 ] || kill "$server"
	wait "$server" || status=$?
	check "$description" eval "[ $status = 0 ] || { cat $WORK/client $WORK/server; false; }"
}

# Shared mode, the default: everybody sees every device, and none can move
setup_link
load_driver A
add_devices
ip netns add C
on C ip link set lo up
check "shared mode: another namespace sees the devices" sees C "$a"
check "shared mode: a device does not move" eval "! rdma dev set $a netns C 2> $WORK/refusal && grep -qi 'not supported\|shared' $WORK/refusal"
check "shared mode: it is unharmed" sees A "$a"
verify "shared mode: data flows" -n 100
check "devices and link go away" teardown_pair
ip netns delete C

# Exclusive mode; it cannot be entered while there are namespaces
check "exclusive mode" wait_for "rdma system set netns exclusive 2> /dev/null" 10
setup_link
ip netns add C
on C ip link set lo up
for side in A B; do
	on "$side" rdma link add "$(device "$side")" type "$DEV" netdev "v$side"
	# kernels before 6.19 create every device in the first namespace
	on "$side" rdma link show | grep -q "link $(device "$side")/" || rdma dev set "$(device "$side")" netns "$side"
done
check "exclusive mode: the devices are where their netdevs are" \
	eval "wait_for 'device_is_ready A && device_is_ready B' 20"
check "exclusive mode: nobody else sees them" eval "! sees C $a && ! sees B $a && ! rdma link show | grep -q $a/"
verify "exclusive mode: data flows" -n 200 -q 2

ip netns exec A "$TOOLS/mroce_orphan" "$a" > "$WORK/orphan" 2>&1 &
orphan=$!
wait_for "grep -q READY '$WORK/orphan'" 20
check_quick "a device moves while a program has it open" 10 ip netns exec A rdma dev set "$a" netns C
check "the program loses it" wait_for "grep -q '^OK' '$WORK/orphan'" 10
ktap_diag "$(tail -n 1 "$WORK/orphan")"
wait "$orphan" || true
check "it is in the new namespace" sees C "$a"
check "and no longer in the old one" eval "! sees A $a"
ip netns exec B rdma dev set "$b" netns C
check "the port is active, its addresses are there" eval "wait_for '[ \"\$(on C rdma link show | grep -c ACTIVE)\" = 2 ]' 10"
verify_in C "data flows between two devices that have moved"
# a device of the same name where it was; kernels before 6.19 have one space of names for all
on A ip link add d0 type dummy
on A ip link set d0 up
if on A rdma link add "$a" type "$DEV" netdev d0 2> "$WORK/refusal"; then
	check "a name that is taken there: no move" eval "! on A rdma dev set $a netns C 2> /dev/null && sees A $a && sees C $a"
	on A rdma link delete "$a"
else
	check "a name that is taken elsewhere is refused" grep -q 'File exists' "$WORK/refusal"
fi
on A ip link delete d0
ip netns exec C rdma dev set "$a" netns A
ip netns exec C rdma dev set "$b" netns B
check "they move back" eval "wait_for 'device_is_ready A && device_is_ready B' 20"
verify "data flows again" -n 200 -q 2

# The end of namespaces: of the one the device has moved to, then of its netdev's
on A rdma dev set "$a" netns C
check_gone "ip netns del of the namespace it is in: the device returns to the first" \
	"rdma link show | grep -q 'netdev vA\|/1 '" ip netns delete C
ktap_diag "$(rdma link show)"
check_gone "ip netns del of its netdev's namespace: the device goes" \
	"! rdma link show | grep -q . && no_interface B vB" ip netns delete A
# vB went with vA: something to go with the namespace
ip link add b0 type veth peer name b0 netns B
check_gone "ip netns del of the other: no device is left" \
	"! ip link show b0 > /dev/null 2>&1 && [ -z \"\$(ls /sys/class/infiniband)\" ]" ip netns delete B
check "the module goes" rmmod mroce
