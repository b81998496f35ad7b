#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: none
# alone: yes
# limit_s: 1800
# Devices with several interfaces, each a link of its own (topology.sh): their rates add up; one that fails, silently or not,
# flaps, is slow or loses costs no more than itself; planes and their addresses come and go under traffic. The debug lanes
# run what measures no rate and no time.
#   ROUNDS=5    of everything that is measured
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
. "$(dirname "$0")/topology.sh"
ROUNDS=${ROUNDS:-5}
PLANES=8			# links; the sums are of 1, 2, 4 and 8, everything else is of 4
ENOUGH=600			# of each pair, where what they went over is counted
ANSWERS=200000			# bytes, at most: probes are answered where they came from, even if that is no plane
TOOLS_PY=$TOP/selftests/tools
TARGET_BACK_MS=100
TARGET_AGAIN_MS=1000
TARGET=0.95
declare -A sum=()

# renew N_A [N_B]: devices anew, with so many planes
renew() {
	del_devices && add_plane_devices "$@"
}

# set_all MBYTES_PER_S: every plane
set_all() {
	local i

	for ((i = 0; i < PLANES; i++)); do
		set_plane $i "$1"
	done
}

# rate SECONDS: of WRITEs, MB/s. Messages enough for what is in flight, and for what waits until a lost packet was sent
# again: a plane that never marks is filled to its ceiling of 1 MiB, which takes 70 ms.
rate() {
	perf ib_write_bw 65536 "$1" -t 512 || { perf_failure >&2; echo 0; return 1; }
}

# measure_rate: an eighth of a sixth of what one plane can without a limit. That has several packets in one, which a shaped
# one has to send one by one, each with a timer of its own: all planes together shall not be as much as that can do.
measure_rate() {
	rate 2 || return
	SHARE=$(calc "$PERF_VALUE / 6 / $PLANES" %.1f)
}

# ---- sums ------------------------------------------------------------------------------------------------------------
measure_sums() {
	local round n

	for ((round = 0; round < ROUNDS; round++)); do
		for n in 1 2 4 8; do
			renew $n || return
			# the planes prove themselves
			rate 1 || return
			rate 2 || return
			sum[$n]+=" $PERF_VALUE"
		done
	done
}

check_sums() {
	local n one value

	# shellcheck disable=SC2086
	one=$(median ${sum[1]:-0})
	at_least "1 plane, share of the link's rate" "$(calc "$one / $SHARE")" 0.9
	for n in 2 4 8; do
		# shellcheck disable=SC2086
		value=$(calc "$(median ${sum[$n]:-0}) / ($n * $one + 1e-9)")
		at_least "$n planes: the rates add up" "$value" $TARGET
		at_most "$n planes: and no more than that" "$value" 1.05
	done
}

# all_planes_bytes N: of each of the first
all_plane_bytes() {
	local i

	for ((i = 0; i < $1; i++)); do
		plane_bytes $i
	done
}

plane_bytes_sum() {
	all_plane_bytes $PLANES | awk '{ n += $1 } END { printf "%.0f", n }'
}

# check_balance N: planes alike carry alike
check_balance() {
	local before after spread

	mapfile -t before < <(all_plane_bytes "$1")
	try "$1 planes: data" rate 2
	mapfile -t after < <(all_plane_bytes "$1")
	spread=$(echo "${before[*]} ${after[*]}" | awk -v n="$1" '
		{ for (i = 1; i <= n; i++) { d = $(i + n) - $i; if (!low || d < low) low = d; if (d > high) high = d }
		  printf "%.3f", high / (low + 1e-9) }')
	at_most "$1 planes: most / least bytes" "$spread" 1.05
}

# ---- one is lost -------------------------------------------------------------------------------------------------------
# port_is_active SIDE
port_is_active() {
	on "$1" ibv_devinfo -d "$(device "$1")" | grep -q PORT_ACTIVE
}

capture_planes() {
	local i

	for ((i = 0; i < 4; i++)); do
		start_capture "plane$i" B "$(plane_device B $i)" in 144
	done
}

# plane_off I HOW, plane_on I HOW: down (A's interface), far (B's: A loses the carrier), black (silently), flaps
plane_off() {
	case $2 in
	down) on A ip link set "$(plane_device A "$1")" down ;;
	far) on B ip link set "$(plane_device B "$1")" down ;;
	black) black_plane "$1" on ;;
	flaps) flap "$1" & FLAPS=$! ;;
	esac
}

