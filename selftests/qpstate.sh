#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 480
# Limits, queue pair states, error completions, retry timers: between two devices, over IPv6, on one device
# alone, and on a bad link.
# shellcheck disable=SC2034
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/cases.sh"

setup_pair
a=$(device A) b=$(device B)
# The interface of A goes down and comes back, loses and gets an address: commands for the cases that need it
netdev=(
	--down "ip -n A link set vA down"
	--up "ip -n A link set vA up; ip -n A address replace $(address A 6)/64 dev vA nodad"
	--add "ip -n A address add 10.9.0.77/24 dev vA"
	--del "ip -n A address del 10.9.0.77/24 dev vA"
)
cut="ip netns exec A tc qdisc replace dev vA root netem loss 100%"
mend="ip netns exec A tc qdisc replace dev vA root pfifo"
slow=(
	--delay "ip netns exec B tc qdisc replace dev vB root netem delay 250ms limit 20000"
	--prompt "ip netns exec B tc qdisc replace dev vB root pfifo"
)
# thousands of system calls: no time for them on a slow machine
is_slow || slow+=(-f)
ONLY=(silent_from_birth)
cases "before any connection" -A "$a" -B "$b" --cut "$cut" --mend "$mend"
# shared receive queues: srq.sh
ONLY=('!srq_*')
cases "two devices" -A "$a" -B "$b" --cut "$cut" --mend "$mend" "${netdev[@]}" "${slow[@]}"
cases "one device" -A "$a"
if [ "$LANE" = qemu ]; then
	# the rest says nothing about a kernel, and takes its time where instructions are emulated
	check "devices and link go away" teardown_pair
	exit
fi
# the same once more
[ -n "${QUICK:-}" ] || cases "two devices, IPv6" -6 -A "$a" -B "$b"
# What comes after what shows only where packets overtake each other and get lost
ONLY=(read_sizes read_large reads_at_once reads_one_by_one read_bad_rkey read_after_write
	write_after_read send_after_read completions_in_order errors_in_order atomic_counts atomic_after_write
	sqd_under_load sqd_more_reads flush_under_load receive_too_short reset_and_reuse old_peer_talks_on)
set_netem A delay 1ms reorder 75% loss 2%
set_netem B delay 1ms reorder 75% loss 2%
cases "loss and reordering" -A "$a" -B "$b"
# records come late or never, while the memory behind responses goes
ONLY=(read_and_dereg)
set_netem A delay 1ms 1ms loss 3%
set_netem B delay 1ms 1ms loss 3%
cases "loss and jitter" -A "$a" -B "$b"
check "devices and link go away" teardown_pair
