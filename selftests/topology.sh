# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# lanes: none
# Networks with several ways between A and B. A library, no test: sourced after lib.sh and tools/verify.sh.
#
# Routes. Four routers between two switches that route; all are network namespaces. A switch chooses by a hash of
# addresses and ports (fib_multipath_hash_policy=1): as everything else is the same, by the UDP source port. Hosts do not
# choose: their one interface leads to the switch.
#
#	                      +--- toA R1 toB ---+
#	A vA --- host LA r1..r4 -- toA R2 toB --- r1..r4 LB host --- vB B
#	                      +--- toA R3 toB ---+
#	                      +--- toA R4 toB ---+
#
# Planes. Interfaces vA1, vA2, ... and vB1, ... beside vA and vB, each pair a link and a subnet of its own.
#
# Every interface hands what it receives to one processor, that of the direction. A queueing discipline sends from
# whatever processor its timer runs on, and from then on packets overtake each other; a wire keeps order.

ROUTES="1 2 3 4"
MROCE=${MROCE:-$OUT/userspace/tool/mroce}
declare -A control_fd=() control_pid=() capture_pid=()
load_work=()

# ---- both ------------------------------------------------------------------------------------------------------------
# other SIDE
other() {
	if [ "$1" = A ]; then echo B; else echo A; fi
}

# now_ns: wall clock, as in captures
now_ns() {
	local us=$EPOCHREALTIME

	echo "${us/[.,]/}000"
}

# keep_order NAMESPACE INTERFACE SIDE: packets it receives on their way to that side keep their order
keep_order() {
	local mask=1

	[ "$3" = A ] || mask=2
	on "$1" bash -c "echo $mask > /sys/class/net/$2/queues/rx-0/rps_cpus"
}