plane_on() {
	case $2 in
	down) on A ip link set "$(plane_device A "$1")" up ;;
	far) on B ip link set "$(plane_device B "$1")" up ;;
	black) black_plane "$1" off ;;
	flaps) wait "$FLAPS" ;;
	esac
}

# flap I: ten times a second, for two seconds; one program does it, to start one each time takes longer
flap() {
	local i interface

	interface=$(plane_device B "$1")
	for ((i = 0; i < 20; i++)); do
		echo "link set $interface down"
		sleep 0.05
		echo "link set $interface up"
		sleep 0.05
	done | ip netns exec B ip -batch -
}

# is_off I HOW: and has been seen to be
is_off() {
	case $2 in
	down) [ "$(on A cat "/sys/class/net/$(plane_device A "$1")/operstate")" = down ] ;;
	far) [ "$(on A cat "/sys/class/net/$(plane_device A "$1")/carrier")" = 0 ] ;;
	black) [ "$(swallowed B "$(plane_device B "$1")")" -gt 0 ] ;;
	flaps) [ "$(on A cat "/sys/class/net/$(plane_device A "$1")/carrier_down_count")" -ge $((DOWNS + 1)) ] ;;
	esac
}

# lose_plane I HOW: of four. Medians of the rounds count.
lose_plane() {
	local what="plane $1 of 4, $2" round had='' back='' kept='' settled='' again=''

	for ((round = 1; round <= ROUNDS; round++)); do
		lose_plane_once "$1" "$2" "$what"
		had+=" $(reading before "$SAID")" back+=" $(reading back_ms "$SAID")" kept+=" $(reading kept "$SAID")"
		settled+=" $(calc "$(reading settled "$SAID") / ($(reading wanted "$SAID") + 1e-9)")"
		again+=" $(reading again_ms "$SAID")"
	done
	# shellcheck disable=SC2086
	{
		at_least "$what: four planes before, MB/s" "$(median $had)" "$(calc "4 * 0.9 * $SHARE")"
		at_most "$what: 95 % of three quarters are back, ms" "$(median $back)" $TARGET_BACK_MS
		at_least "$what: and stay" "$(median $kept)" $TARGET
		at_least "$what: to the end" "$(median $settled)" $TARGET
		at_most "$what: all of it again, ms" "$(median $again)" $TARGET_AGAIN_MS
	}
}

# lose_plane_once I HOW WHAT: sets SAID
lose_plane_once() {
	local i=$1 how=$2 what=$3 event until dark=()

	try "$what: devices" renew 4
	DOWNS=$(on A cat "/sys/class/net/$(plane_device A "$i")/carrier_down_count")
	capture_planes
	try "$what: traffic" start_load 8
	# what was before is measured, what is left, and what is again: this is their time
	sleep 1.2
	event=$(now_ns)
	plane_off "$i" "$how"
	sleep 1
	check "$what: it is off" is_off "$i" "$how"
	check "$what: the port of A stays active" port_is_active A
	check "$what: the port of B stays active" port_is_active B
	[ "$how" != flaps ] || plane_on "$i" "$how"
	sleep 1
	until=$(now_ns)
	[ "$how" = flaps ] || plane_on "$i" "$how"
	load_ends "$what"
	try "$what: everything was captured" stop_captures
	[ "$how" != black ] || dark=(--dark "$WORK/plane$i.pcap")
	[ "$how" != flaps ] || at_least "$what: times the carrier was lost" \
		$(($(on A cat "/sys/class/net/$(plane_device A "$i")/carrier_down_count") - DOWNS)) 15
	SAID=$("$TOOLS_PY/mroce_bins.py" --event "$event" --until "$until" --left 0.75 "${dark[@]}" --limit-ms $TARGET_BACK_MS \
		"$WORK"/plane[0-3].pcap) || true
	ktap_diag "$SAID"
}

