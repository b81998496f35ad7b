#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# Nobody can make the kernel keep more for him than he may: connections per device, memory by the memlock limit and by
# the memory cgroup. What is refused is refused cleanly, and what is given back is there again.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
ENOMEM=12 ENOSPC=28

# some DESCRIPTION LEAST MOST ERRNO KIND COUNT [SIZE]: mroce_limits on A, behind the words in LIMIT, makes so many and is
# then refused with that errno (0: never); all that was made is given back, and there again
some() {
	local description=$1 least=$2 most=$3 errno=$4 status=0 made error

	shift 4
	# shellcheck disable=SC2086
	on A timeout 60 ${LIMIT:-} "$TOOLS/mroce_limits" "$(device A)" "$@" > "$WORK/limits" 2>&1 || status=$?
	read -r made error <<< "$(sed -n 's/^made \([0-9]*\), errno \([0-9]*\)/\1 \2/p' "$WORK/limits")"
	ktap_diag "$*: $(cat "$WORK/limits")"
	check "$description" [ "${made:-0}" -ge "$least" -a "${made:-0}" -le "$most" -a "${error:-none}" = "$errno" ]
	check "$description: all given back" [ "$status" = 0 ]
}

# told SIDE WHAT OBJECT: a number of the first object that the program mroce shows
told() {
	on "$1" "$OUT/userspace/tool/mroce" -js "$3" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$2"
}

# allocated: bytes that queue pairs have, as the allocator rounds them (the core allocates the driver's objects)
allocated() {
	awk '/mroce_(qp|exec)\.c|ib_verbs\.h/ { n += $1 } END { print n + 0 }' /proc/allocinfo
}

# check_size DESCRIPTION COMMAND...
check_size() {
	if [ -n "$DEBUG_KERNEL" ]; then
		ktap_skip "$1" "what this kernel allocates is larger"
	else
		check "$@"
	fi
}

# What one more stream costs, and what a connection does that all its paths have carried data on
memory() {
	local n=512 before=0 pid bytes all

	bytes=$(told A bytes conn)
	ktap_diag "a connection of $(told A paths conn) paths: $bytes bytes"
	check_size "a connection of 8 paths takes at most 96 KiB" \
		[ "$(told A paths conn)" = 8 -a "$bytes" -le $((96 * 1024)) ]
	mkfifo "$WORK/hold"
	[ ! -r /proc/allocinfo ] || before=$(allocated)
	on A timeout 100 "$TOOLS/mroce_limits" "$(device A)" streams $n 1 hold < "$WORK/hold" > "$WORK/limits" 2>&1 &
	pid=$!
	exec 9> "$WORK/hold"
	wait_for "grep -q '^made $n' $WORK/limits" 60
	bytes=$(told A qp_bytes dev)
	all=$(told A qps_bytes dev)
	ktap_diag "an idle queue pair: $bytes bytes; $(told A qps dev) with the copies of their work requests: $all"
	check_size "an idle queue pair takes at most 6 KiB" [ "$bytes" -le $((6 * 1024)) ]
	if [ -r /proc/allocinfo ]; then
		bytes=$(($(allocated) - before))
		check "queue pairs: $bytes bytes are allocated, $all are told" \
			[ "$bytes" -ge "$all" -a "$bytes" -le $((all * 5 / 2)) ]
	fi
	exec 9>&-
	wait $pid || ktap_not_ok "queue pairs are given back" "$(cat "$WORK/limits")"
}

# is_idle: all that A's queue pairs have sent is accepted
is_idle() {
	on A rdma -dd -j resource show qp | python3 -c '
import json, sys
qps = [qp for qp in json.load(sys.stdin) if qp["type"] == "RC" and qp["ifname"] == sys.argv[1]]
sys.exit(not qps or any(qp["drv_una_psn"] != qp["drv_nxt_psn"] for qp in qps))' "$(device A)"
}

# idle_bytes: sets IDLE_BYTES, of A's queue pairs when its program stands still and what it has posted is done
idle_bytes() {
	kill -STOP "$CLIENT"
	check "what was posted comes to its end" wait_for is_idle 20
	IDLE_BYTES=$(told A qps_bytes dev)
	kill -CONT "$CLIENT"
}

