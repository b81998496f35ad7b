# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# shellcheck disable=SC2034
# For tests that run mroce_verify and read counters. Sourced after lib.sh.

UDP_PORT=$(sed -n 's/^#define MROCE_UDP_PORT[[:space:]]*//p' "$TOP/include/mroce/wire.h")

# verify_pair OPTIONS...: mroce_verify with its client on A and its server on B; succeeds if both do. Limit: $LIMIT_S.
# The receiver polls memory for what is there, too, as programs do that trust in the order of WRITEs. With --no-poll it
# looks at a WRITE when a later completion says it is there.
verify_pair() {
	local limit_s=${LIMIT_S:-60} family=4 both

	RUN_PORT=$((RUN_PORT + 1))
	both="$TOOLS/mroce_verify -p $RUN_PORT -t $limit_s"
	[[ " $* " != *" -6 "* ]] || family=6 both+=" -6"
	[[ ! " $* " =~ \ (--events\ [a-z]+)\  ]] || both+=" ${BASH_REMATCH[1]}"
	run_pair "$both -D $(device B)" "$both -D $(device A) $* $(address B $family)" "$limit_s"
}

# verify_failure: what the programs of the last verify_pair said
verify_failure() {
	echo "client ($CLIENT_STATUS): $(tail -n 4 "$WORK/client")"
	echo "server ($SERVER_STATUS): $(tail -n 4 "$WORK/server")"
}

# verify DESCRIPTION OPTIONS...: verify_pair, one result. Sets VERIFIED to 1 or 0.
verify() {
	local description=$1

	shift
	VERIFIED=0
	if verify_pair "$@"; then
		VERIFIED=1
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "$(verify_failure)"
	fi
}

# start_traffic OPTIONS...: endless mroce_verify in the background, from A to B, both ends outside the namespaces (which so
# can be deleted). Returns when it has moved data. Their process ids: SERVER and CLIENT; output: $WORK/server, $WORK/client.
start_traffic() {
	local limit_s=${LIMIT_S:-60} before family=()

	RUN_PORT=$((RUN_PORT + 1))
	ip link set lo up
	before=$(packets_received)
	[[ " $* " != *" -6 "* ]] || family=(-6)
	"$TOOLS/mroce_verify" -p "$RUN_PORT" -t "$limit_s" -D "$(device B)" "${family[@]}" > "$WORK/server" 2>&1 &
	SERVER=$!
	"$TOOLS/mroce_verify" -p "$RUN_PORT" -t "$limit_s" -D "$(device A)" -n 1000000000 --timeout 14 --no-poll "$@" 127.0.0.1 > "$WORK/client" 2>&1 &
	CLIENT=$!
	wait_for "[ \$(packets_received) -gt $((before + 1000)) ]" 20
}

# traffic_ends DESCRIPTION: what start_traffic has started is told to; every message has arrived, whole and in order
traffic_ends() {
	CLIENT_STATUS=0 SERVER_STATUS=0
	kill -USR1 "$CLIENT" "$SERVER" 2> /dev/null || true
	wait "$CLIENT" || CLIENT_STATUS=$?
	wait "$SERVER" || SERVER_STATUS=$?
	check "$1" eval "[ $CLIENT_STATUS = 0 ] && [ $SERVER_STATUS = 0 ] || { verify_failure; false; }"
}

packets_received() {
	on B cat /sys/class/net/vB/statistics/rx_packets
}

# traffic_fails DESCRIPTION WHO...: each of the processes ends with an error line, within 10 s
traffic_fails() {
	local description=$1 who pid status

	shift
	for who; do
		pid=$CLIENT
		[ "$who" = client ] || pid=$SERVER
		if ! wait_for "! kill -0 $pid 2> /dev/null" 10; then
			ktap_not_ok "$description: the $who ends" "state: $(grep State: "/proc/$pid/status" || true)"
			kill -9 "$pid"
			continue
		fi
		status=0
		wait "$pid" || status=$?
		if [ "$status" = 1 ] && grep -q '^FAIL ' "$WORK/$who"; then
			ktap_ok "$description: the $who sees it"
			ktap_diag "$(grep '^FAIL ' "$WORK/$who")"
		else
			ktap_not_ok "$description: the $who sees it" "status $status, $(tail -n 1 "$WORK/$who")"
		fi
	done
}

kill_traffic() {
	kill -9 "$CLIENT" "$SERVER" 2> /dev/null || true
	wait "$CLIENT" "$SERVER" 2> /dev/null || true
}

# counter SIDE PATTERN: sum of the device's hardware counters whose names match
counter() {
	on "$1" rdma statistic show link "$(device "$1")/1" | awk -v pattern="^($2)\$" '
		{ for (i = 1; i < NF; i++) if ($i ~ pattern) sum += $(i + 1) }
		END { printf "%.0f", sum }'
}

# no_device NAME
no_device() {
	! rdma link show | grep -q "link $1/"
}

# restore_pair: namespaces, link, module and devices are there again, whatever of them was taken away
restore_pair() {
	local side

	for side in A B; do
		if ! ip netns list | grep -qw "$side"; then
			ip netns add "$side"
			on "$side" ip link set lo up
		fi
	done
	if ! on A ip link show vA > /dev/null 2>&1; then
		add_veth
	fi
	configure_interface A
	configure_interface B
	for side in A B; do
		load_driver "$side"
		no_device "$(device "$side")" || on "$side" rdma link delete "$(device "$side")"
	done
	add_devices
}

# check_quick DESCRIPTION SECONDS COMMAND...: succeeds within that time (of a quick machine)
check_quick() {
	local description=$1 limit_s start status=0 output

	limit_s=$(patience "$2")
	shift 2
	start=$(date +%s%N)
	output=$(timeout -k 1 20 "$@" 2>&1) || status=$?
	if [ "$status" != 0 ]; then
		ktap_not_ok "$description" "status $status: $* $output"
	elif [ $(($(date +%s%N) - start)) -gt $((limit_s * 1000000000)) ]; then
		ktap_not_ok "$description" "took $((($(date +%s%N) - start) / 1000000)) ms"
	else
		ktap_ok "$description"
	fi
}

# source_ports COMMAND...: which UDP source ports A uses while the command runs, and for how many packets
source_ports() {
	local tap

	ip netns exec A tcpdump -i vA -nn -s 64 -Z root -U -w "$WORK/ports.pcap" \
		"udp dst port $UDP_PORT and dst host $(address B)" 2> "$WORK/tcpdump" &
	tap=$!
	wait_for "grep -q 'listening on' $WORK/tcpdump" 10
	"$@" >&2 || true
	kill "$tap"
	wait "$tap" || true
	tcpdump -nn -r "$WORK/ports.pcap" 2> /dev/null |
		sed -n 's/.* IP [0-9.]*\.\([0-9]*\) > .*/\1/p' | sort | uniq -c
}