# outlast_plane I HOW: of four, while every byte of the traffic is verified. No rate and no time is asked for.
outlast_plane() {
	local i=$1 how=$2 what="verified data, plane $1 of 4, $2" j

	try "$what: devices" renew 4
	DOWNS=$(on A cat "/sys/class/net/$(plane_device A "$i")/carrier_down_count")
	LIMIT_S=100 start_traffic -q 4 --bidir --timeout 18 --seconds 90 || true
	check "$what: it carries data" flows_over "$i"
	plane_off "$i" "$how"
	check "$what: it is off" wait_for "is_off $i $how" 10
	for ((j = 0; j < 4; j++)); do
		[ $j = "$i" ] || check "$what: plane $j carries data" flows_over $j
	done
	check "$what: the port of A stays active" port_is_active A
	check "$what: the port of B stays active" port_is_active B
	plane_on "$i" "$how"
	check "$what: it carries data again" flows_over "$i"
	traffic_ends "$what: no error, nothing is wrong"
}

# ---- one is worse -------------------------------------------------------------------------------------------------------
# drop_plane I: at both ends
drop_plane() {
	local side

	for side in A B; do
		del_plane $side "$(plane_device $side "$1")" || return
	done
}

# carried DESCRIPTION: sets CARRIED, the MB/s that come to B by all planes in the middle of a load. What a program counts
# as done lags behind by what waits for a packet to be sent again, which a short run would take for a lower rate.
carried() {
	local before start bytes

	try "$1" start_load 5 -t 512
	# until then it is known what is worse
	sleep 2
	before=$(plane_bytes_sum) start=$(now_ns)
	sleep 2
	bytes=$(($(plane_bytes_sum) - before))
	CARRIED=$(calc "$bytes / 1.048576 * 1e3 / ($(now_ns) - $start)")
	load_ends "$1"
}

# worse_plane WHAT SHARE-OF-THE-SUM MBYTES_PER_S [NETEM ARGUMENTS...]: medians of the rounds count
worse_plane() {
	local what=$1 share=$2 round of_sum='' of_others=''

	shift 2
	for ((round = 1; round <= ROUNDS; round++)); do
		worse_plane_once "$what" "$@"
		of_sum+=" $(calc "$WORSE / ($share * $FULL + 1e-9)" %.3f)" of_others+=" $(calc "$WORSE / ($WITHOUT + 1e-9)" %.3f)"
	done
	# shellcheck disable=SC2086
	{
		at_least "$what: share of what the planes could carry" "$(median $of_sum)" $TARGET
		at_least "$what: never below what is carried without it" "$(least $of_others)" 1
	}
}

# worse_plane_once WHAT MBYTES_PER_S [NETEM ARGUMENTS...]: sets FULL, WORSE, WITHOUT, what four, those with the worse one, and
# those without it carry
worse_plane_once() {
	local what=$1

	shift
	try "$what: devices" renew 4
	carried "$what: all planes alike"
	FULL=$CARRIED
	set_plane 2 "$@"
	carried "$what: data again"
	WORSE=$CARRIED
	[ $# = 1 ] || check "$what: packets were lost" \
		eval 'on A tc -s qdisc show dev vA2 root | grep -q "dropped [1-9]"'
	set_plane 2 "$SHARE"
	try "$what: without it" drop_plane 2
	carried "$what: data without it"
	WITHOUT=$CARRIED
	ktap_diag "all alike: $FULL MB/s; one is worse: $WORSE; without that one: $WITHOUT"
}

# least VALUE...
least() {
	printf '%s\n' "$@" | sort -g | head -1
}

# ---- they come and go ----------------------------------------------------------------------------------------------------
flows_over() {
	local before

	before=$(plane_bytes "$1")
	wait_for "[ \$(plane_bytes $1) -gt $((before + 1000000)) ]" 20
}

# What was late only is not lost: processors hand packets on in another order
lost_so_far() {
	echo $(($(counter A lost_pkts) + $(counter B lost_pkts) - $(counter A spurious_pkts) - $(counter B spurious_pkts)))
}

# why: what was sent again, by cause
why() {
	local side

	for side in A B; do
		echo "$side: $(on $side rdma statistic show link "$(device $side)/1" | tr ' ' '\n' |
			sed -n '/^retrans_/ { N; s/\n/ /; / 0$/! p }' | tr '\n' ' ')"
	done
}

# silences: how often a path of either side was silent for too long so far. What it had in flight goes again then, whether
# it is lost or a host has stood still, which says nothing about planes.
silences() {
	awk '/state suspect/ { n++ } END { print n + 0 }' "$WORK/paths.A" "$WORK/paths.B"
}

