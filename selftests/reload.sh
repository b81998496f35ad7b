#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: qemu
# machines: 2
# limit_s: 150
# The peer's module is unloaded under traffic and loaded again: the programs end with an error, nothing of the old life
# disturbs the new one, and the machine that stayed needs nothing done to it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"

declare -A pid

received() {
	on B cat /sys/class/net/vB/statistics/rx_packets
}

setup_pair
for round in 1 2; do
	verify "round $round: READ, WRITE, SEND, atomics" -q 2 -n 100 --bidir

	# endless READs and WRITEs from A; what is in flight meets a machine without the module, then one that knows nothing
	before=$(received)
	RUN_PORT=$((RUN_PORT + 1))
	on B timeout -k 2 60 "$TOOLS/mroce_verify" -p "$RUN_PORT" -t 50 -D "$(device B)" > "$WORK/server" 2>&1 &
	pid[server]=$!
	wait_for "[ -n \"\$(on B ss -Hltn 'sport = :$RUN_PORT')\" ]" 20
	timeout -k 2 60 "$TOOLS/mroce_verify" -p "$RUN_PORT" -t 50 -D "$(device A)" -n 1000000000 --timeout 14 --bidir \
		"$(address B)" > "$WORK/client" 2>&1 &
	pid[client]=$!
	check "round $round: traffic flows" wait_for "[ \$(received) -gt $((before + 300)) ]" 30
	check "round $round: the peer's module goes" on B rmmod mroce
	load_driver B
	on B rdma link add "$(device B)" type "$DEV" netdev vB
	wait_for "device_is_ready B" 20
	for who in client server; do
		status=0
		wait "${pid[$who]}" || status=$?
		check "round $round: the $who ended with an error" \
			eval "[ $status = 1 ] && grep -q '^FAIL ' '$WORK/$who'"
		ktap_diag "$(tail -n 1 "$WORK/$who")"
	done
done
verify "after it: READ, WRITE, SEND, atomics" -q 2 -n 100 --bidir
check "the peer was seen to restart" [ "$(counter A conn_restart)" -ge 2 ]
check "devices and link go away" teardown_pair
