#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml
# quick_set: ROUNDS=1 LOSS="10" SIZES=65536 OPS=write CONTENDERS=mroce
# alone: yes
# limit_s: 5400
# rows: loss.json
# What is kept of the rate when packets are lost, in both directions, each contender against its own rate on the same link
# without loss; and how much is sent again for that. See Documentation/multipath.rst.
#   ROUNDS=5                    how often; the median of the rounds' ratios counts
#   LOSS="0.1 1 5 10 bursts"    per cent of single packets; bursts: three at a time, 1 % in all
#   SIZES="65536 1048576"       bytes of mroce's messages; OPS="write read send"; the others have one kind
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
. "$(dirname "$0")/topology.sh"
ROUNDS=${ROUNDS:-5}
LOSS=${LOSS:-0.1 1 5 10 bursts}
SIZES=${SIZES:-65536 1048576}
OPS=${OPS:-write read send}
CONTENDERS=${CONTENDERS:-mroce rxe cubic bbr}
SECONDS_EACH=2
MOST_RATE=100		# MB/s of the link
PAYLOAD_BYTES=8192	# of a packet, with MTU 9000
TARGET_SHAPED=0.8	# of the link's rate, without loss: less, and something else is the bottleneck
# Gilbert-Elliott: 1/3 is the chance that a burst ends with a packet, so that it has three; one per cent of all
BURSTS="gemodel 0.3367% 33.33%"
SKEW_MS=10
declare -A kept=() rates=() errors=() lost_pkts=()

# target_of LOSS: share of the own rate without loss
target_of() {
	case $1 in
	0.1) echo 0.98 ;;
	1) echo 0.92 ;;
	5) echo 0.80 ;;
	10) echo 0.65 ;;
	bursts) echo 0.90 ;;
	*) echo 0 ;;
	esac
}

# target_retrans LOSS: times what was lost
target_retrans() {
	if [ "$1" = 10 ]; then echo 1.15; else echo 1.05; fi
}

# percent LOSS: of all packets
percent() {
	if [ "$1" = bursts ]; then echo 1; else echo "$1"; fi
}

# ---- the link --------------------------------------------------------------------------------------------------------
# spoil LOSS: both directions, at the rate of the link. netem would take several segments of TCP's for one packet: they
# are cut before they come, see segment.
spoil() {
	local side netem=()

	case $1 in
	0) ;;
	bursts) netem=(loss "$BURSTS") ;;
	*) netem=(loss "$1%") ;;
	esac
	for side in A B; do
		# shellcheck disable=SC2068
		set_link $side "$RATE" ${netem[@]}
	done
}

# drops: packets that both directions have lost, since the link was last spoilt
drops() {
	local side

	for side in A B; do
		on $side tc -s qdisc show dev v$side root
	done | sed -n 's/.*dropped \([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

# segment on|off MAX: whether TCP gives the interface several segments as one packet
segment() {
	local side

	for side in A B; do
		on $side ethtool -K v$side gso "$1" tso "$1" gro "$1" >&2 || true
		on $side ip link set v$side gso_max_segs "$2"
	done
}

# ---- one run -----------------------------------------------------------------------------------------------------------
# run OP SIZE: of $DEV, sets VALUE, 0 if it fails
run() {
	VALUE=0
	case $DEV in
	cubic | bbr) run_tcp "$2" ;;
	# not from the message rate, as perf has it: of large messages that has too few digits
	*) perf "ib_$1_bw" "$2" $SECONDS_EACH && VALUE=$(awk '/^ [0-9]/ {v = $4} END {print v + 0}' "$WORK/client") ;;
	esac
}

# The receiver's rate, without the first second
run_tcp() {
	local command

	RUN_PORT=$((RUN_PORT + 1))
	command="iperf3 -p $RUN_PORT"
	run_pair "$command -s -1" "$command -c $(address B) -C $DEV -O 1 -t $SECONDS_EACH -l $1 -f K" $((SECONDS_EACH + 25)) ||
		return
	VALUE=$(awk '/KBytes\/sec.*receiver/ {for (i = 1; i < NF; i++) if ($(i + 1) == "KBytes/sec") print $i}' "$WORK/client")
	VALUE=$(calc "${VALUE:-0} / 1024" %.3f)
	[ "$(calc "$VALUE > 0" %d)" = 1 ]
}

# enter, leave: what has to be there while $DEV is measured
enter() {
	case $DEV in
	cubic | bbr) segment off 1 ;;
	*) add_devices ;;
	esac
}

leave() {
	case $DEV in
	cubic | bbr) segment on 65535 ;;
	*) del_devices ;;
	esac
}

