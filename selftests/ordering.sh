#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# alone: yes
# limit_s: 240
# rows: ordering.json
# What strict ordering costs between paths of unlike delay: ib_write_bw, whose regions have relaxed ordering, as it is
# and with strict ordering asked for, in turns. Relaxed holds nothing; strict holds within its bound.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
ROUNDS=${ROUNDS:-3}
SKEW_MS=10
SIZE=65536
TARGET_STRICT=0.7		# of the relaxed rate
HOLD_LIMIT_BYTES=$((2 << 20))	# of one QP
declare -A sample=() held=([relaxed]=0 [strict]=0)

# measure ORDERING: one run
measure() {
	local ordering=$1 before

	before=$(counter B rx_held)
	perf "env MROCE_ORDERING=$ordering ib_write_bw" $SIZE 3 ||
		ktap_not_ok "$ordering: ib_write_bw runs" "$(perf_failure)"
	held[$ordering]=$((held[$ordering] + $(counter B rx_held) - before))
	sample[$ordering]+=" $PERF_VALUE"
	perf_row 0 ib_write_bw $SIZE "ordering=$ordering" "skew_ms=$SKEW_MS" kind=sample
}

setup_pair
setup_skew $SKEW_MS
for ((round = 0; round < ROUNDS; round++)); do
	measure relaxed
	measure strict
done
# shellcheck disable=SC2086
relaxed=$(median ${sample[relaxed]}) strict=$(median ${sample[strict]}) peak=$(counter B rx_hold_peak_bytes)
ratio=$(calc "$strict / ($relaxed + 1e-9)")
ktap_diag "relaxed ${sample[relaxed]} MB/s, strict ${sample[strict]} MB/s, held ${held[strict]}, at most $peak bytes," \
	"refused $(counter B rx_hold_refused)"
check "the paths are of unlike delay" [ "$(skew_spread A)" -ge 2 ]
check "relaxed moves data" [ "$(calc "$relaxed > 0" %d)" = 1 ]
check "relaxed holds nothing" [ "${held[relaxed]}" = 0 ]
check "strict holds packets" [ "${held[strict]}" -gt 0 ]
check "strict holds at most $HOLD_LIMIT_BYTES bytes: $peak" [ "$peak" -le $HOLD_LIMIT_BYTES ]
if is_slow; then
	# says what checking costs, not what order does
	ktap_diag "strict / relaxed: $ratio"
else
	check "strict / relaxed: $ratio (target $TARGET_STRICT)" [ "$(calc "$ratio >= $TARGET_STRICT" %d)" = 1 ]
fi
# The host's default; a word it does not know changes nothing
parameter=/sys/module/mroce/parameters/ordering
check "ordering is auto by default" [ "$(cat $parameter)" = auto ]
check "ordering refuses other words" eval "! echo sloppy > $parameter 2> /dev/null && [ \$(cat $parameter) = auto ]"
echo strict > $parameter
before=$(counter B rx_held)
check "a program that says nothing" perf ib_write_bw $SIZE 2
check "ordering=strict holds its packets" [ "$(counter B rx_held)" -gt "$before" ]
echo auto > $parameter
for side in A B; do
	set_link $side 0
done
check "devices and link go away" teardown_pair
