#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml
# quick: none
# alone: yes
# limit_s: 800
# Four routes between the hosts, chosen by the source port (topology.sh): packets spread over them; one that swallows
# what it gets, both ways or one, one that loses or marks far more than the others. How soon single losses are seen, by
# captures; and that no path is ever out of order where it begins.
#   ROUNDS=5    of each loss of a route
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
. "$(dirname "$0")/topology.sh"
ROUNDS=${ROUNDS:-5}
LEAST_PERCENT=4			# of the packets that each route carries, or the ports are drawn again
TARGET_BACK_MS=50		# from the loss of a route on
TARGET_KEPT=0.95		# of what is left, from then on
DELAY_MS=5			# one way, where times are measured: far above what a busy processor takes
LATE_SHARE=0.05			# of losses that may be seen later than they should: this is no real-time system

# A third of what the routes carry without a limit, which is the processors', over all of them
measure_rate() {
	perf ib_write_bw 65536 2 || return
	SHARE=$(calc "$PERF_VALUE / 3 / 4" %.0f)
}

# ---- spread ----------------------------------------------------------------------------------------------------------
# port_picks FAMILY: whatever A sends from one port goes over one route
port_picks() {
	local family=$1 n options=() ports=()

	[ "$family" = 4 ] || options=(-6)
	for n in $ROUTES; do
		start_capture "route$n" "R$n" toA in 144
	done
	verify_pair "${options[@]}" -n 4000 -o write,send --no-poll || { verify_failure; return 1; }
	stop_captures || return
	for n in $ROUTES; do
		mapfile -t -O ${#ports[@]} ports < <(ports_of "route$n" "$(address A "$family")" | awk '{ print $2 }')
		echo "${#ports[@]} ports over routes up to $n"
	done
	[ "${#ports[@]}" -ge 8 ] && [ -z "$(printf '%s\n' "${ports[@]}" | sort | uniq -d)" ]
}

# ports_of CAPTURE ADDRESS [FROM_NS UNTIL_NS]: 'packets port' of each source port
ports_of() {
	"$TOOLS_PY/mroce_ports.py" "$WORK/$1.pcap" "${@:2}"
}

# ---- a route that is lost ---------------------------------------------------------------------------------------------
# lose_route WHICH: one that carries something becomes a hole for data, acks or both, and comes back. Medians of the
# rounds count: one that the machine itself has stood still in says nothing.
lose_route() {
	local which=$1 round settled='' back='' kept='' after=''

	for ((round = 1; round <= ROUNDS; round++)); do
		lose_route_once "$which"
		settled+=" $(reading settled "$SAID")" back+=" $(reading back_ms "$SAID")" kept+=" $(reading kept "$SAID")"
		after+=" $(calc "$(reading after "$SAID") / ($(reading settled "$SAID") + 1e-9)")"
	done
	# shellcheck disable=SC2086
	{
		at_least "$which lost: data flows with what is left, MB/s" "$(median $settled)" "$(calc "$TARGET_KEPT * 3 * $SHARE")"
		at_most "$which lost: goodput is back, ms" "$(median $back)" $TARGET_BACK_MS
		at_least "$which lost: and stays, share of what is left" "$(median $kept)" $TARGET_KEPT
		at_least "$which lost: with the route back it is no less" "$(median $after)" $TARGET_KEPT
	}
}

# lose_route_once WHICH: sets SAID
lose_route_once() {
	local which=$1 n event until before new

	try "$which lost: the ports lead over all routes" spread_routes $LEAST_PERCENT
	n=$(busiest_route)
	[ "$which" != acks ] || n=$(busiest_route ROUTE_ACKS)
	ktap_diag "route $n is lost; packets by route: ${ROUTE_PKTS[*]}, from B ${ROUTE_ACKS[*]}"
	before=$(route_swallows "$n")
	start_capture arrived B vB in 144
	start_capture sent A vA both 144
	try "$which lost: traffic" start_load 6
	# what was before is measured, and what is left: this is their time
	sleep 1.2
	event=$(now_ns)
	black_route "$n" "$which"
	sleep 2
	until=$(now_ns)
	check "$which lost: packets vanished" [ "$(route_swallows "$n")" -gt "$before" ]
	black_route "$n" none
	load_ends "$which lost"
	try "$which lost: everything was captured" stop_captures
	SAID=$("$TOOLS_PY/mroce_bins.py" --event "$event" --until "$until" --limit-ms $TARGET_BACK_MS "$WORK/arrived.pcap") || true
	ktap_diag "$SAID"
	new=$(new_ports "$which" "$event" "$until")
	# the ACKs of other paths carry news of those whose own are lost: then nothing has to change (but see lose_way_back)
	if [ "$which" = acks ]; then
		ktap_diag "$which lost: $new other source ports of B"
	else
		check "$which lost: other source ports were taken: $new" [ "$new" -gt 0 ]
	fi
}

# lose_route_6: over IPv6, under data that is verified
lose_route_6() {
	local what="IPv6: a route lost" n before rerolls

	try "$what: the ports lead over all routes" spread_routes $LEAST_PERCENT
	LIMIT_S=60 start_traffic -6 -q 4 -o write,send --relaxed --no-poll --seconds 50 || true
	n=$(busiest_now)
	before=$(route_swallows "$n") rerolls=$(counter A path_reroll)
	black_route "$n" both
	check "$what: packets vanish" wait_for "[ \$(route_swallows $n) -gt $before ]" 10
	check "$what: another source port is taken" wait_for "[ \$(counter A path_reroll) -gt $rerolls ]" 10
	check "$what: data flows" more_data 10000000
	black_route "$n" none
	traffic_ends "$what: no error, nothing is wrong"
}

# busiest_now: the route that A sends most by
busiest_now() {
	local n

	for n in $ROUTES; do
		echo "$(share_of "$n" 0.5) $n"
	done | sort -n | tail -1 | cut -d ' ' -f 2
}

# one_path: devices anew, whose connections have one path
one_path() {
	local side

	del_devices && add_devices || return
	for side in A B; do
		on $side "$MROCE" dev set "$(device $side)" paths 1 || return
	done
}

# way_back: the one route by which B's packets come, in half a second
way_back() {
	local before after n found=()

	mapfile -t before < <(all_route_pkts ack_pkts)
	sleep 0.5
	mapfile -t after < <(all_route_pkts ack_pkts)
	for n in $ROUTES; do
		[ $((after[n - 1] - before[n - 1])) -le 20 ] || found+=("$n")
	done
	[ ${#found[@]} = 1 ] && echo "${found[0]}"
}

# comes_back_without N: B's packets by another route
comes_back_without() {
	local now

	now=$(way_back) && [ "$now" != "$1" ]
}

# lose_way_back: with one path no other has news of it. All that shows the peer that its ACKs are lost is what A does then,
# and it has to take another port for them.
lose_way_back() {
	local what="the only way back lost" n event until before ports

	try "$what: one path" one_path
	start_capture sent A vA both 144
	try "$what: traffic" start_load 8
	n=$(way_back) || n=
	check "$what: B's packets come by one route ($n)" [ -n "$n" ]
	n=${n:-1}
	before=$(route_swallows "$n")
	event=$(now_ns)
	black_route "$n" acks
	check "$what: B's packets come by another route" wait_for "comes_back_without $n" 4
	until=$(now_ns)
	check "$what: packets vanished" [ "$(route_swallows "$n")" -gt "$before" ]
	check "$what: data flows" more_data 1000000
	black_route "$n" none
	load_ends "$what"
	try "$what: everything was captured" stop_captures
	ports=$(new_ports acks "$event" "$until")
	check "$what: B has taken another source port: $ports" [ "$ports" -gt 0 ]
}

# more_data BYTES: are sent soon
more_data() {
	local before

	before=$(counter A tx_data_bytes)
	wait_for "[ \$(counter A tx_data_bytes) -gt $((before + $1)) ]" 4
}

# new_ports WHICH EVENT UNTIL: how many of A's (or, if its ACKs are lost, of B's) were not there before
new_ports() {
	local who=A

	[ "$1" != acks ] || who=B
	comm -13 <(ports_of sent "$(address $who)" 0 "$2" | awk '{print $2}' | sort) \
		<(ports_of sent "$(address $who)" "$2" "$3" | awk '{print $2}' | sort) | wc -l
}

# ---- a route that is worse ---------------------------------------------------------------------------------------------
# share_of N SECONDS: per cent of the packets that go over route N
share_of() {
	local n=$1 before after

	mapfile -t before < <(all_route_pkts)
	sleep "$2"
	mapfile -t after < <(all_route_pkts)
	echo "${before[*]} ${after[*]}" | awk -v n="$n" '
		{ for (i = 1; i <= 4; i++) { d[i] = $(i + 4) - $i; total += d[i] } printf "%d", 100 * d[n] / (total + 1) }'
}

# harm N: packets of A's that route N has dropped, and that B has found marked
harm() {
	echo $(($(on "R$1" tc -s qdisc show dev toB root | sed -n 's/.*dropped \([0-9]*\),.*/\1/p') + $(counter B rx_ce_pkts)))
}

# route_is_bad N BEFORE
route_is_bad() {
	[ "$(harm "$1")" -gt $(($2 + 10)) ]
}

# leave_route WHAT NETEM ARGUMENTS...: A's paths go elsewhere
leave_route() {
	local what=$1 n before share rerolls was

	shift
	try "$what: the ports lead over all routes" spread_routes $LEAST_PERCENT
	n=$(busiest_route)
	LIMIT_S=60 start_traffic -q 4 -o write,send --relaxed --no-poll --seconds 50 || true
	before=$(share_of "$n" 1)
	rerolls=$(counter A path_reroll)
	was=$(harm "$n")
	set_route "$n" A "$SHARE" "$@"
	check "$what: the route is left" wait_for "[ \$(share_of $n 0.5) -lt $((before / 2)) ]" 20
	share=$(share_of "$n" 1)
	ktap_diag "$what: route $n carried $before %, then $share %; $(($(counter A path_reroll) - rerolls)) other ports"
	check "$what: it was as bad as that" route_is_bad "$n" "$was"
	# paths that are marked may get too few packets to be judged
	[[ $what == *marked* ]] ||
		check "$what: its paths take other ports" wait_for "[ \$(counter A path_reroll) -gt $rerolls ]" 20
	traffic_ends "$what: no error, nothing is wrong"
	set_route "$n" A "$SHARE"
}

# ---- single losses -----------------------------------------------------------------------------------------------------
# detect: what the captures of the last run say
detect() {
	try "$1: everything was captured" stop_captures
	said=$("$TOOLS_PY/mroce_detect.py" "$WORK/sent.pcap" "$WORK/arrived.pcap" || true)
	ktap_diag "$said"
}

capture_both() {
	start_capture arrived B vB in 144
	start_capture sent A vA both 800
}

see_gaps() {
	set_routes A 0 delay ${DELAY_MS}ms loss 0.5%
	set_routes B 0 delay ${DELAY_MS}ms
	# learns the round trip
	perf ib_write_bw 65536 1 || true
	capture_both
	try "gaps: data" perf ib_write_bw 65536 3
	detect gaps
	check "gaps: packets were lost in the middle" [ "$(calc "$(reading gaps "$said") >= 20" %d)" = 1 ]
	at_most "gaps: sent again within a round trip and the ack delay, ms" "$(reading gap_ms "$said")" \
		"$(reading gap_limit_ms "$said")"
	at_most "gaps: share of those that took longer" "$(reading gap_late "$said")" $LATE_SHARE
	at_least "gaps: share of those that went again on the same path" "$(reading gap_same_path "$said")" 0.95
	check "gaps: all were repaired" [ "$(calc "$(reading unrepaired "$said") == 0" %d)" = 1 ]
}

# Each message is one packet, and the next goes when it is back: whatever is lost is the last
see_tails() {
	set_routes A 0 delay ${DELAY_MS}ms loss 5%
	capture_both
	try "tails: data" perf ib_write_lat 64 1
	detect tails
	check "tails: packets were lost at the end" [ "$(calc "$(reading tails "$said") >= 10" %d)" = 1 ]
	at_most "tails: asked after within the probe timeout, ms" "$(reading tail_ms "$said")" \
		"$(calc "$(reading tail_limit_ms "$said") + 1")"
	at_most "tails: share of those that took longer" "$(reading tail_late "$said")" $LATE_SHARE
	check "tails: all were repaired" [ "$(calc "$(reading unrepaired "$said") == 0" %d)" = 1 ]
}

# value_of NAME: of A's first queue pair under traffic
value_of() {
	rdma -dd resource show qp | sed ':a; N; $!ba; s/\n[[:space:]]\+/ /g' | grep "^link $(device A)/1 .* type RC " | head -1 |
		awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }'
}

# One packet and its repetitions, by its psn. Far enough ahead to be caught, and the round trip is long enough for the
# filter to go before it has swallowed many more than four.
lose_again() {
	local psn qpn timeouts caught

	set_routes A 0 delay 25ms
	set_routes B 0 delay 25ms
	LIMIT_S=60 start_traffic -q 1 -o write,send --relaxed --no-poll --timeout 18 --seconds 50 || true
	qpn=$(value_of rqpn)
	psn=$(($(value_of drv_nxt_psn) + 3000))
	timeouts=$(counter A timeouts)
	capture_both
	on B tc qdisc replace dev vB clsact
	# in an IPv4 packet: port, type, destination QPN (the stream of requests is 0), psn
	on B tc filter add dev vB ingress pref 1 protocol ip u32 match ip protocol 17 0xff \
		match u16 "$UDP_PORT" 0xffff at 22 match u8 3 0x0f at 28 match u32 "$qpn" 0xffffffff at 44 \
		match u32 $((psn & 0xffffffff)) 0xffffffff at 52 action drop
	check "lost again: four sendings of one packet" wait_for "[ \$(swallowed B vB) -ge 4 ]" 20
	on B tc filter delete dev vB ingress pref 1
	caught=$psn
	check "lost again: it arrives after all" wait_for "[ \$(value_of drv_una_psn) -gt $caught ]" 20
	check "lost again: without the verbs' timeout" [ "$(counter A timeouts)" = "$timeouts" ]
	traffic_ends "lost again: no error, nothing is wrong"
	try "lost again: everything was captured" stop_captures
	on B tc qdisc delete dev vB clsact
}

# ---- order -------------------------------------------------------------------------------------------------------------
# Both processors post, and take in acknowledgements
keep_in_order() {
	local side said second

	set_routes A 0
	set_routes B 0
	# and receive, too: each where the packet was sent
	for side in A B; do
		on $side bash -c "echo 0 > /sys/class/net/v$side/queues/rx-0/rps_cpus"
		start_capture order$side $side v$side out 144
	done
	PERF_CPU=1 start_load 4 -b || true
	second=$LOAD_PID
	PERF_CPU=0 start_load 4 -b || true
	load_ends "order: both directions, processor 0"
	load_ends "order: both directions, processor 1" "$second"
	try "order: everything was captured" stop_captures
	for side in A B; do
		keep_order $side v$side $side
		said=$("$TOOLS_PY/mroce_order.py" "$WORK/order$side.pcap" || true)
		ktap_diag "$side: $said"
		check "order: $side has sent enough to tell" [ "$(reading packets "$said")" -gt 5000 ]
		check "order: no path of $side is out of order" [ "$(reading reordered "$said")" = 0 ]
		check "order: $side has left out no number" [ "$(reading missing "$said")" = 0 ]
	done
}

TOOLS_PY=$TOP/selftests/tools
setup_routes
keep_awake
try "devices" add_devices
try "the routes carry data" measure_rate
ktap_diag "routes without a limit: $PERF_VALUE MB/s; with: $SHARE MB/s each"
set_routes A "$SHARE"
try "the ports lead over all routes" spread_routes $LEAST_PERCENT
ktap_diag "packets by route: ${ROUTE_PKTS[*]}"
try "the source port picks the route" port_picks 4
try "IPv6: the source port picks the route" port_picks 6
for which in both data acks; do
	lose_route $which
done
lose_way_back
lose_route_6
try "a route that was lost is used by new connections" spread_routes $LEAST_PERCENT
leave_route "a lossy route" loss 20%
leave_route "a marked route" loss 80% ecn
see_gaps
see_tails
lose_again
keep_in_order
check "devices and networks go away" teardown_routes
