#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml
# quick_set: ROUNDS=1 SECONDS_EACH=2
# alone: yes
# limit_s: 600
# rows: targets.json
# The performance targets: 64 KiB writes and reads, rates and latencies of 8 byte operations, over a veth pair
# with jumbo frames, mroce and rxe in turns, median of 3 (in a quick run, 2). Loss is in both directions, on a link shaped to a third of
# mroce's own clean rate, and compared with what mroce reaches on that shaped link without loss. Ratios only: absolute
# figures mean nothing on a shared machine.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
ROUNDS=${ROUNDS:-3}
SECONDS_EACH=${SECONDS_EACH:-3}
SECONDS_SMALL=2
TARGET_BW=3		# times rxe
TARGET_SMALL=1		# 8 bytes, times rxe: rates, and rxe's time / mroce's time
TARGET_SHAPED=0.6	# of the shaped link's rate, without loss: less, and something else is the bottleneck
TARGET_LOSS_1=0.85	# of the rate without loss
TARGET_LOSS_5=0.65
declare -A sample=()
errors=0

# measure LABEL LOSS_PERCENT RATE TEST SIZE [ARGUMENTS...]: one run, kept under DEVICE.LABEL
measure() {
	local label=$DEV.$1 loss=$2 rate=$3 test=$4 size=$5

	shift 5
	set_loss "$loss" "$rate"
	perf "$test" "$size" "$SECONDS_EACH" "$@" || ktap_diag "$label: $(perf_failure)"
	sample[$label]+=" $PERF_VALUE"
	[ "$DEV" != mroce ] || errors=$((errors + PERF_ERRORS))
	perf_row "$loss" "$test" "$size" "kind=sample" ${rate:+"rate_mbytes=$rate"}
}

# middle LABEL: median of what was kept
middle() {
	# shellcheck disable=SC2086
	median ${sample[$1]:-0}
}

# target DESCRIPTION RATIO LEAST
target() {
	if [ "$(calc "$2 >= $3" %d)" = 1 ]; then
		ktap_ok "$1: $2 (target $3)"
	else
		ktap_not_ok "$1: $2 (target $3)"
	fi
}

# ratio A B
ratio() {
	[ "$(calc "$2 > 0" %d)" = 1 ] || { echo 0; return; }
	calc "$1 / $2"
}

# against_rxe LABEL: mroce's rate, times rxe's
against_rxe() {
	ratio "$(middle "mroce.$1")" "$(middle "rxe.$1")"
}

# spread_receive CPUS: which processors receive (a mask; 0: the one that sends). A NIC's interrupts come to others than the
# sender's, a veth pair's packets do not unless told so; then one processor does the work of both hosts. The programs have
# to stay on another one, too: where they are is chance otherwise.
spread_receive() {
	local side

	for side in A B; do
		on $side bash -c "echo $1 > /sys/class/net/v$side/queues/rx-0/rps_cpus"
	done
}

# small_rates LABEL [ARGUMENTS...]: 8 byte reads and atomics
small_rates() {
	local label=$1 op

	shift
	for op in read atomic; do
		SECONDS_EACH=$SECONDS_SMALL measure "${op}_$label" 0 0 ib_${op}_bw 8 "$@"
	done
}

# one_and_spread: 8 byte reads and atomics one by one, received by the processor that sends and by another
one_and_spread() {
	small_rates one
	spread_receive 2
	PERF_CPU=0 small_rates spread
	spread_receive 0
}

# A quick run asks about less
LAT_OPS=$([ -n "${QUICK:-}" ] && echo write || echo write read atomic)
setup_link
keep_awake
for ((round = 0; round < ROUNDS; round++)); do
	for DEV in mroce rxe; do
		add_devices
		measure write_bw 0 0 ib_write_bw 65536
		measure read_bw 0 0 ib_read_bw 65536
		for op in $LAT_OPS; do
			measure "${op}_lat" 0 0 "ib_${op}_lat" 8
		done
		small_rates list -l 16
		[ -n "${QUICK:-}" ] || one_and_spread
		del_devices
	done
done

DEV=mroce
add_devices
third=$(calc "$(middle mroce.write_bw) / 3" %.0f)
for ((round = 0; round < ROUNDS; round++)); do
	for loss in 0 1 5; do
		measure "loss_$loss" "$loss" "$third" ib_write_bw 65536
	done
done
measure loss_10 10 0 ib_write_bw 65536
measure loss_10_lat 10 0 ib_write_lat 8
set_loss 0
del_devices

for op in write read; do
	target "ib_${op}_bw 64 KiB, mroce / rxe" "$(against_rxe ${op}_bw)" $TARGET_BW
done
for op in $LAT_OPS; do
	target "ib_${op}_lat 8 B, rxe / mroce" "$(ratio "$(middle "rxe.${op}_lat")" "$(middle "mroce.${op}_lat")")" $TARGET_SMALL
done
for op in read atomic; do
	target "ib_${op}_bw 8 B, 16 in a list, mroce / rxe" "$(against_rxe ${op}_list)" $TARGET_SMALL
	[ -z "${QUICK:-}" ] || continue
	target "ib_${op}_bw 8 B, received on the other processor, mroce / rxe" "$(against_rxe ${op}_spread)" $TARGET_SMALL
	# About as fast as rxe, sometimes above and sometimes below: mroce does all in one place then, rxe uses the other
	# processor, too.
	ktap_diag "ib_${op}_bw 8 B, received where it is sent, mroce / rxe: $(against_rxe ${op}_one)"
done
target "no loss at $third MB/s, reached / link" "$(ratio "$(middle mroce.loss_0)" "$third")" $TARGET_SHAPED
target "1 % loss at $third MB/s, lossy / clean" "$(ratio "$(middle mroce.loss_1)" "$(middle mroce.loss_0)")" $TARGET_LOSS_1
target "5 % loss at $third MB/s, lossy / clean" "$(ratio "$(middle mroce.loss_5)" "$(middle mroce.loss_0)")" $TARGET_LOSS_5
if [ "$errors" = 0 ]; then
	ktap_ok "no completion error up to 10 % loss"
else
	ktap_not_ok "no completion error up to 10 % loss" "$errors errors"
fi
