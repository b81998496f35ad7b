#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 300
# Unmodified programs of librdmacm between the two sides: connections that the kernel's connection manager makes over
# the general services queue pair.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# pair DESCRIPTION SERVER CLIENT: both end well
pair() {
	local description=$1

	RUN_PORT=$((RUN_PORT + 1))
	if run_cm "${2//PORT/$RUN_PORT}" "${3//PORT/$RUN_PORT}"; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "client ($CLIENT_STATUS): $(tail -n 4 "$WORK/client")"$'\n'"server ($SERVER_STATUS): $(tail -n 4 "$WORK/server")"
	fi
}

listens() {
	on B rdma resource show cm_id | grep -q 'state LISTEN'
}

# client DESCRIPTION SERVER CLIENT: of a server that serves for ever
client() {
	local description=$1

	RUN_PORT=$((RUN_PORT + 1))
	run_cm "${2//PORT/$RUN_PORT}" "${3//PORT/$RUN_PORT}" endless || true
	if [ "$CLIENT_STATUS" = 0 ]; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "client ($CLIENT_STATUS): $(tail -n 4 "$WORK/client")"
	fi
}

# run_cm SERVER CLIENT [endless]: as run_pair, for servers that listen for RDMA connections; with a third word the server is
# ended when the client has done its work
run_cm() {
	local server

	on B timeout -k 2 "$(patience 30)" bash -c "exec $1 2>&1" > "$WORK/server" < /dev/null &
	server=$!
	CLIENT_STATUS=125
	if wait_for "! kill -0 $server 2> /dev/null || listens" 20; then
		CLIENT_STATUS=0
		on A timeout -k 2 "$(patience 30)" bash -c "exec $2 2>&1" > "$WORK/client" < /dev/null || CLIENT_STATUS=$?
	fi
	SERVER_STATUS=0
	if [ "$CLIENT_STATUS" != 0 ] || [ -n "${3:-}" ]; then
		kill "$server" 2> /dev/null || true
	fi
	wait "$server" || SERVER_STATUS=$?
	[ "$CLIENT_STATUS" = 0 ] && [ "$SERVER_STATUS" = 0 ]
}

# at_most DESCRIPTION VALUE MOST UNIT
at_most() {
	check "$1: $2 $4 (at most $3)" [ "$(calc "$2 + 0 > 0 && $2 + 0 <= $3" %d)" = 1 ]
}

CONNECT_MS=3500		# one packet lost costs 4 s where only the manager repeats
setup_pair
b=$(address B) b6=$(address B 6)
pair "rping" "rping -s -a $b -p PORT -C 10" "rping -c -a $b -p PORT -C 10 -v"
pair "rping, IPv6" "rping -s -a $b6 -p PORT -C 10" "rping -c -a $b6 -p PORT -C 10"
pair "ucmatose" "ucmatose -b $b -p PORT" "ucmatose -s $b -p PORT"
pair "ucmatose, 50 connections" "ucmatose -b $b -p PORT -c 50" "ucmatose -s $b -p PORT -c 50"
pair "udaddy" "udaddy -b $b" "udaddy -s $b"
pair "riostream" "riostream -b $b -p PORT -S 4096" "riostream -s $b -p PORT -S 4096"
client "cmtime, 100 connections" "cmtime -b $b -p PORT -c 100" "cmtime -s $b -p PORT -c 100"
pair "ib_write_bw -R" "ib_write_bw -R -F -n 500 -p PORT" "ib_write_bw -R -F -n 500 -p PORT $b"
pair "ib_send_lat -R -c UD" "ib_send_lat -R -c UD -F -n 500 -p PORT" "ib_send_lat -R -c UD -F -n 500 -p PORT $b"
pair "rdma_server, rdma_client" "rdma_server -s $b -p PORT" "rdma_client -s $b -p PORT"
pair "rstream" "rstream -b $b -p PORT -S 4096" "rstream -s $b -p PORT -S 4096"
set_netem A loss 10%
set_netem B loss 10%
client "cmtime, 100 connections, 10 % loss" "cmtime -b $b -p PORT -c 100" "cmtime -s $b -p PORT -c 100"
at_most "time to connect them all" "$(awk '$1 == "connect" {printf "%.0f", $NF / 10}' "$WORK/client")" $CONNECT_MS ms
set_netem A
set_netem B
check "devices and link go away" teardown_pair
