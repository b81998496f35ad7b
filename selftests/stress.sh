#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick_set: ROUNDS=4 STRESS_S=5 LOADS=60
# limit_s: 900
# Storms: links, netdevs and namespaces come and go at once while others look at them; queue pairs are destroyed while
# their timers run; the module is loaded and unloaded, with and without links.
#
#	ROUNDS=1000	rounds of each storm loop (default 12)
#	STRESS_S=600	seconds of destroying queue pairs (default 18)
#	LOADS=1000	times the module is loaded (default 200)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)
ROUNDS=${ROUNDS:-12}
STRESS_S=${STRESS_S:-18}
LOADS=${LOADS:-200}
! is_slow || LOADS=$(((LOADS + 3) / 4))

no_devices() {
	[ -z "$(ls /sys/class/infiniband 2> /dev/null)" ]
}

port_is_free() {
	! on "$1" ss -Hlun "sport = :$UDP_PORT" | grep -q .
}

# ---- storm: each loop is a process of its own ---------------------------------------------------------------------------
# Whatever they do may fail because another was faster. They count what succeeded.
# once NAME COMMAND...
once() {
	local name=$1

	shift
	if timeout 60 "$@" > /dev/null 2>&1; then
		echo "$name" >> "$WORK/successes.$BASHPID"
	elif [ $? = 124 ]; then
		echo "$*" >> "$WORK/stuck"
	fi
}

# Two of these with the same netdevs: create against create, delete against delete
loop_links() {
	local round

	for ((round = 0; round < ROUNDS; round++)); do
		once link_add ip netns exec S rdma link add "s$1" type "$DEV" netdev d1
		once link_add ip netns exec S rdma link add "t$1" type "$DEV" netdev d2
		once link_add ip netns exec S rdma link add same type "$DEV" netdev "d$1"
		once link_del ip netns exec S rdma link delete same
		once link_del ip netns exec S rdma link delete "t$1"
		once link_del ip netns exec S rdma link delete "s$1"
	done
}

loop_netdevs() {
	local round

	for ((round = 0; round < ROUNDS; round++)); do
		once netdev_add ip netns exec S ip link add n0 type veth peer name n1
		once netdev_add ip netns exec S ip link set n0 up
		once link_add ip netns exec S rdma link add m0 type "$DEV" netdev n0
		once link_add ip netns exec S rdma link add m1 type "$DEV" netdev n1
		[ $((round % 2)) = 0 ] || once link_del ip netns exec S rdma link delete m1
		once netdev_del ip netns exec S ip link delete n0
	done
}

loop_namespaces() {
	local round ns

	for ((round = 0; round < ROUNDS; round++)); do
		ns=N$((round % 3))
		once netns_add ip netns add "$ns"
		once netdev_add ip -n "$ns" link add e0 type dummy
		once netdev_add ip -n "$ns" link add e1 type dummy
		once netdev_add ip -n "$ns" link set e0 up
		once link_add ip netns exec "$ns" rdma link add "e0$ns" type "$DEV" netdev e0
		once link_add ip netns exec "$ns" rdma link add "e1$ns" type "$DEV" netdev e1
		[ $((round % 3)) != 0 ] || once netdev_del ip -n "$ns" link delete e1
		once netns_del ip netns delete "$ns"
	done
}

# Without rights over the first namespace: refused, every time, and nothing stays
loop_users() {
	local round

	for ((round = 0; round < ROUNDS; round++)); do
		once user_tried unshare -Urn sh -c "
			ip link add d0 type dummy && ip link set d0 up
			! rdma link add x type $DEV netdev d0"
	done
}

