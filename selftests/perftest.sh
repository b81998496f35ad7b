#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: none
# limit_s: 400
# rows: perftest.json
# Unmodified perftest programs between the two sides: what they can be asked for, and some of it with loss. They end,
# report every size, and see no error.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
ALL_SIZES=23			# rows of -a: 2 bytes to 8 MiB

# What a quick run has: each program, each option once
quick_matrix() {
	local op

	for op in write send read; do
		echo "ib_${op}_bw -a"
		echo "ib_${op}_lat -a"
	done
	echo "ib_write_bw -q 8"
	echo "ib_send_bw -b"
	echo "ib_read_bw -l 16"
	echo "ib_write_bw -s 64 -I 64"
	echo "ib_send_lat -e"
	for op in FETCH_AND_ADD CMP_AND_SWAP; do
		echo "ib_atomic_bw -A $op"
		echo "ib_atomic_lat -A $op"
	done
	echo "ib_atomic_bw -q 8"
	echo "ib_atomic_lat -e"
}

# One run a line: program and options. Without -s: 64 KiB for _bw, 8 bytes for _lat; atomics have 8. What writes to memory
# only watches it: no events.
matrix() {
	local op event

	for op in write send read; do
		event=-e
		[ $op != write ] || event=
		echo "ib_${op}_bw -a"
		echo "ib_${op}_lat -a"
		[ $op = read ] || echo "ib_${op}_bw -s 64 -I 64"
		[ $op = read ] || echo "ib_${op}_lat -I 64"
		[ -z "$event" ] || echo "ib_${op}_lat -e"
		if [ "$LANE" = qemu ]; then
			# to start a program takes longer than its work: two options at once
			echo "ib_${op}_bw -q 8 -b"
			echo "ib_${op}_bw -l 16${event:+ $event}"
		else
			echo "ib_${op}_bw -q 8"
			echo "ib_${op}_bw -b"
			echo "ib_${op}_bw -l 16"
			[ -z "$event" ] || echo "ib_${op}_bw -e"
		fi
	done
	for op in FETCH_AND_ADD CMP_AND_SWAP; do
		echo "ib_atomic_bw -A $op"
		echo "ib_atomic_lat -A $op"
	done
	if [ "$LANE" = qemu ]; then
		echo "ib_atomic_bw -q 8 -b"
		echo "ib_atomic_bw -l 16 -e"
	else
		for op in "-q 8" -e -b "-l 16"; do
			echo "ib_atomic_bw $op"
		done
	fi
	echo "ib_atomic_lat -e"
}

# iterations COMMAND: enough to have the queues full, fewer where every instruction is emulated; multiples of 16 for -l
iterations() {
	local n=960

	case $1 in
	*" -a") n=$([ -n "${QUICK:-}" ] && echo 8 || echo 20) ;;
	*_lat*) n=480 ;;
	esac
	[ "$LANE" != qemu ] || n=$((n / 4))
	echo "$n"
}

# rows TEST QPS: a row for every size in the output of the last run
rows() {
	local test=$1 qps=$2 size value column=4

	[ "$PERF_UNIT" = MB/s ] || column=5
	while read -r size value; do
		json_row "device=$DEV" "test=${test#ib_}" "size_bytes=$size" "qps=$qps" "mtu=$MTU" loss_pct=0 \
			"value=$value" "unit=$PERF_UNIT" errors=0
	done <<< "$(awk -v c=$column '/^ [0-9]/ {print $1, $c}' "$WORK/client")"
}

# run COMMAND: one line of the matrix
run() {
	local command=$1 test=${1%% *} expected=1 limit_s=40 try qps=1

	PERF_UNIT=MB/s
	[[ $test == *_bw ]] || PERF_UNIT=us
	case $command in
	*" -a") expected=$ALL_SIZES ;;
	*" -s "* | ib_atomic_*) ;;
	*_lat*) command+=" -s 8" ;;
	*) command+=" -s 65536" ;;
	esac
	if [[ $command == *"-q 8"* ]]; then
		qps=8
		# Must divide the iterations: perftest counts every completion as so many requests. With some left over it
		# believes to have all, polls no more, and a queue pair that waits for one of them never posts its last.
		command+=" -Q 60"
	fi
	command+=" -F -n $(iterations "$1")"
	[ "$LANE" != qemu ] || limit_s=120
	for try in 1 2 3; do
		perf_once "$command" $limit_s
		[ "$PERF_ERRORS" != 0 ] || [ "$(grep -cE '^ [0-9]' "$WORK/client")" != $expected ] || break
		if [ $try = 3 ] || ! perf_is_mistimed; then
			ktap_not_ok "$1" "$(perf_failure)"
			return
		fi
		echo "perftest: no clock rate in try $try of $command" >&2
	done
	ktap_ok "$1"
	perf_is_mistimed || rows "$test" $qps
}

# lossy TEST SIZE_BYTES: two seconds with 1 % loss
lossy() {
	if perf "$1" "$2" 2; then
		ktap_ok "$1 $2 bytes, 1 % loss: $PERF_VALUE $PERF_UNIT"
	else
		ktap_not_ok "$1 $2 bytes, 1 % loss" "$(perf_failure)"
	fi
	perf_row 1 "$1" "$2"
}

setup_pair
check "ibv_devinfo shows the device" on A ibv_devinfo -d "$(device A)"
mapfile -t commands <<< "$(if [ -n "${QUICK:-}" ]; then quick_matrix; else matrix; fi)"
for command in "${commands[@]}"; do
	run "$command"
done
set_loss 1
for op in write send read; do
	lossy ib_${op}_bw 65536
	[ "$LANE" = qemu ] || lossy ib_${op}_lat 8
done
lossy ib_atomic_lat 8
set_loss 0
check "devices and link go away" teardown_pair
