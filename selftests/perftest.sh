#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml qemu
# limit_s: 240
# rows: perftest.json
# Unmodified perftest programs between the two sides, clean and with loss: they end, move data and see no error.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# measure LOSS_PERCENT TEST SIZE_BYTES [ARGUMENTS...]
measure() {
	local loss=$1 test=$2 size=$3 name

	shift 3
	name="$test $size bytes${*:+ $*}, $loss % loss"
	if perf "$test" "$size" 2 "$@"; then
		ktap_ok "$name: $PERF_VALUE $PERF_UNIT"
	else
		ktap_not_ok "$name" "$(perf_failure)"
	fi
	perf_row "$loss" "$test" "$size"
}

setup_pair
check "ibv_devinfo shows the device" on A ibv_devinfo -d "$(device A)"
for loss in 0 1; do
	set_loss "$loss"
	measure "$loss" ib_write_bw 65536
	measure "$loss" ib_send_bw 65536
	measure "$loss" ib_write_lat 8
	measure "$loss" ib_send_lat 8
done
set_loss 0
measure 0 ib_write_bw 65536 -q 4
measure 0 ib_write_bw 1048576 -b
check "devices and link go away" teardown_pair
