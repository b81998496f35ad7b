#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 240
# Unmodified programs that talk in datagrams, between the two sides, over every address. What datagrams promise in
# particular, and what not, is in qpstate (ud_*).
set -euo pipefail
. "$(dirname "$0")/lib.sh"

# gids SIDE: 'index gid' of those of RoCE v2
gids() {
	local side=$1 dir i

	dir=/sys/class/infiniband/$(device "$side")/ports/1
	for ((i = 0; i < 8; i++)); do
		! on "$side" grep -qs 'RoCE v2' "$dir/gid_attrs/types/$i" || echo "$i $(on "$side" cat "$dir/gids/$i")"
	done
}

# kind GID
kind() {
	case $1 in
	fe80:*) echo "link-local" ;;
	*:ffff:*) echo "IPv4" ;;
	*) echo "IPv6" ;;
	esac
}

# pingpong PROGRAM OPTIONS INDEX-A INDEX-B
pingpong() {
	local command="$1 $2 -p $((RUN_PORT + 1)) -n $ROUNDS"

	RUN_PORT=$((RUN_PORT + 1))
	run_pair "$command -d $(device B) -g $4" "$command -d $(device A) -g $3 $(address B)" "$(patience 20)" ||
		{ tail -n 5 "$WORK/client" "$WORK/server"; return 1; }
	grep -q "^$ROUNDS iters" "$WORK/client" && grep -q "^$ROUNDS iters" "$WORK/server"
}

# every_gid GIDS-A GIDS-B: both programs over each pair of addresses of one kind
every_gid() {
	local index_a index_b gid_a gid_b

	while read -r index_a gid_a <&3; do
		while read -r index_b gid_b <&4; do
			[ "$(kind "$gid_a")" = "$(kind "$gid_b")" ] || continue
			check "ibv_ud_pingpong, $(kind "$gid_a") (GID $index_a)" pingpong ibv_ud_pingpong "-s 1024" "$index_a" "$index_b"
			check "ibv_rc_pingpong, $(kind "$gid_a") (GID $index_a)" pingpong ibv_rc_pingpong "-s 4096" "$index_a" "$index_b"
		done 4<<< "$2"
	done 3<<< "$1"
}

# perftest TEST OPTIONS...: with datagrams
perftest() {
	local test=$1

	shift
	PERF_UNIT=MB/s
	[[ $test == *_bw ]] || PERF_UNIT=us
	for _ in 1 2 3 4 5; do
		perf_once "$test -c UD -F -n $ROUNDS $*" "$(patience 30)"
		perf_is_mistimed || break
	done
	if [ "$PERF_ERRORS" = 0 ] && grep -qE '^ [0-9]' "$WORK/client"; then
		ktap_ok "$test -c UD $*: $PERF_VALUE $PERF_UNIT"
	else
		ktap_not_ok "$test -c UD $*" "$(perf_failure)"
	fi
}

ROUNDS=1000
! is_slow || ROUNDS=200
setup_pair
a=$(gids A) b=$(gids B)
check "there are addresses of three kinds" [ "$(while read -r _ gid; do kind "$gid"; done <<< "$a" | sort -u | wc -l)" = 3 ]
every_gid "$a" "$b"
perftest ib_send_lat -s 8
perftest ib_send_lat -s 1024
perftest ib_send_lat -s 64 -e
perftest ib_send_lat -s 64 -I 64
perftest ib_send_bw -s 64
perftest ib_send_bw -s 4096
perftest ib_send_bw -s 1024 -q 8 -Q 1
perftest ib_send_bw -s 1024 -b
check "devices and link go away" teardown_pair