# shape NAMESPACE INTERFACE MBYTES_PER_S [NETEM ARGUMENTS...]: what an interface does to what it sends, as set_link. One
# that is shaped already goes on with what is queued.
shape() {
	local namespace=$1 interface=$2 rate=$3

	shift 3
	[ "$rate" = 0 ] || set -- rate "$(calc "$rate * 8 * 1.048576" %.0f)mbit" "$@"
	if [ $# = 0 ]; then
		on "$namespace" tc qdisc delete dev "$interface" root 2> /dev/null || true
	else
		on "$namespace" tc qdisc replace dev "$interface" root handle 1: netem limit 20000 "$@"
	fi
}

# open_control NAMESPACE...: programs that carry out 'tc' commands there at once, before all others: to start one takes too
# long where every processor is busy
open_control() {
	local namespace fd

	for namespace; do
		mkfifo "$WORK/tc.$namespace"
		ip netns exec "$namespace" chrt -f 10 tc -force -batch "$WORK/tc.$namespace" >&2 &
		control_pid[$namespace]=$!
		exec {fd}> "$WORK/tc.$namespace"
		control_fd[$namespace]=$fd
	done
}

close_control() {
	local namespace fd

	for namespace in "${!control_fd[@]}"; do
		fd=${control_fd[$namespace]}
		exec {fd}>&-
		wait "${control_pid[$namespace]}" || true
		rm "$WORK/tc.$namespace"
		unset "control_fd[$namespace]" "control_pid[$namespace]"
	done
}

# control NAMESPACE TC COMMAND...: done a moment after the return
control() {
	local namespace=$1

	shift
	echo "$*" >&"${control_fd[$namespace]}"
}

# set_hole NAMESPACE INTERFACE on|off: UDP that the interface receives vanishes, or no more. Whatever else a test needs
# (address resolution, its programs' TCP) passes.
set_hole() {
	if [ "$3" = on ]; then
		control "$1" "filter replace dev $2 ingress pref 1 protocol ip flower ip_proto udp action drop"
		control "$1" "filter replace dev $2 ingress pref 2 protocol ipv6 flower ip_proto udp action drop"
	else
		control "$1" "filter delete dev $2 ingress pref 1"
		control "$1" "filter delete dev $2 ingress pref 2"
	fi
}

# swallowed NAMESPACE INTERFACE: packets in its hole
swallowed() {
	on "$1" tc -s filter show dev "$2" ingress | awk '/dropped/ {gsub(",", ""); n += $7} END {print n + 0}'
}

# all_quiet: wait until nothing is counted any more
all_quiet() {
	wait_for "[ \"\$(all_counters)\" = \"\$(sleep 0.3; all_counters)\" ]" 20
}

all_counters() {
	local side

	for side in A B; do
		on "$side" rdma statistic show link "$(device "$side")/1"
	done
}

# start_capture NAME SIDE INTERFACE in|out|both BYTES: mroce packets that come, go or both, so many bytes of each, into
# $WORK/NAME.pcap. 144 has the header of DATA, 800 a whole ACK.
start_capture() {
	local name=$1 side=$2 interface=$3 direction=(-Q "$4") bytes=$5

	[ "$4" != both ] || direction=()
	# not by 'on': the process has to be the program itself
	ip netns exec "$side" tcpdump -i "$interface" "${direction[@]}" -nn -s "$bytes" -B 32768 --time-stamp-precision=nano -Z root \
		-w "$WORK/$name.pcap" "udp dst port $UDP_PORT" 2> "$WORK/$name.tcpdump" &
	capture_pid[$name]=$!
	wait_for "grep -q 'listening on' $WORK/$name.tcpdump" 10
}

# stop_captures: all of them; fails if one has not got every packet
stop_captures() {
	local name status=0

	for name in "${!capture_pid[@]}"; do
		kill "${capture_pid[$name]}" 2> /dev/null || true
		wait "${capture_pid[$name]}" || true
		unset "capture_pid[$name]"
		if ! grep -q '^0 packets dropped by kernel' "$WORK/$name.tcpdump"; then
			cat "$WORK/$name.tcpdump"
			status=1
		fi
	done
	return $status
}

# start_load SECONDS [ARGUMENTS...]: ib_write_bw from A to B in the background; returns when it has begun to send
start_load() {
	local before

	before=$(counter A tx_data_bytes)
	# two: perf_once takes the next one
	RUN_PORT=$((RUN_PORT + 2))
	run_load "$@" < /dev/null > /dev/null 2>&1 &
	LOAD_PID=$!
	load_work[LOAD_PID]=$WORK/load.$RUN_PORT
	wait_for "[ \$(counter A tx_data_bytes) -gt $((before + 4000000)) ] || ! kill -0 $LOAD_PID 2> /dev/null" 20 &&
		kill -0 $LOAD_PID
}

run_load() {
	local WORK=$WORK/load.$RUN_PORT seconds=$1

	shift
	# shellcheck disable=SC2034
	PERF_UNIT=MB/s
	mkdir -p "$WORK"
	perf_once "ib_write_bw -F -s 65536 -D $seconds $*" $((seconds + 25)) || true
	perf_failure > "$WORK/said"
	echo "$PERF_ERRORS" > "$WORK/errors"
}

# load_ends DESCRIPTION [PROCESS]: it has had no error
load_ends() {
	local work=${load_work[${2:-$LOAD_PID}]}

	wait "${2:-$LOAD_PID}" || true
	if [ "$(cat "$work/errors" 2> /dev/null)" = 0 ]; then
		ktap_ok "$1: no error"
	else
		ktap_not_ok "$1: no error" "$(cat "$work/said" 2> /dev/null)"
	fi
	rm -rf "$work"
}

# try DESCRIPTION COMMAND...: like check, but what the command sets and starts stays
try() {
	local description=$1

	shift
	if "$@" > "$WORK/tried" 2>&1; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "failed: $*"$'\n'"$(tail -20 "$WORK/tried")"
	fi
}

# reading NAME TEXT: the number behind NAME= in what a tool of ours said; -1 if there is none
reading() {
	local value

	value=$(sed -n "s/.*\<$1=\(-\?[0-9.]*\).*/\1/p" <<< "$2" | tail -1)
	echo "${value:--1}"
}

# at_least DESCRIPTION VALUE LEAST, at_most DESCRIPTION VALUE MOST
at_least() {
	check "$1: $2 (target $3)" [ "$(calc "$2 >= $3" %d)" = 1 ]
}

at_most() {
	check "$1: $2 (target $3)" [ "$(calc "$2 >= 0 && $2 <= $3" %d)" = 1 ]
}

# ---- routes ----------------------------------------------------------------------------------------------------------
# setup_routes: A, B, and all between them; no devices
setup_routes() {
	local side namespace n

	MTU=${MTU:-9000}
	for namespace in A B LA LB $(routers); do
		ip netns add "$namespace"
		on "$namespace" ip link set lo up
	done
	for namespace in LA LB $(routers); do
		on "$namespace" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
			net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1
	done
	for side in A B; do
		add_host $side
		for n in $ROUTES; do
			add_router $side "$n"
		done
	done
	for side in A B; do
		add_ways $side
	done
	for n in $ROUTES; do
		open_control "R$n"
	done
	wait_for "on A busybox ping -c 1 -W 1 $(address B) > /dev/null" 20
	wait_for "on A busybox ping -6 -c 1 -W 1 $(address B 6) > /dev/null" 20
}

routers() {
	local n

	for n in $ROUTES; do
		echo "R$n"
	done
}

# add_host SIDE: its interface, and the switch's
add_host() {
	ip link add "v$1" netns "$1" mtu "$MTU" type veth peer name host netns "L$1" mtu "$MTU"
	on "L$1" ip link set host up
	on "L$1" ip address add 10.9.0.254/24 dev host
	on "L$1" ip address add fd00:9::fe/64 dev host nodad
	configure_interface "$1"
	keep_order "$1" "v$1" "$1"
	keep_order "L$1" host "$(other "$1")"
	on "$1" ip route add "$(address "$(other "$1")")/32" via 10.9.0.254 dev "v$1"
	on "$1" ip route add "$(address "$(other "$1")" 6)/128" via fd00:9::fe dev "v$1"
}

# link_net SIDE N: the third part of the addresses between a switch (.1) and a router (.2)
link_net() {
	if [ "$1" = A ]; then echo "1$2"; else echo "2$2"; fi
}

# add_router SIDE N: join router N to the switch of that side
add_router() {
	local side=$1 n=$2 net

	net=$(link_net "$side" "$n")
	ip link add "r$n" netns "L$side" mtu "$MTU" type veth peer name "to$side" netns "R$n" mtu "$MTU"
	on "L$side" ip link set "r$n" up
	on "R$n" ip link set "to$side" up
	on "L$side" ip address add "10.9.$net.1/24" dev "r$n"
	on "R$n" ip address add "10.9.$net.2/24" dev "to$side"
	on "L$side" ip address add "fd00:9:$net::1/64" dev "r$n" nodad
	on "R$n" ip address add "fd00:9:$net::2/64" dev "to$side" nodad
	on "R$n" ip route add "$(address "$side")/32" via "10.9.$net.1" dev "to$side"
	on "R$n" ip route add "$(address "$side" 6)/128" via "fd00:9:$net::1" dev "to$side"
	on "R$n" tc qdisc add dev "to$side" clsact
	keep_order "L$side" "r$n" "$side"
	keep_order "R$n" "to$side" "$(other "$side")"
}

# add_ways SIDE: of its switch, to the other side
add_ways() {
	local side=$1 n net hops4=() hops6=()

	for n in $ROUTES; do
		net=$(link_net "$side" "$n")
		hops4+=(nexthop via "10.9.$net.2" dev "r$n")
		hops6+=(nexthop via "fd00:9:$net::2" dev "r$n")
	done
	on "L$side" ip route add "$(address "$(other "$side")")/32" "${hops4[@]}"
	on "L$side" ip -6 route add "$(address "$(other "$side")" 6)/128" "${hops6[@]}"
}

teardown_routes() {
	local namespace

	close_control
	del_devices || return
	add_probe
	for namespace in A B LA LB $(routers); do
		ip netns delete "$namespace" || return
	done
	wait_for probe_is_gone 10
}

# set_route N SIDE MBYTES_PER_S [NETEM ARGUMENTS...]: what route N does to what that side sends
set_route() {
	local n=$1 side=$2

	shift 2
	shape "R$n" "to$(other "$side")" "$@"
}

# set_routes SIDE MBYTES_PER_S [NETEM ARGUMENTS...]: all of them
set_routes() {
	local n side=$1

	shift
	for n in $ROUTES; do
		set_route "$n" "$side" "$@"
	done
}

# black_route N both|data|acks|none: UDP that A sends (data), B sends (acks), or both send over route N vanishes
black_route() {
	local n=$1 data=off acks=off

	case $2 in
	both) data=on acks=on ;;
	data) data=on ;;
	acks) acks=on ;;
	esac
	set_hole "R$n" toA $data
	set_hole "R$n" toB $acks
}