# one_coming_and_going: plane 2 is added, carries data, and goes; plane 1 goes and comes. Without checks of its own.
one_coming_and_going() {
	local side

	for side in A B; do
		add_plane $side v${side}2 || return
	done
	flows_over 2 || return
	for side in A B; do
		del_plane $side v${side}2 || return
	done
	for side in A B; do
		del_plane $side v${side}1 && add_plane $side v${side}1 || return
	done
	flows_over 1
}

# nothing_lost: while planes come and go and no path is silent
nothing_lost() {
	local try lost silent watch=()

	for side in A B; do
		ip netns exec $side "$OUT/userspace/tool/mroce" monitor > "$WORK/paths.$side" &
		watch+=($!)
	done
	for ((try = 1; try <= 8; try++)); do
		lost=$(lost_so_far) silent=$(silences)
		check "come and go: once more ($try)" one_coming_and_going
		lost=$(($(lost_so_far) - lost)) silent=$(($(silences) - silent))
		ktap_diag "$lost packets lost, a path was silent $silent times"
		[ $silent != 0 ] || break
	done
	kill "${watch[@]}"
	wait "${watch[@]}" 2> /dev/null || true
	check "come and go: nothing is lost ($lost), no path was silent" [ $lost = 0 -a $silent = 0 ]
}

come_and_go() {
	local side before

	try "come and go: two planes" renew 2
	LIMIT_S=170 start_traffic -q 4 --bidir --timeout 18 --seconds 160 || true
	for side in A B; do
		check "come and go: $side gets a plane under traffic" add_plane $side v${side}2
	done
	check "come and go: the new plane carries data" flows_over 2
	check "come and go: so does the first" flows_over 0
	for side in A B; do
		check "come and go: $side gives it up under traffic" del_plane $side v${side}2
	done
	check "come and go: data flows over the others" eval "flows_over 0 && flows_over 1"
	before=$(plane_bytes 2)
	check "come and go: data flows on" flows_over 1
	at_most "come and go: bytes over the one that went" $(($(plane_bytes 2) - before)) 10000
	if [ -z "$DEBUG_KERNEL" ]; then
		nothing_lost
		ktap_diag "$(why)"
	else
		ktap_skip "come and go: nothing is lost" "this kernel stands still for longer than a path may be silent"
		check "come and go: once more (1)" one_coming_and_going
		check "come and go: once more (2)" one_coming_and_going
	fi
	traffic_ends "come and go: no error, nothing is wrong"
}

# lose_address SIDE: of its plane 2, whose interface stays up
lose_address() {
	local side=$1 what="$1 loses the address of a plane" i before

	try "$what: four planes" renew 4
	LIMIT_S=100 start_traffic -q 4 --bidir --timeout 18 --seconds 90 || true
	check "$what: the plane carries data" flows_over 2
	ip -n "$side" address delete "$(plane_address "$side" 2)/24" dev "v${side}2"
	check "$what: data flows over the first" flows_over 0
	before=$(sent_bytes "$side" 2)
	for i in 0 1 3; do
		check "$what: data flows on over plane $i" flows_over $i
	done
	# the other side has a plane more now, which goes with one of the three
	at_most "$what: bytes it sends over that plane" $(($(sent_bytes "$side" 2) - before)) $ANSWERS
	check "$what: its interface is up" [ "$(on "$side" cat "/sys/class/net/v${side}2/operstate")" = up ]
	ip -n "$side" address add "$(plane_address "$side" 2)/24" dev "v${side}2"
	before=$(sent_bytes "$side" 2)
	check "$what: with the address back it sends over the plane again" \
		wait_for "[ \$(sent_bytes $side 2) -gt $((before + 1000000)) ]" 20
	traffic_ends "$what: no error, nothing is wrong"
}

refusals() {
	check "a plane is refused a second time" eval "! add_plane A vA1"
	check "an interface that is not there is refused" eval "! add_plane A nothing"
	check "the only plane is not given up" eval "renew 1 && ! del_plane A vA"
	check "a plane that is none is not given up" eval "! del_plane A vA3"
}

# all_sent_bytes: A's planes 0 to 3, then B's
all_sent_bytes() {
	local side i

	for side in A B; do
		for ((i = 0; i < 4; i++)); do
			sent_bytes $side $i
		done
	done
}

