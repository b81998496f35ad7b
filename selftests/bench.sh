#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml qemu
# quick: none
# machines: 2
# alone: yes
# limit_s: 7200
# rows: bench.json
# mroce, rxe, siw and TCP on one link, in turns: see Documentation/benchmarks.rst. Figures, no thresholds (those are in
# targets.sh): a result is that every program ran and gave a figure.
#   BENCH_TESTS="write_bw ..."  default: all, see TESTS
#   SIZES="65536 ..."           bytes of the bandwidth tests; the first is the one measured with loss
#   LOSS="0.1 1"                per cent in each direction; 0: no runs with loss
#   ROUNDS=3                    how often; unless 'make bench' asks for more, one short round
set -euo pipefail
. "$(dirname "$0")/lib.sh"
TESTS="write_bw send_bw read_bw write_lat send_lat read_lat atomic_lat rate rate_list"
CONTENDERS="mroce rxe siw tcp tcp-single"
ROUNDS=${ROUNDS:-1}
seconds=2
if [ "$ROUNDS" = 1 ]; then
	seconds=1 LOSS=${LOSS:-1}
fi
LOSS=${LOSS:-0.1 1}
SIZES=${SIZES:-65536}
LAT_BYTES=16		# the least sockperf can send is 14
SMALL_BYTES=8		# of atomics and of the message rate
declare -A sample=() p99=() errors=() failure=() lost=()
single_max=0 segmented_max=0	# largest mean size of a TCP sender's packets, bytes

# ---- who can do what -------------------------------------------------------------------------------------------------
# obstacle TEST: why $DEV cannot do it; nothing if it can
obstacle() {
	case $LANE.$DEV.$1 in
	qemu.siw.*) echo "not in Debian's kernels" ;;
	*.siw.atomic_*) echo "iWARP has no atomics" ;;
	*.tcp*.read_lat | *.tcp*.atomic_*) echo "TCP has no such operation" ;;
	*.tcp*.rate_list) echo "TCP has no lists" ;;
	esac
}

# enter, leave: what has to be there while $DEV is measured
enter() {
	case $DEV in
	tcp) ;;
	tcp-single) segment off 1 ;;
	*) add_devices ;;
	esac
}

leave() {
	case $DEV in
	tcp) ;;
	tcp-single) segment on 65535 ;;
	*) del_devices ;;
	esac
}

# segment on|off MAX: whether TCP gives the interface several segments as one packet. The features alone do not stop it:
# the packets were cut on their way out, behind the queue that drops.
segment() {
	local side

	for side in A B; do
		# fails if one of them cannot be changed
		on $side ethtool -K v$side gso "$1" tso "$1" gro "$1" >&2 || true
		on $side ip link set v$side gso_max_segs "$2"
	done
}

# ---- one run ---------------------------------------------------------------------------------------------------------
# Each sets value, unit and, of latencies, tail; fails if there is no value.
# run_verbs TEST SIZE
run_verbs() {
	local test=ib_$1 options=() try

	[ "$DEV" != siw ] || options=(-R)
	[ "$1" != rate_list ] || options+=(-l 16)
	[[ $1 != rate* ]] || test=ib_write_bw
	# a busy machine has no clock rate for some time
	for try in 1 2 3; do
		! perf "$test" "$2" $seconds "${options[@]}" || break
		[ $try != 3 ] && perf_is_mistimed || return
	done
	case $1 in
	*_lat) value=$PERF_VALUE tail=$PERF_P99 ;;
	rate*) value=$(calc "$PERF_VALUE * 1048.576 / $2" %.3f) ;;
	*) value=$(calc "$PERF_VALUE" %.3f) ;;
	esac
}

# run_tcp_stream TEST SIZE: the receiver's rate, without the first second; perftest leaves out some of its time, too
run_tcp_stream() {
	local command="iperf3 -p $RUN_PORT" reverse='' sender=A before

	[ "$1" != read_bw ] || reverse=-R sender=B
	before=$(sent $sender)
	run_pair "$command -s -1" \
		"$command -c $(address B) $reverse -C cubic -O 1 -t $seconds -l $2 -f K" $((seconds + 25)) || return
	read -r value <<< "$(awk '/KBytes\/sec.*receiver/ {for (i = 1; i < NF; i++) if ($(i + 1) == "KBytes/sec") print $i}' \
		"$WORK/client")"
	note_packets "$before" "$(sent $sender)"
	case $1 in
	rate) value=$(calc "${value:-0} * 1.024 / $2" %.3f) ;;
	*) value=$(calc "${value:-0} / 1024" %.3f) ;;
	esac
	[ "$(calc "$value > 0" %d)" = 1 ]
}

# run_tcp_latency SIZE: half a round trip, as perftest has it. The server would wait for ever, but run_pair ends that of
# a client which fails: so this one always does, and what it printed counts.
run_tcp_latency() {
	local to

	to="--tcp -i $(address B) -p $RUN_PORT"
	! run_pair "sockperf sr $to" "bash -c 'sockperf pp $to -m $1 -t $seconds; exit 1'" $((seconds + 25)) || return
	value=$(awk '/percentile 50.000/ {print $NF}' "$WORK/client")
	tail=$(awk '/percentile 99.000/ {print $NF}' "$WORK/client")
	[ -n "$value" ] && [ -n "$tail" ]
}