loop_queries() {
	local port

	while [ ! -e "$WORK/enough" ]; do
		once query ibv_devinfo -v
		once query rdma link show
		once query rdma statistic show
		once query rdma resource show
		for port in /sys/class/infiniband/*/ports/1; do
			once query cat "$port"/{state,rate,phys_state,gids/0}
		done
	done
}

successes() {
	cat "$WORK"/successes.* 2> /dev/null | grep -cx "$1" || true
}

storm() {
	local loops=() pid

	ip netns add S
	on S ip link add d1 type dummy
	on S ip link add d2 type dummy
	on S ip link set d1 up
	loop_links 1 & loops+=($!)
	loop_links 2 & loops+=($!)
	loop_netdevs & loops+=($!)
	loop_namespaces & loops+=($!)
	[ ! -e /proc/self/ns/user ] || { loop_users & loops+=($!); }
	loop_queries & queries=$!
	for pid in "${loops[@]}"; do
		wait "$pid"
	done
	touch "$WORK/enough"
	wait "$queries"
}

setup_link
load_driver A
modprobe -qa dummy smc || true
storm
for what in link_add link_del netdev_del netns_del query; do
	check "storm: some $what succeeded" [ "$(successes $what)" -gt 0 ]
	ktap_diag "$what: $(successes $what)"
done
if [ -e /proc/self/ns/user ]; then
	check "storm: an unprivileged user's links are refused" [ "$(successes user_tried)" = "$ROUNDS" ]
else
	ktap_skip "storm: an unprivileged user's links are refused" "the kernel has no user namespaces"
fi
check "storm: nothing was stuck" [ ! -e "$WORK/stuck" ]
for device in /sys/class/infiniband/*; do
	[ ! -e "$device" ] || once link_del ip netns exec S rdma link delete "${device##*/}"
done
check "storm: all devices are gone" wait_for no_devices 10
check "storm: the UDP port is free" port_is_free S
check "storm: a new device" on S rdma link add last type "$DEV" netdev d1
check "storm: namespaces go" eval "ip netns delete S && wait_for no_devices 10"
check "storm: the module goes" rmmod mroce

# ---- queue pairs destroyed while their timers run -----------------------------------------------------------------------
churn() {
	local description=$1 output status=0

	shift
	output=$(timeout $((STRESS_S + 60)) "$TOOLS/mroce_churn" -A "$a" -B "$b" -s $(((STRESS_S + 2) / 3)) "$@" 2>&1) || status=$?
	if [ "$status" = 0 ]; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "status $status"
	fi
	ktap_diag "$output"
	CHURN_FAILED_WRS=$(sed -n 's/.* \([0-9]*\) messages failed.*/\1/p' <<< "$output")
}

# the kernel looks for the neighbour of every new queue pair, and everything is lost
on A ip neighbour replace "$(address B)" lladdr "$(on B cat /sys/class/net/vB/address)" nud permanent dev vA
on B ip neighbour replace "$(address A)" lladdr "$(on A cat /sys/class/net/vA/address)" nud permanent dev vB
slack_ms=$(($(patience 2) * 1000))
add_devices
ktap_diag "storm: $SECONDS s"
set_loss 100
churn "destroyed before the peer was ever heard" -m silent -l $slack_ms
set_loss 0
verify "data flows" -n 100
set_loss 100
churn "destroyed while the peer is silent" -m silent -l $slack_ms
check "some messages failed for want of an answer" [ "${CHURN_FAILED_WRS:-0}" -gt 0 ]
set_loss 0
verify "data flows again" -n 100
churn "destroyed while the peer is not ready" -m rnr -l $slack_ms
check "some messages failed for want of a receive" [ "${CHURN_FAILED_WRS:-0}" -gt 0 ]
verify "data flows after it" -n 100
check "no queue pair is left" eval "! rdma resource show qp | grep -q mroce_churn"
check "devices go" del_devices
ktap_diag "until here: $SECONDS s"

# ---- loading and unloading ----------------------------------------------------------------------------------------------
# Every other time with a device, every fourth with two and a connection between them
loads() {
	local round

	for ((round = 1; round <= LOADS; round++)); do
		rmmod mroce || return
		insmod "$MODULE" || return
		[ $((round % 2)) = 0 ] || continue
		on A rdma link add "$a" type "$DEV" netdev vA || return
		[ $((round % 4)) = 0 ] || continue
		on B rdma link add "$b" type "$DEV" netdev vB || return
		[ $((round % 40)) != 0 ] || { wait_for "device_is_ready A && device_is_ready B" 10 && verify_pair -n 10; } || return
	done
}
check "$LOADS times rmmod and insmod, with and without links" loads
ktap_diag "until here: $SECONDS s"
check "the module goes" rmmod mroce
check "nobody listens" eval "port_is_free A && port_is_free B"
