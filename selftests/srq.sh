#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 300
# Shared receive queues: limits, order, events, one queue pair that stands still or goes while others live, many queue
# pairs with every byte compared, on a good and on a bad link; and programs that use them.
# shellcheck disable=SC2034
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
. "$(dirname "$0")/tools/cases.sh"

# perftest COMMAND: a program of perftest ends, with a row, and sees no error
perftest() {
	local command=$1 limit_s try

	limit_s=$(patience 40)
	PERF_UNIT=MB/s
	[[ $command == *_bw* ]] || PERF_UNIT=us
	for try in 1 2 3; do
		perf_once "$command" "$limit_s"
		[ "$PERF_ERRORS" != 0 ] || ! grep -qE '^ [0-9]' "$WORK/client" || break
		if [ $try = 3 ] || ! perf_is_mistimed; then
			ktap_not_ok "${command% -F*}" "$(perf_failure)"
			return
		fi
	done
	ktap_ok "${command% -F*}"
}

# pingpong OPTIONS...: ibv_srq_pingpong, its server on B; -c: it compares what arrives. With several queue pairs it has more
# messages under way at the end than it counts. Whose peer is gone then is told so, and may see that before the completion
# it waits for: that says nothing, and is tried again.
pingpong() {
	local port limit_s try

	limit_s=$(patience 30)
	for try in 1 2 3 4; do
		port=$((RUN_PORT += 1))
		if run_pair "ibv_srq_pingpong -p $port -d $(device B) -g $(gid_index B) $*" \
			"ibv_srq_pingpong -p $port -d $(device A) -g $(gid_index A) $* $(address B)" "$limit_s"; then
			ktap_ok "ibv_srq_pingpong $*"
			return
		fi
		if [ "$CLIENT_STATUS" != 0 ] && [ "$SERVER_STATUS" != 0 ]; then
			break
		fi
		grep -qh 'transport retry counter exceeded (12) for wr_id 2' "$WORK/client" "$WORK/server" || break
		echo "ibv_srq_pingpong: the peer was gone in try $try" >&2
	done
	ktap_not_ok "ibv_srq_pingpong $*" "$(verify_failure)"
}

setup_pair
a=$(device A) b=$(device B)
late=(
	--delay "ip netns exec B tc qdisc replace dev vB root netem delay 250ms limit 20000"
	--prompt "ip netns exec B tc qdisc replace dev vB root pfifo"
)
ONLY=('srq_*')
cases "two devices" -A "$a" -B "$b" "${late[@]}"
cases "one device" -A "$a"
n=960
[ "$LANE" != qemu ] || n=240
# -Q must divide -n: see perftest.sh
perftest "ib_send_bw --use-srq -q 8 -s 65536 -Q 60 -F -n $n"
# there are fewer receives than requests: a kernel that checks every step does nothing but refuse
[ -n "$DEBUG_KERNEL" ] || perftest "ib_send_bw --use-srq -q 8 -s 4096 -b -Q 60 -F -n $n"
perftest "ib_send_lat --use-srq -s 8 -F -n $((n / 2))"
perftest "ib_send_lat --use-srq -s 8 -e -F -n $((n / 2))"
pingpong -n $((n / 4)) -q 16
pingpong -n $((n / 4)) -q 4 -r 100 -s 20000 -e -c
if [ "$LANE" != qemu ]; then
	cases "IPv6" -6 -A "$a" -B "$b" "${late[@]}"
	# What comes after what shows only where packets overtake each other and get lost
	set_netem A delay 1ms reorder 75% loss 2%
	set_netem B delay 1ms reorder 75% loss 2%
	ONLY=('srq_*' '!srq_caps' '!srq_attributes' '!srq_other_types')
	cases "loss and reordering" -A "$a" -B "$b"
	set_netem A
	set_netem B
fi
check "devices and link go away" teardown_pair
