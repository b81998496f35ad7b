#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 240
# The device goes while programs have it open and do nothing: it goes at once, they learn of it, their next calls fail,
# their rings stay memory, and they may end whenever they like.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A)
declare -A pid

# start_orphan NAME [-w]: returns when it waits for the end of its device
start_orphan() {
	local name=$1

	shift
	# what the last one said is not this one's READY
	rm -f "$WORK/$name"
	"$TOOLS/mroce_orphan" "$@" "$a" > "$WORK/$name" 2>&1 &
	pid[$name]=$!
	wait_for "grep -qs READY '$WORK/$name' || ! kill -0 ${pid[$name]} 2> /dev/null" 20
}

# its verdict, once it has one
verdict() {
	wait_for "grep -qE '^(OK|FAIL)' '$WORK/$1' || ! kill -0 ${pid[$1]} 2> /dev/null" 20 || true
	tail -n 1 "$WORK/$1"
}

# orphan_is_fine DESCRIPTION NAME: it has seen what it should
orphan_is_fine() {
	local text

	text=$(verdict "$2")
	if [[ $text == OK* ]]; then
		ktap_ok "$1: $text"
	else
		ktap_not_ok "$1: what the program sees" "$text"
	fi
}

# ends DESCRIPTION NAME EXPECTED-STATUS
ends() {
	local status=0

	wait_for "! kill -0 ${pid[$2]} 2> /dev/null" 10 || true
	kill -9 "${pid[$2]}" 2> /dev/null || true
	wait "${pid[$2]}" || status=$?
	check "$1: the program ends" [ "$status" = "$3" ]
}

# the device; and with the namespace of its netdev the far end of that
is_gone() {
	no_device "$a" && { [ -e /run/netns/A ] || no_interface B vB; }
}

# taken_away DESCRIPTION COMMAND...: the device of A goes. Three programs: one tidies up and ends, one is killed while it
# holds everything, one ends when there are new devices.
taken_away() {
	local what=$1

	shift
	start_orphan tidy
	start_orphan killed -w
	start_orphan late -w
	check "$what: programs are idle" [ "$(cat "$WORK"/{tidy,killed,late})" = $'READY\nREADY\nREADY' ]
	check_gone "$what: the device goes" is_gone "$@"
	for who in tidy killed late; do
		orphan_is_fine "$what, $who" $who
	done
	ends "$what, tidy" tidy 0
	kill -9 "${pid[killed]}"
	ends "$what, killed" killed 137
	check "$what: the UDP port is free" eval "! ip netns list | grep -qw A || ! on A ss -Hlun 'sport = :$UDP_PORT' | grep -q ."
	restore_pair
	kill "${pid[late]}"
	ends "$what, late" late 143
	verify "$what: data flows again" -n 100
}

setup_pair
taken_away "rdma link del" ip netns exec A rdma link delete "$a"
taken_away "ip link del" ip -n A link delete vA
taken_away "ip netns del" ip netns delete A
taken_away "rmmod" rmmod mroce
# to another namespace and back: the device was the netdev's
ip netns add C
taken_away "ip link set netns" bash -c "ip -n A link set vA netns C && ip -n C link set vA netns A"
ip netns delete C
check "devices and link go away" teardown_pair