# kinds: "operation size" of what $DEV is measured with
kinds() {
	local op size

	if [ "$DEV" != mroce ]; then
		echo "write ${SIZES%% *}"
		return
	fi
	for op in $OPS; do
		for size in $SIZES; do
			echo "$op $size"
		done
	done
}

# The slowest of all on the link as it is, by three
choose_rate() {
	local slowest='' op size

	for DEV in $CONTENDERS; do
		enter
		while read -r op size <&3; do
			# those that lose nothing do not fail either
			run "$op" "$size" || { echo "$DEV $op $size: $(perf_failure)"; leave; return 1; }
			if [ -z "$slowest" ] || [ "$(calc "$VALUE < $slowest" %d)" = 1 ]; then
				slowest=$VALUE
			fi
			echo "$DEV $op $size: $VALUE MB/s" >&2
		done 3< <(kinds)
		leave
	done
	# well below what the processors can do, at 10 % loss too
	RATE=$(calc "$slowest / 3 < $MOST_RATE ? $slowest / 3 : $MOST_RATE" %.0f)
}

# measure_round: $DEV, everything once
measure_round() {
	local op size loss key clean

	while read -r op size <&3; do
		for loss in 0 $LOSS; do
			key="$DEV $op $size $loss"
			spoil "$loss"
			if ! run "$op" "$size"; then
				errors[$key]=$((${errors[$key]:-0} + 1))
				[ "$DEV" != mroce ] || ktap_diag "$key: $(perf_failure)"
			fi
			lost_pkts[$loss]=$((${lost_pkts[$loss]:-0} + $(drops)))
			rates[$key]+=" $VALUE"
			if [ "$loss" = 0 ]; then
				clean=$VALUE
			else
				kept[$key]+=" $(calc "$clean > 0 ? $VALUE / $clean : 0" %.4f)"
			fi
			echo "loss: $key: $VALUE MB/s" >&2
		done
	done 3< <(kinds)
}

# ---- what is sent again -----------------------------------------------------------------------------------------------
# count_data: count DATA of A's as it goes to the interface, before the discipline that loses it, and as it comes to B.
# Nothing else has that type (the low half of the first byte behind the UDP header) and goes to that port.
count_data() {
	local match=(u32 match ip protocol 17 0xff match u16 "$UDP_PORT" 0xffff at 22 match u8 3 0x0f at 28 action ok)

	on A tc qdisc replace dev vA clsact
	on B tc qdisc replace dev vB clsact
	on A tc filter add dev vA egress pref 1 protocol ip "${match[@]}"
	on B tc filter add dev vB ingress pref 1 protocol ip "${match[@]}"
}

# data_pkts SIDE egress|ingress: so far
data_pkts() {
	on "$1" tc -s filter show dev "v$1" "$2" | awk '/^[[:space:]]*Sent/ { n += $4 } END { print n + 0 }'
}

# again LOSS: of a fixed number of 64 KiB WRITEs, all packets of one size, so that packets count as bytes do: those that A
# has sent again, by its counter retrans_pkts; and those that are lost, DATA that came to A's interface and not to B.
again() {
	local loss=$1 messages lost retrans before ratio dropped

	messages=$(calc "$RATE * 16 * 3" %.0f)
	spoil "$loss"
	count_data
	all_quiet
	before=$(counter A retrans_pkts)
	# shellcheck disable=SC2034
	PERF_UNIT=MB/s
	perf_once "ib_write_bw -F -s 65536 -n $messages -Q 1" 60
	check "$loss % loss, $messages messages: no error" eval "[ $PERF_ERRORS = 0 ] || { perf_failure; false; }"
	all_quiet
	dropped=$(drops)
	lost=$(($(data_pkts A egress) - $(data_pkts B ingress)))
	retrans=$(($(counter A retrans_pkts) - before))
	for side in A B; do
		on $side tc qdisc delete dev v$side clsact
	done
	ratio=$(calc "$retrans / ($lost + 1e-9)" %.4f)
	check "$loss % loss: packets of data were lost: $lost" [ "$lost" -gt 20 ]
	check "$loss % loss: netem has dropped them: $dropped in all" [ "$dropped" -ge "$lost" ]
	at_most "$loss % loss: bytes sent again / bytes lost" "$ratio" "$(target_retrans "$loss")"
	at_least "$loss % loss: what was lost went again, but for needless copies" "$ratio" 0.97
	json_row device=mroce "test=retransmitted / lost" size_bytes=65536 qps=1 "mtu=$MTU" "loss_pct=$(percent "$loss")" \
		"rate_mbytes=$RATE" "kernel=$(uname -r)" unit=times "value=$ratio" errors="$PERF_ERRORS" \
		"lost_bytes=$((lost * (PAYLOAD_BYTES + 64)))" "retrans_bytes=$((retrans * (PAYLOAD_BYTES + 64)))"
}