# route_swallows N: packets in its holes so far
route_swallows() {
	echo $(($(swallowed "R$1" toA) + $(swallowed "R$1" toB)))
}

# ack_pkts N: packets from B that came to route N so far
ack_pkts() {
	on "R$1" cat /sys/class/net/toB/statistics/rx_packets
}

# route_pkts N: packets from A that came to route N so far
route_pkts() {
	on "R$1" cat /sys/class/net/toA/statistics/rx_packets
}

# all_route_pkts [COUNTER]: of each route, in order
all_route_pkts() {
	local n

	for n in $ROUTES; do
		${1:-route_pkts} "$n"
	done
}

# spread_routes LEAST_PERCENT: devices anew, as often as it takes for the ports they choose to lead over every route, so
# that each carries so much of what a second of WRITEs sends. Sets ROUTE_PKTS, packets by route, of that second,
# and ROUTE_ACKS, those from B.
spread_routes() {
	local try before after acks n least total

	for try in 1 2 3 4 5 6 7 8 9 10 11 12; do
		del_devices || return
		add_devices || return
		mapfile -t before < <(all_route_pkts)
		mapfile -t ROUTE_ACKS < <(echo; all_route_pkts ack_pkts)
		perf ib_write_bw 65536 1 || return
		mapfile -t after < <(all_route_pkts)
		mapfile -t acks < <(echo; all_route_pkts ack_pkts)
		total=0 least=
		ROUTE_PKTS=()
		for n in $ROUTES; do
			ROUTE_PKTS[n]=$((after[n - 1] - before[n - 1]))
			ROUTE_ACKS[n]=$((acks[n] - ROUTE_ACKS[n]))
			total=$((total + ROUTE_PKTS[n]))
			[ -n "$least" ] && [ "$least" -le "${ROUTE_PKTS[n]}" ] || least=${ROUTE_PKTS[n]}
		done
		[ $((least * 100)) -lt $((total * $1)) ] || return 0
		echo "spread_routes: try $try: ${ROUTE_PKTS[*]}" >&2
	done
	return 1
}

