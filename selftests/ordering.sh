#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: none
# alone: yes
# limit_s: 240
# rows: ordering.json
# What strict ordering costs between paths of unlike delay: ib_write_bw, whose regions have relaxed ordering, as it is
# and with strict ordering asked for, in turns. Relaxed holds nothing; strict holds within its bound. Both are compared at
# a rate well below what the processors can do and the hold can keep: what strict holds at most, per delay, is a rate, too,
# and which of the two a machine meets first says nothing about the order.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
ROUNDS=${ROUNDS:-3}
SECONDS_EACH=${SECONDS_EACH:-3}
SKEW_MS=10
SIZE=65536
TARGET_STRICT=0.7		# of the relaxed rate
HOLD_LIMIT_BYTES=$((2 << 20))	# of one QP
HOLD_RATE=$((HOLD_LIMIT_BYTES * 1000 / SKEW_MS >> 20))	# MB/s: what strict cannot pass, however quick the machine is
declare -A sample=() held=([relaxed]=0 [strict]=0)

# measure ORDERING MBYTES_PER_S: one run; 0: as fast as it goes
measure() {
	local ordering=$1 rate=$2 before limit=()

	[ "$rate" = 0 ] || limit=(--rate_limit="$rate" --rate_units=M --rate_limit_type=SW)
	before=$(counter B rx_held)
	perf "env MROCE_ORDERING=$ordering ib_write_bw" $SIZE "$SECONDS_EACH" "${limit[@]}" ||
		ktap_not_ok "$ordering: ib_write_bw runs" "$(perf_failure)"
	held[$ordering]=$((held[$ordering] + $(counter B rx_held) - before))
	[ "$rate" = 0 ] || sample[$ordering]+=" $PERF_VALUE"
	perf_row 0 ib_write_bw $SIZE "ordering=$ordering" "skew_ms=$SKEW_MS" "rate_mbytes=$rate" kind=sample
}

setup_pair
setup_skew $SKEW_MS
measure relaxed 0
fastest=$PERF_VALUE
measure strict 0
ktap_diag "as fast as it goes: relaxed $fastest, strict $PERF_VALUE MB/s"
third=$(calc "$fastest / 3 < $HOLD_RATE / 2 ? $fastest / 3 : $HOLD_RATE / 2" %.0f)
for ((round = 0; round < ROUNDS; round++)); do
	measure relaxed "$third"
	measure strict "$third"
done
# shellcheck disable=SC2086
relaxed=$(median ${sample[relaxed]}) strict=$(median ${sample[strict]}) peak=$(counter B rx_hold_peak_bytes)
ratio=$(calc "$strict / ($relaxed + 1e-9)")
ktap_diag "relaxed ${sample[relaxed]} MB/s, strict ${sample[strict]} MB/s, held ${held[strict]}, at most $peak bytes," \
	"refused $(counter B rx_hold_refused)"
check "the paths are of unlike delay" [ "$(skew_spread A)" -ge 2 ]
check "relaxed moves data: $relaxed of $third MB/s" [ "$(calc "$relaxed > 0.6 * $third" %d)" = 1 ]
check "relaxed holds nothing" [ "${held[relaxed]}" = 0 ]
check "strict holds packets" [ "${held[strict]}" -gt 0 ]
check "strict holds at most $HOLD_LIMIT_BYTES bytes: $peak" [ "$peak" -le $HOLD_LIMIT_BYTES ]
if is_slow; then
	# says what checking costs, not what order does
	ktap_diag "strict / relaxed: $ratio"
else
	check "strict / relaxed at $third MB/s: $ratio (target $TARGET_STRICT)" [ "$(calc "$ratio >= $TARGET_STRICT" %d)" = 1 ]
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