# sent SIDE: bytes and packets
sent() {
	on "$1" cat "/sys/class/net/v$1/statistics/tx_bytes" "/sys/class/net/v$1/statistics/tx_packets"
}

# note_packets BEFORE AFTER: keep the largest mean size
note_packets() {
	local mean

	# shellcheck disable=SC2086
	set -- $1 $2
	mean=$((($3 - $1) / ($4 - $2 + 1)))
	if [ "$DEV" = tcp ]; then
		[ $mean -le $segmented_max ] || segmented_max=$mean
	else
		[ $mean -le $single_max ] || single_max=$mean
	fi
}

# measure LOSS RATE TEST SIZE: one run of $DEV; rate 0 is the link as it is
measure() {
	local key="$DEV $*" value='' tail='' status=0

	case $DEV.$3 in
	tcp*_lat) RUN_PORT=$((RUN_PORT + 1)); run_tcp_latency "$4" || status=1 ;;
	tcp*) RUN_PORT=$((RUN_PORT + 1)); run_tcp_stream "$3" "$4" || status=1 ;;
	*) run_verbs "$3" "$4" || status=1 ;;
	esac
	if [ $status != 0 ]; then
		# a rate of 0, and no time at all
		value=0 tail=
		[[ $3 != *_lat ]] || value=
		errors[$key]=$((${errors[$key]:-0} + 1))
		failure[$key]=$(perf_failure)
	fi
	[ -z "$value" ] || sample[$key]+=" $value"
	[ -z "$tail" ] || p99[$key]+=" $tail"
	echo "bench: $key: ${value:-failed} $tail" >&2
}

# sizes_of TEST
sizes_of() {
	case $1 in
	*_bw) echo "$SIZES" ;;
	atomic_lat | rate*) echo $SMALL_BYTES ;;
	*) echo $LAT_BYTES ;;
	esac
}

# ---- the link --------------------------------------------------------------------------------------------------------
# shape LOSS RATE: both directions. netem drops and shapes, as in set_link. It would take several segments of TCP's for
# one packet; the bucket before it, too small for more than one, cuts them first, as a NIC does. It limits nothing.
shape() {
	local side netem=()

	[ "$1" = 0 ] || netem=(loss "$1%")
	for side in A B; do
		set_link $side 0
		[ "$2" != 0 ] || continue
		on $side tc qdisc add dev v$side root handle 1: tbf rate 100gbit burst $((MTU + 200)) limit 1g
		on $side tc qdisc add dev v$side parent 1: handle 2: netem limit 20000 \
			rate "$(calc "$2 * 8 * 1.048576" %.0f)mbit" "${netem[@]}"
	done
}

# drops SIDE: packets
drops() {
	on "$1" tc -s qdisc show dev "v$1" | awk '/^qdisc/ {counts = $2 == "netem"}
		counts && /dropped/ {sub(/.*dropped /, ""); n += $1} END {print n + 0}'
}

# third_of_slowest: MB/s, of the first size; what failed does not count
third_of_slowest() {
	local test slowest='' rate

	for test in $bandwidths; do
		for DEV in $CONTENDERS; do
			[ -z "$(obstacle "$test")" ] || continue
			# shellcheck disable=SC2086
			rate=$(median ${sample[$DEV 0 0 $test ${SIZES%% *}]})
			[ "$(calc "$rate > 0" %d)" = 1 ] || continue
			if [ -z "$slowest" ] || [ "$(calc "$rate < $slowest" %d)" = 1 ]; then
				slowest=$rate
			fi
		done
	done
	[ -n "$slowest" ] && calc "$slowest / 3" %.0f
}

# in_turns FUNCTION: every contender in every round
in_turns() {
	local round

	for ((round = 0; round < ROUNDS; round++)); do
		for DEV in $CONTENDERS; do
			[ -z "$(obstacle any)" ] || continue
			enter
			"$1"
			leave
		done
	done
}

measure_clean() {
	local test size

	for test in $BENCH_TESTS; do
		[ -z "$(obstacle "$test")" ] || continue
		for size in $(sizes_of "$test"); do
			measure 0 0 "$test" "$size"
		done
	done
}

measure_lossy() {
	local test loss

	for loss in 0 $LOSS; do
		shape "$loss" "$third"
		for test in $bandwidths; do
			measure "$loss" "$third" "$test" "${SIZES%% *}"
		done
		lost[$loss]=$((${lost[$loss]:-0} + $(drops A) + $(drops B)))
	done
	shape 0 0
}

# ---- results ---------------------------------------------------------------------------------------------------------
unit_of() {
	case $1 in
	*_bw) echo MB/s ;;
	*_lat) echo us ;;
	*) echo kmsg/s ;;
	esac
}