# busiest_route [ROUTE_ACKS]: of ROUTE_PKTS
busiest_route() {
	local -n pkts=${1:-ROUTE_PKTS}
	local n best=1

	for n in $ROUTES; do
		[ "${pkts[n]}" -le "${pkts[best]}" ] || best=$n
	done
	echo "$best"
}

# ---- planes ----------------------------------------------------------------------------------------------------------
# plane_device SIDE I: plane 0 is the device's own interface
plane_device() {
	if [ "$2" = 0 ]; then echo "v$1"; else echo "v$1$2"; fi
}

# add_link I: the interfaces of plane I, 1 and up, with their addresses. They keep those of IPv6 when they go down.
add_link() {
	local i=$1 side

	ip link add "vA$i" netns A mtu "$MTU" type veth peer name "vB$i" netns B mtu "$MTU"
	for side in A B; do
		on $side sysctl -qw "net.ipv6.conf.v$side$i.keep_addr_on_down=1"
		on $side ip link set "v$side$i" up
		on $side ip address add "$(plane_address $side "$i")/24" dev "v$side$i"
		on $side ip address add "$(plane_address $side "$i" 6)/64" dev "v$side$i" nodad
		keep_order $side "v$side$i" $side
	done
}

# plane_address SIDE I [4|6]
plane_address() {
	local host=1

	[ "$1" = A ] || host=2
	if [ "${3:-4}" = 6 ]; then echo "fd00:9:$2::$host"; else echo "10.9.$2.$host"; fi
}

# setup_planes N: N links between A and B; the devices, on the first of them, come by themselves
setup_planes() {
	local side i

	setup_link
	for side in A B; do
		keep_order $side v$side $side
		on $side sysctl -qw net.ipv6.conf.v$side.keep_addr_on_down=1
		open_control $side
	done
	for ((i = 1; i < $1; i++)); do
		add_link $i
	done
	for side in A B; do
		for ((i = 0; i < $1; i++)); do
			on $side tc qdisc add dev "$(plane_device $side $i)" clsact
		done
	done
}

# add_plane SIDE INTERFACE [label N]
add_plane() {
	local side=$1 interface=$2

	shift 2
	on "$side" "$MROCE" plane add "$(device "$side")" dev "$interface" "$@"
}

# del_plane SIDE INTERFACE
del_plane() {
	on "$1" "$MROCE" plane del "$(device "$1")" dev "$2"
}

# add_plane_devices N_A [N_B]: devices with so many planes
add_plane_devices() {
	local side i n

	add_devices || return
	for side in A B; do
		n=$1
		[ $side = A ] || n=${2:-$1}
		for ((i = 1; i < n; i++)); do
			add_plane $side "v$side$i" || return
		done
	done
}

# set_plane I MBYTES_PER_S [NETEM ARGUMENTS...]: in both directions
set_plane() {
	local i=$1 side

	shift
	for side in A B; do
		shape $side "$(plane_device $side "$i")" "$@"
	done
}

# black_plane I on|off: silently, in both directions
black_plane() {
	local side

	for side in A B; do
		set_hole $side "$(plane_device $side "$1")" "$2"
	done
}

# plane_bytes I: that B has received over it
plane_bytes() {
	on B cat "/sys/class/net/$(plane_device B "$1")/statistics/rx_bytes"
}

# sent_bytes SIDE I: over plane I, so far
sent_bytes() {
	on "$1" cat "/sys/class/net/$(plane_device "$1" "$2")/statistics/tx_bytes"
}

teardown_planes() {
	close_control
	teardown_pair
}
