#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: uml
# limit_s: 240
# One connection, many streams: a thousand queue pairs between two devices use one connection for each DSCP; a stream that
# is stalled does not delay others; users get the same of it however many streams they have.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
SIZE=65536
RATE=$(is_slow && echo 5 || echo 40)	# MB/s of the link: far below what the processors can do
SECONDS_EACH=4
QPS=$(is_slow && echo 300 || echo 1000)
declare -A both=()

# start_perf NAME COMMAND...: a perftest pair in the background; returns when it moves data. Ends: stop_perf NAME
start_perf() {
	local name=$1 port before

	shift
	RUN_PORT=$((RUN_PORT + 1)) port=$RUN_PORT
	ip netns exec B "$@" -p $port -d "$(device B)" > "$WORK/$name.server" 2>&1 &
	both[$name]=$!
	wait_for "[ -n \"\$(on B ss -Hltn 'sport = :$port')\" ]" 20
	before=$(packets_received)
	ip netns exec A "$@" -p $port -d "$(device A)" "$(address B)" > "$WORK/$name.client" 2>&1 &
	both[$name]+=" $!"
	wait_for "[ \$(packets_received) -gt $((before + 200)) ]" 20
}

stop_perf() {
	# shellcheck disable=SC2086
	kill -9 ${both[$1]} 2> /dev/null || true
	# shellcheck disable=SC2086
	wait ${both[$1]} 2> /dev/null || true
}

# rate: of a program with one queue pair
rate() {
	perf ib_write_bw $SIZE $SECONDS_EACH || { perf_failure >&2; PERF_VALUE=0; }
	echo "$PERF_VALUE"
}

setup_pair
LIMIT_S=100 verify "$QPS QPs" -q "$QPS" -n 4 -s 4096
check "$QPS QPs share one connection" [ "$(counter A 'conn_open')" = 1 ]
LIMIT_S=100 verify "$QPS QPs of another DSCP" -q "$QPS" -n 4 -s 4096 --tclass 40
check "another DSCP is another connection" [ "$(counter A 'conn_open')" = 2 ]

for side in A B; do
	set_link $side "$RATE"
done
# A receiver that has stopped posting: its sender is told so again and again
alone=$(rate)
start_perf stalled ib_send_bw -F -s $SIZE -D 100
# shellcheck disable=SC2086
set -- ${both[stalled]}
kill -STOP "$1"
check "a stream is stalled" wait_for "[ \$(counter A rnr_rx) -gt 3 ]" 20
beside=$(rate)
before=$(counter A rnr_rx)
check "it still is" wait_for "[ \$(counter A rnr_rx) -gt $before ]" 20
kill -CONT "$1"
stop_perf stalled
ktap_diag "alone $alone MB/s, beside a stalled stream $beside MB/s"
# Each RNR timer, 0.64 ms, brings the first packet again: that is on the link, too
check "a stalled stream does not delay another: $(calc "$beside / ($alone + 1e-9)") (target 0.8)" \
	[ "$(calc "$beside >= 0.8 * $alone" %d)" = 1 ]

# completed: "QPN completions" of each of A's queue pairs, for join
completed() {
	on A rdma -dd -j resource show qp | python3 -c '
import json, sys
for qp in json.load(sys.stdin):
    if qp["type"] == "RC" and qp["ifname"] == sys.argv[1]:
        print(qp["lqpn"], qp["drv_sq_cons"])' "$(device A)" | sort
}

# have_completed FILE N: since the file, on the average
have_completed() {
	completed | join "$1" - | awk -v n="$2" '{ sum += $3 - $2 } END { exit !(NR && sum >= n * NR) }'
}

# One program with many queue pairs; then with one beside it
start_perf many ib_write_bw -F -s $SIZE -D 100 -q 32
completed > "$WORK/start"
check "32 queue pairs of a program all go on" wait_for "have_completed $WORK/start 120" "$(patience 60)"
completed | join "$WORK/start" - | awk '{ n = $3 - $2; if (NR == 1 || n < least) least = n; if (n > most) most = n }
	END { print least + 0, most + 0, NR }' > "$WORK/shares"
read -r least most n < "$WORK/shares"
check "they share equally: $least to $most messages each (target 0.8)" [ "$n" = 32 -a $((least * 10)) -ge $((most * 8)) ]
share=$(rate)
stop_perf many
ktap_diag "alone $alone MB/s, beside 32 queue pairs of another program $share MB/s"
check "users share equally: $(calc "$share / ($alone + 1e-9)") of the link (target 0.4)" \
	[ "$(calc "$share >= 0.4 * $alone" %d)" = 1 ]
for side in A B; do
	set_link $side 0
done
verify "data flows after all" -n 300
check "devices and link go away" teardown_pair