# unequal WHAT N_A N_B OPTIONS...: each side sends on all of its own planes, as its peer's are taken in turn, and on no other
unequal() {
	local what=$1 has=("$2" "$3") side i k=0 before after bytes

	try "$what: devices" renew "$2" "$3"
	shift 3
	mapfile -t before < <(all_sent_bytes)
	verify "$what: data both ways" -q 4 --bidir "$@"
	mapfile -t after < <(all_sent_bytes)
	for side in A B; do
		for ((i = 0; i < 4; i++, k++)); do
			bytes=$((after[k] - before[k]))
			if [ $i -lt "${has[k / 4]}" ]; then
				check "$what: $side sends on plane $i ($bytes bytes)" [ $bytes -gt 1000000 ]
			else
				check "$what: $side has no plane $i ($bytes bytes)" [ $bytes -lt $ANSWERS ]
			fi
		done
	done
}

# cross_routes add|delete: from plane 1 of either side to the address of plane 2 of the other, and the other way round
cross_routes() {
	local side peer i

	for side in A B; do
		peer=$(other $side)
		for i in 1 2; do
			ip -n $side route "$1" "$(plane_address "$peer" $((3 - i)))/32" via "$(plane_address "$peer" $i)" \
				dev v$side$i || return
		done
	done
}

# ends_in CAPTURE: 'source destination' of its packets, each once
ends_in() {
	tcpdump -nn -r "$WORK/$1.pcap" 2> /dev/null |
		sed -n 's/.* IP \([0-9.]*\)\.[0-9]* > \([0-9.]*\)\.[0-9]*: .*/\1 \2/p' | sort -u
}

# Planes 1 and 2 of one side have the labels of 2 and 1 of the other. Subnets, which count where labels do not tell, would
# pair them otherwise; what was sent shows by its addresses who belongs to whom.
crossed_labels() {
	local side i before after

	try "crossed labels: one plane" renew 1
	check "crossed labels: A" eval "add_plane A vA1 label 7 && add_plane A vA2 label 9"
	check "crossed labels: B" eval "add_plane B vB1 label 9 && add_plane B vB2 label 7"
	try "crossed labels: routes" cross_routes add
	for side in A B; do
		for i in 1 2; do
			start_capture crossed$side$i $side v$side$i out 144
		done
	done
	mapfile -t before < <(all_sent_bytes)
	verify "crossed labels: data both ways" -q 4 -n "$ENOUGH" --bidir
	mapfile -t after < <(all_sent_bytes)
	try "crossed labels: everything was captured" stop_captures
	for side in A B; do
		for i in 1 2; do
			check "crossed labels: $side sends on plane $i, to the plane of that label only" eval \
				"ends_in crossed$side$i; [ \"\$(ends_in crossed$side$i)\" = \
				'$(plane_address $side $i) $(plane_address "$(other $side)" $((3 - i)))' ]"
		done
	done
	for i in 0 1 2; do
		check "crossed labels: A's plane $i carries some" [ $((after[i] - before[i])) -gt 1000000 ]
		check "crossed labels: B's plane $i carries some" [ $((after[i + 4] - before[i + 4])) -gt 1000000 ]
	done
	try "crossed labels: routes go" cross_routes delete
}

over_ipv6() {
	local before after i

	try "IPv6: four planes" renew 4
	mapfile -t before < <(all_plane_bytes 4)
	verify "IPv6: data both ways" -6 -q 4 -n "$ENOUGH" --bidir
	mapfile -t after < <(all_plane_bytes 4)
	for ((i = 0; i < 4; i++)); do
		check "IPv6: plane $i carries some" [ $((after[i] - before[i])) -gt 1000000 ]
	done
}

# ipv4_addresses add|delete: of all planes of both sides
ipv4_addresses() {
	local side i

	for side in A B; do
		for ((i = 0; i < 4; i++)); do
			ip -n $side address "$1" "$(plane_address $side $i)/24" dev "$(plane_device $side $i)" || return
		done
	done
}

only_ipv6() {
	local i how

	try "IPv6 only: four planes" renew 4
	try "IPv6 only: there is no other address" ipv4_addresses delete
	LIMIT_S=100 start_traffic -6 -q 4 --bidir --timeout 18 --seconds 90 || true
	for i in 0 1 2 3; do
		check "IPv6 only: plane $i carries data" flows_over $i
	done
	for how in down black; do
		plane_off 2 $how
		check "IPv6 only: plane 2 is off, $how" wait_for "is_off 2 $how" 10
		for i in 0 1 3; do
			check "IPv6 only, plane 2 off, $how: plane $i carries data" flows_over $i
		done
		plane_on 2 $how
		check "IPv6 only: plane 2 carries data again, $how" flows_over 2
	done
	traffic_ends "IPv6 only: no error, nothing is wrong"
	try "IPv6 only: the other addresses are back" ipv4_addresses add
}

