#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: debug
# quick_set: FUZZ_S=8 SCRIBBLE_S=10
# limit_s: 300
# The worst that others can do: a host on the way, which sees the packets of a connection and sends mutated copies; and a
# program that scribbles in the rings it shares with the kernel. The connection, the program's own queue pairs may suffer.
# Nobody else does, the kernel least of all, and when it is over a new connection works.
#   FUZZ_S=12   length of the former   FUZZ_RATE=2000 packets a second   SCRIBBLE_S=15   length of the latter
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
SEED=${SEED:-1} FUZZ_S=${FUZZ_S:-12} FUZZ_RATE=${FUZZ_RATE:-2000} SCRIBBLE_S=${SCRIBBLE_S:-15}
ktap_diag "seed $SEED"

# prey: traffic on the connection under attack, over IPv4, again and again. Every run comes to an end of its own, good or
# bad, long before its limit. Counts the runs in $WORK/prey, and says there which did not end.
prey() {
	local port=19000 run=0 client server status

	while [ ! -e "$WORK/prey.stop" ]; do
		port=$((port + 1)) run=$((run + 1))
		on B timeout -k 1 50 "$TOOLS/mroce_verify" -p "$port" -t 20 -D "$(device B)" > "$WORK/prey.b" 2>&1 &
		server=$!
		sleep 0.2
		client=0
		on A timeout -k 1 50 "$TOOLS/mroce_verify" -p "$port" -t 20 --timeout 12 --retry 2 -q 2 -S "$run" --bidir \
			--seconds 4 --vary -D "$(device A)" "$(address B)" > "$WORK/prey.a" 2>&1 || client=$?
		status=0
		wait "$server" || status=$?
		[ "$status" -lt 124 ] || client=$status
		if [ "$client" -lt 124 ]; then echo "run $run: ended"; else echo "run $run: status $client"; fi >> "$WORK/prey"
	done
}

# fuzz SIDE: mutated copies of what that side sends
fuzz() {
	on "$1" timeout $((FUZZ_S + 100)) "$TOP/selftests/tools/mroce_fuzz.py" --seed "$SEED" --rate "$FUZZ_RATE" --seconds "$FUZZ_S" "v$1"
}

# recovers DESCRIPTION: data flows again on the connection that was attacked. Packets of the attack may have moved its
# windows, and may have shown it a peer that is none; it finds out within seconds.
recovers() {
	local try

	for try in 1 2 3 4 5 6; do
		! verify_pair -S "$SEED" -q 2 -n 300 --bidir || break
	done
	check "$1: a new queue pair works (try $try)" [ "$try" -lt 6 ]
}

setup_pair
verify "data before" -S "$SEED" -n 300
drops=$(($(counter A 'drop_.*') + $(counter B 'drop_.*')))
prey &
prey=$!
fuzz A > "$WORK/fuzz.a" 2>&1 &
fuzz_a=$!
fuzz B > "$WORK/fuzz.b" 2>&1 &
fuzz_b=$!
runs=0
while kill -0 "$fuzz_a" 2> /dev/null || kill -0 "$fuzz_b" 2> /dev/null; do
	verify "another connection between the same devices, run $((runs += 1))" -6 -S "$SEED" -q 2 -n 500 --bidir
	[ "$VERIFIED" = 1 ] || break
done
check "mutated packets of A were sent" wait "$fuzz_a"
check "mutated packets of B were sent" wait "$fuzz_b"
ktap_diag "A: $(cat "$WORK/fuzz.a")"
ktap_diag "B: $(cat "$WORK/fuzz.b")"
touch "$WORK/prey.stop"
check "programs on the attacked connection come to an end" wait_for "! kill -0 $prey 2> /dev/null" 60
wait "$prey" || true
ktap_diag "$(cat "$WORK/prey")"
check "all of their runs ended by themselves" eval "grep -q ended $WORK/prey && ! grep -v ended $WORK/prey"
drops=$(($(counter A 'drop_.*') + $(counter B 'drop_.*') - drops))
check "dropped packets are counted ($drops)" [ "$drops" -gt 1000 ]
recovers "after mutated packets"

# leap SIDE-ATTACKED: somebody who sees the packets moves the receiving windows of all paths
leap() {
	local target=$1 source=A before sent

	[ "$target" = B ] || source=B
	before=$(counter "$target" drop_window)
	on "$source" timeout 60 "$TOP/selftests/tools/mroce_forge.py" --seed "$SEED" --count 8 \
		--source "$(address "$source")" "v$source" \
		"$(on "$target" cat "/sys/class/net/v$target/address")" "$(address "$target")" LEAP > "$WORK/leap" 2>&1 &
	forger=$!
	verify "data goes on while the windows of $target are moved away from it" -S "$SEED" -q 2 --seconds 5 --bidir
	check "numbers far ahead were sent to $target" wait "$forger"
	sent=$(sed -n 's/^sent \([0-9]*\) packets/\1/p' "$WORK/leap")
	check "packets fell outside of the windows (${sent:-no} paths)" \
		[ "${sent:-0}" -gt 0 -a "$(counter "$target" drop_window)" -ge $((before + ${sent:-0} * 3)) ]
	recovers "after the windows of $target were moved"
}

leap B
leap A

# From here on one program opens both devices, so it lives outside of the namespaces
"$TOOLS/mroce_scribble" --seed "$SEED" --seconds "$SCRIBBLE_S" "$(device A)" "$(device B)" > "$WORK/scribble" 2>&1 &
scribbler=$!
runs=0
while kill -0 "$scribbler" 2> /dev/null; do
	verify "other programs' data while rings are scribbled in, run $((runs += 1))" -S "$SEED" -q 2 -n 1000 --bidir
	[ "$VERIFIED" = 1 ] || break
done
check "rings were scribbled in, nothing else of the program changed" wait "$scribbler"
ktap_diag "$(cat "$WORK/scribble")"
check "nothing of the program is left" wait_for "! rdma resource show qp | grep -q mroce_scribble" 5
recovers "after scribbling"
check "devices and link go away" teardown_pair
