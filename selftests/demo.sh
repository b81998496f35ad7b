#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: qemu
# machines: 2
# alone: yes
# limit_s: 300
# rows: demo.json
# Two machines with Debian's stock kernel, joined by one link with jumbo frames. On each: load the module, add the
# device, look at it. Then unmodified perftest programs between the two, on the clean link and with netem dropping 1 %
# of the packets in each direction; and the same with rxe on the same link. Each device goes before the next one comes.
#   QUICK=1    mroce only, short: the test of 'make check'
set -euo pipefail
. "$(dirname "$0")/lib.sh"
seconds=4
devices="mroce rxe"
[ -z "${QUICK:-}" ] || seconds=2 devices=$DEV

# measure LOSS_PERCENT TEST SIZE_BYTES: a failure of mroce fails the demo, one of rxe is reported as a rate of 0
measure() {
	local name="$DEV $2 $3 bytes, $1 % loss"

	if perf "$2" "$3" "$seconds"; then
		ktap_ok "$name: $PERF_VALUE $PERF_UNIT"
	elif [ "$DEV" = rxe ] && [ "$1" != 0 ]; then
		ktap_ok "$name: fails, $PERF_ERRORS errors"
	else
		ktap_not_ok "$name" "$(perf_failure)"
	fi
	perf_row "$1" "$2" "$3"
}

setup_link
for DEV in $devices; do
	check "$DEV: load, rdma link add" add_devices
	check "$DEV: ibv_devinfo" on A ibv_devinfo -d "$(device A)"
	for loss in 0 1; do
		set_loss $loss
		measure $loss ib_write_bw 65536
		measure $loss ib_send_bw 65536
		measure $loss ib_write_lat 8
	done
	set_loss 0
	check "$DEV: rdma link delete" del_devices
done
if [ -d /sys/module/mroce ]; then
	check "unload" on A rmmod mroce
fi