# is_good KEY LOSS: mroce's runs all succeed, and one of each other; that rxe gives up under loss is a figure, too
is_good() {
	case $DEV in
	mroce) [ -z "${errors[$1]:-}" ] ;;
	rxe) [ "$2" != 0 ] || [ "${errors[$1]:-0}" -lt "$ROUNDS" ] ;;
	*) [ "${errors[$1]:-0}" -lt "$ROUNDS" ] ;;
	esac
}

# report LOSS RATE TEST SIZE: row and result of all rounds of $DEV
report() {
	local loss=$1 rate=$2 test=$3 key="$DEV $*" name row values middle kept='' least most

	name="$DEV $test $4 bytes"
	[ "$rate" = 0 ] || name+=", $loss % loss at $rate MB/s"
	row=("device=$DEV" "test=$test" "size_bytes=$4" qps=1 "mtu=$MTU" "loss_pct=$loss" "kernel=$(uname -r)")
	[ "$rate" = 0 ] || row+=("rate_mbytes=$rate")
	row+=("unit=$(unit_of "$test")")
	if [ -n "$(obstacle "$test")" ]; then
		ktap_skip "$name" "not supported: $(obstacle "$test")"
		json_row "${row[@]}" "unsupported=$(obstacle "$test")"
		return
	fi
	read -ra values <<< "${sample[$key]:-}"
	[ "${#values[@]}" != 0 ] || values=(0)
	middle=$(median "${values[@]}")
	read -r least most <<< "$(printf '%s\n' "${values[@]}" | sort -g | sed -n '1p;$p' | tr '\n' ' ')"
	row+=("value=$middle" "min=$least" "max=$most" "rounds=$ROUNDS" "errors=${errors[$key]:-0}")
	# shellcheck disable=SC2086
	[[ $test != *_lat ]] || row+=("p99=$(median ${p99[$key]:-0})")
	if [ "$rate" != 0 ] && [ "$loss" != 0 ]; then
		kept=$(kept "$loss" "$rate" "$test" "$4")
		row+=("kept_pct=$kept")
	fi
	json_row "${row[@]}"
	name+=": $middle ($least to $most) $(unit_of "$test")${kept:+, $kept % kept}"
	[ -z "${errors[$key]:-}" ] || name+=", ${errors[$key]} of $ROUNDS runs fail"
	if is_good "$key" "$loss"; then
		ktap_ok "$name"
	else
		ktap_not_ok "$name" "${failure[$key]}"
	fi
}

# kept LOSS RATE TEST SIZE: per cent of what $DEV reaches on the shaped link without loss
kept() {
	local clean

	# shellcheck disable=SC2086
	clean=$(median ${sample[$DEV 0 $2 $3 $4]})
	# shellcheck disable=SC2086
	if [ "$(calc "$clean > 0" %d)" = 1 ]; then calc "100 * $(median ${sample[$DEV $*]}) / $clean" %.1f; else echo 0; fi
}

report_all() {
	local test size loss

	for test in $BENCH_TESTS; do
		for size in $(sizes_of "$test"); do
			for DEV in $CONTENDERS; do
				report 0 0 "$test" "$size"
			done
		done
	done
	[ "$LOSS" != 0 ] && [ -n "$bandwidths" ] || return 0
	for test in $bandwidths; do
		for loss in 0 $LOSS; do
			for DEV in $CONTENDERS; do
				report "$loss" "$third" "$test" "${SIZES%% *}"
			done
		done
	done
	check "none is lost without loss (${lost[0]})" [ "${lost[0]}" = 0 ]
	for loss in $LOSS; do
		check "packets are lost at $loss % (${lost[$loss]})" [ "${lost[$loss]}" -gt 0 ]
	done
}

check_packets() {
	local most=$((MTU + 14))

	[ $segmented_max != 0 ] || return 0
	check "tcp-single sends single packets (mean $single_max bytes)" [ $single_max -le $most ]
	# the machines' interfaces cannot send them: they are cut, and counted, behind the queue
	[ "$PAIR" = machines ] || [ -z "$bandwidths" ] ||
		check "tcp sends several at once (mean $segmented_max bytes)" [ $segmented_max -gt $most ]
}

# ---- all of it -------------------------------------------------------------------------------------------------------
BENCH_TESTS=${BENCH_TESTS:-$TESTS}
bandwidths=
for test in $BENCH_TESTS; do
	[[ " $TESTS " == *" $test "* ]] || { echo "bench: no test '$test'; there are: $TESTS" >&2; exit 1; }
	[[ $test != *_bw ]] || bandwidths+=" $test"
done
# a list may name what is measured anyway
LOSS=$(tr ' ' '\n' <<< "$LOSS" | grep -vx 0 | tr '\n' ' ') || LOSS=0
setup_link
# where a machine has processors of its own, they may as well sleep
[ "$PAIR" = machines ] || keep_awake
in_turns measure_clean
third=0
if [ "$LOSS" != 0 ] && [ -n "$bandwidths" ]; then
	third=$(third_of_slowest)
	in_turns measure_lossy
fi
report_all
check_packets