# skewed: paths of unlike delay, and nothing is lost
skewed() {
	local side before retrans

	set_link A 0
	set_link B 0
	try "$SKEW_MS ms skew: paths of unlike delay" setup_skew $SKEW_MS
	all_quiet
	before=$(($(counter A retrans_pkts) + $(counter B retrans_pkts)))
	try "$SKEW_MS ms skew: data" perf ib_write_bw 65536 3
	all_quiet
	retrans=$(($(counter A retrans_pkts) + $(counter B retrans_pkts) - before))
	check "$SKEW_MS ms skew: the paths are of unlike delay" [ "$(skew_spread A)" -ge 2 ]
	check "$SKEW_MS ms skew, no loss: nothing is sent again ($retrans)" [ "$retrans" = 0 ]
	json_row device=mroce "test=retransmitted, skew $SKEW_MS ms" size_bytes=65536 qps=1 "mtu=$MTU" loss_pct=0 \
		"kernel=$(uname -r)" unit=packets "value=$retrans" "errors=$PERF_ERRORS"
	for side in A B; do
		set_link $side 0
	done
}

# ---- results ---------------------------------------------------------------------------------------------------------
# report OP SIZE LOSS: of $DEV
report() {
	local key="$DEV $*" op=$1 size=$2 loss=$3 ratio least most row middle

	# shellcheck disable=SC2086
	middle=$(median ${rates[$key]})
	read -r least most <<< "$(tr ' ' '\n' <<< "${rates[$key]# }" | sort -g | sed -n '1p;$p' | tr '\n' ' ')"
	# three at a time have a name of their own
	row=("device=$DEV" "test=${op}_bw$([ "$loss" != bursts ] || echo ", bursts")" "size_bytes=$size" qps=1 "mtu=$MTU" "loss_pct=$(percent "$loss")"
		"kernel=$(uname -r)" "rate_mbytes=$RATE" unit=MB/s "value=$middle" "min=$least" "max=${most:-$least}"
		"rounds=$ROUNDS" "errors=${errors[$key]:-0}")
	if [ "$loss" != 0 ]; then
		# shellcheck disable=SC2086
		ratio=$(median ${kept[$key]})
		row+=("kept_pct=$(calc "100 * $ratio" %.1f)")
	fi
	json_row "${row[@]}"
	[ "$DEV" = mroce ] || return 0
	if [ "$loss" = 0 ]; then
		at_least "$op $size, no loss at $RATE MB/s, reached / link" "$(calc "$middle / $RATE")" $TARGET_SHAPED
	else
		at_least "$op $size, $(describe "$loss"), lossy / clean" "$ratio" "$(target_of "$loss")"
	fi
}

describe() {
	if [ "$1" = bursts ]; then echo "1 % loss, three at a time"; else echo "$1 % loss"; fi
}

report_all() {
	local op size loss failed=0 key

	for DEV in $CONTENDERS; do
		while read -r op size <&3; do
			for loss in 0 $LOSS; do
				report "$op" "$size" "$loss"
			done
		done 3< <(kinds)
	done
	for key in "${!errors[@]}"; do
		[[ $key != mroce\ * ]] || failed=$((failed + errors[$key]))
	done
	check "no run of mroce fails, no completion error ($failed)" [ $failed = 0 ]
	check "none is lost without loss (${lost_pkts[0]})" [ "${lost_pkts[0]}" = 0 ]
	for loss in $LOSS; do
		check "packets are lost: $(describe "$loss"), ${lost_pkts[$loss]}" [ "${lost_pkts[$loss]}" -gt 0 ]
	done
}

# can_run: does this kernel have that congestion control of TCP?
can_run() {
	modprobe -qa "tcp_$1" 2> /dev/null || true
	grep -qw "$1" /proc/sys/net/ipv4/tcp_available_congestion_control
}

setup_link
for side in A B; do
	keep_order $side v$side $side
done
keep_awake
for DEV in $CONTENDERS; do
	[[ $DEV != cubic && $DEV != bbr ]] || can_run "$DEV" || {
		ktap_skip "TCP $DEV" "not in this kernel"
		CONTENDERS=${CONTENDERS/ $DEV/}
	}
done
RATE=0
try "each runs on the link as it is" choose_rate
ktap_diag "link: $RATE MB/s"
# an unlimited link would say nothing about loss
[ "$RATE" != 0 ] || exit 0
for ((round = 0; round < ROUNDS; round++)); do
	for DEV in $CONTENDERS; do
		enter
		measure_round
		leave
	done
done
report_all
DEV=mroce
add_devices
for loss in 1 10; do
	again $loss
done
skewed
check "devices and link go away" teardown_pair