# A class of its own is another connection: the first packet of which would go over the first plane
first_is_black() {
	local opened

	try "first plane black: four planes" renew 4
	verify "first plane black: a connection before" -n 500
	opened=$(counter A conn_open)
	black_plane 0 on
	verify "first plane black: that connection goes on" -n 500
	verify "first plane black: a new connection" -n 500 --tclass 32
	check "first plane black: it was a new one" [ "$(counter A conn_open)" -gt "$opened" ]
	check "first plane black: packets vanished" [ "$(swallowed B vB)" -gt 0 ]
	check "first plane black: the port stays active" port_is_active A
	black_plane 0 off
}

# The link's own interface never goes: it has the host's address, and every way to that is a plane
on_a_dummy() {
	local side host=1 i

	del_devices
	for side in A B; do
		ip -n $side link add id mtu 9000 type dummy
		ip -n $side address add 10.9.100.$host/24 dev id
		ip -n $side link set id up
		check "dummy: $side's link" on $side rdma link add "$(device $side)" type "$DEV" netdev id
		for i in '' 1 2; do
			check "dummy: $side's plane v$side$i" add_plane $side v$side$i
		done
		host=2
	done
	verify "dummy: data flows over the planes" -n 500 -q 4
	check "dummy: nothing went there" [ "$(on B cat /sys/class/net/id/statistics/rx_packets)" = 0 ]
	black_plane 0 on
	verify "dummy: a new connection while the first of them is black" -n 500 --tclass 64
	# not the first one's: the programs themselves meet there
	on B ip link set vB1 down
	verify "dummy: a new connection with one more down" -n 500 --tclass 96
	on B ip link set vB1 up
	black_plane 0 off
	del_devices
	for side in A B; do
		ip -n $side link delete id
	done
	add_devices
}

all_are_off() {
	local i

	try "all planes down: two planes" renew 2
	for i in 0 1; do
		on A ip link set "$(plane_device A $i)" down
	done
	check "all planes down: so is the port" wait_for "! port_is_active A" 10
	for i in 0 1; do
		on A ip link set "$(plane_device A $i)" up
	done
	check "one is up: so is the port" wait_for "port_is_active A" 10
	configure_interface A
}

# all_rates: everything that measures
all_rates() {
	local how

	keep_awake
	try "one plane carries data" measure_rate
	ktap_diag "one plane without a limit: $PERF_VALUE MB/s; with: $SHARE MB/s each"
	set_all "$SHARE"
	try "1, 2, 4, 8 planes" measure_sums
	check_sums
	try "four planes" renew 4
	check_balance 4
	for how in down far black flaps; do
		lose_plane 2 $how
	done
	lose_plane 0 down
	lose_plane 0 black
	worse_plane "a plane of half the rate" "3.5 / 4" "$(calc "$SHARE / 2" %.2f)"
	worse_plane "a plane with 5 % loss" "3.95 / 4" "$SHARE" loss 5%
	set_all 0
	MEASURED=yes
}

setup_planes $PLANES
try "devices" add_devices
# A kernel that checks every step has other rates and times, which say nothing of planes: the debug lanes are to find what
# such a kernel says of all the rest.
MEASURED=
if [ -z "$DEBUG_KERNEL" ]; then
	all_rates
else
	ktap_skip "rates and times" "this kernel has others"
	MEASURED=yes
fi
# an error of the shell's arithmetic leaves all functions, and the script goes on
check "nothing was left out" [ -n "$MEASURED" ]
for how in down far black flaps; do
	outlast_plane 2 $how
done
outlast_plane 0 down
come_and_go
lose_address A
lose_address B
refusals
unequal "four planes to two" 4 2 -n "$ENOUGH"
unequal "one plane to four" 1 4 -n "$ENOUGH"
crossed_labels
over_ipv6
only_ipv6
first_is_black
on_a_dummy
all_are_off
check "devices and links go away" teardown_planes