# What losses have cost memory for is given back when a queue pair has nothing in flight. The rest, for what came too
# early, may stay: it has its place in the 6 KiB.
memory_after_loss() {
	local before after lost qps

	LIMIT_S=$(patience 60) start_traffic -q 16 -o write,send,read --relaxed --seconds "$(patience 50)" || true
	idle_bytes
	before=$IDLE_BYTES
	lost=$(counter A retrans_pkts)
	set_netem A loss 5%
	set_netem B loss 5%
	check "packets are lost" wait_for "[ \$(counter A retrans_pkts) -ge $((lost + 2000)) ]" "$(patience 20)"
	set_netem A
	set_netem B
	idle_bytes
	after=$IDLE_BYTES qps=$(told A qps dev)
	ktap_diag "$qps queue pairs, idle: $before bytes before $(($(counter A retrans_pkts) - lost)) retransmissions, $after after"
	check_size "an idle queue pair that has lost takes at most 6 KiB" \
		[ $((after - before)) -le $((qps * (6 * 1024 - $(told A qp_bytes dev)))) ]
	traffic_ends "the data was right"
}

setup_pair
verify "data before" -n 300
memory_after_loss

# Somebody answers for the peers that are not there
on A ip route add 10.9.1.0/24 via "$(address B)"
memory
parameter=/sys/module/mroce/parameters/max_conns
default=$(on A cat "$parameter")
on A sh -c "echo 8 > $parameter"
some "8 connections for 20 peers" 8 8 $ENOSPC peers 20
verify "unused connections make room for one that is wanted" -n 300
on A sh -c "echo $default > $parameter"
some "without that limit: 64 connections for 64 peers" 64 64 0 peers 64

# A ring of 1024 completions has 64 KiB and a page
LIMIT="setpriv --bounding-set=-ipc_lock prlimit --memlock=2097152"
some "memlock limit of 2 MiB: completion queues of 64 KiB" 20 32 $ENOMEM cqs 1000
some "memlock limit of 2 MiB: completion queues destroyed but still mapped" 20 32 $ENOMEM lost 200
some "memlock limit of 2 MiB: queue pairs of 40 KiB" 20 64 $ENOMEM qps 1000
some "memlock limit of 2 MiB: shared receive queues of 36 KiB" 20 57 $ENOMEM srqs 1000
some "memlock limit of 2 MiB: regions of 64 KiB" 20 32 $ENOMEM mrs 1000
LIMIT="prlimit --memlock=2097152"
some "with CAP_IPC_LOCK: 100 completion queues of 64 KiB" 100 100 0 cqs 100
if [ "$LANE" = uml ] && [ -z "$DEBUG_KERNEL" ]; then
	# elsewhere they take too much time, or memory
	most=$(on A ibv_devinfo -v -d "$(device A)" | awk '$1 == "max_srq:" { print $2 }')
	some "as many shared receive queues as the device says, $most" "$most" "$most" $ENOMEM srqs $((most + 10)) 1
fi

# At the limit of a cgroup one more is refused, and nobody is killed
cgroup=$WORK/cgroup
mkdir "$cgroup"
if mount -t cgroup2 none "$cgroup" 2> /dev/null && grep -qw memory "$cgroup/cgroup.controllers"; then
	echo +memory > "$cgroup/cgroup.subtree_control"
	mkdir "$cgroup/small"
	echo 33554432 > "$cgroup/small/memory.max"
	for kind in cqs qps srqs; do
		status=0
		# shellcheck disable=SC2016
		on A timeout 60 sh -c 'echo $$ > "$0/cgroup.procs"; exec "$@"' "$cgroup/small" \
			"$TOOLS/mroce_limits" "$(device A)" $kind 2000 > "$WORK/limits" 2>&1 || status=$?
		ktap_diag "$kind: status $status, $(cat "$WORK/limits"), $(tr '\n' ' ' < "$cgroup/small/memory.events")"
		made=$(sed -n 's/^made \([0-9]*\),.*/\1/p' "$WORK/limits")
		check "memory cgroup of 32 MiB: ${made:-no} $kind of 2000, the next is refused" \
			[ "${made:-0}" -gt 0 -a "${made:-0}" -lt 900 -a "$status" = 0 ]
		check "memory cgroup: its $kind were charged to it" \
			eval "[ \$(awk '\$1 == \"max\" {print \$2}' $cgroup/small/memory.events) -gt 0 ]"
	done
	check "nothing stays behind" wait_for "! rdma resource show qp | grep -q mroce_limits" 10
	rmdir "$cgroup/small"
	umount "$cgroup"
else
	umount "$cgroup" 2> /dev/null || true
	ktap_skip "memory cgroup of 32 MiB" "this kernel has no memory cgroups"
fi

verify "data after" -n 300
check "devices and link go away" teardown_pair
