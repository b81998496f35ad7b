#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# quick_set: INTEGRITY_S=14
# limit_s: 900
# Everything at once, for a time: random mixes of all operations, sizes from 0 to 16 MiB, shapes and depths, 8 QPs, both
# directions. No byte is wrong, no completion missing, doubled or out of order, no atomic executed twice, while the network
# is clean, loses, reorders, and delivers packets again when their buffers have long been rewritten.
# INTEGRITY_S=600 (default 100, on slow machines 20) is how long, in all.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
SEED=${SEED:-1}
# emulated instructions show little more in more time
SECONDS_EACH=$((${INTEGRITY_S:-$(is_slow && echo 20 || echo 100)} / 5))
[ "$SECONDS_EACH" -gt 0 ] || SECONDS_EACH=12
export LIMIT_S=$((SECONDS_EACH + 60)) # of verify_pair
ktap_diag "seed $SEED, $SECONDS_EACH s each"

# both_ends EXPRESSION: sum of the number it marks in the last lines of client and server
both_ends() {
	sed -nE "s/^OK .*$1.*/\1/p" "$WORK/client" "$WORK/server" | awk '{ sum += $1 } END { printf "%.0f", sum }'
}

# run DESCRIPTION: one result
run() {
	local description=$1 sent fetched bytes

	SEED=$((SEED + 1))
	if ! verify_pair -S "$SEED" -q 8 -s 16777216 -d 64 --vary --sges 8 --unsignaled 8 --inline --relaxed --bidir \
		--rd-atomic 64 --seconds "$SECONDS_EACH"; then
		ktap_not_ok "$description" "$(verify_failure)"
		return
	fi
	sent=$(both_ends 'sent ([0-9]+) messages')
	fetched=$(both_ends 'messages \(([0-9]+) READs')
	bytes=$(both_ends '\), ([0-9]+) bytes')
	description+=": $sent messages ($fetched READs and atomics), $((bytes / 1000000)) MB, wrong $(both_ends 'wrong ([0-9]+)'), "
	description+="lost $(both_ends 'lost ([0-9]+)'), doubled $(both_ends 'doubled ([0-9]+)')"
	if [ "$sent" -gt 100 ] && [ "$fetched" -gt 10 ] && [ "$bytes" -gt 10000000 ]; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "that is not enough to mean anything"
	fi
}

# under DESCRIPTION "NETEM ARGUMENTS"
under() {
	local side

	for side in A B; do
		# shellcheck disable=SC2086
		set_netem $side $2
	done
	run "$1"
	[[ $2 != *loss* ]] || check "$1: packets were lost" [ "$(netem_count vA dropped)" -gt 10 ]
}

# netem_count INTERFACE dropped|pkt: of both sides
netem_count() {
	local side sum=0 n

	for side in A B; do
		n=$(on $side tc -s qdisc show dev "${1%?}$side" | sed -nE '/netem/,$ {
			s/.* ([0-9]+) pkt .dropped ([0-9]+),.*/pkt \1 dropped \2/p }' | head -1)
		n=${n#*"$2" }
		sum=$((sum + ${n%% *}))
	done
	echo "$sum"
}

# Every 20th packet arrives a second time, up to 50 ms later, and no other is delayed (netem's own duplicates cannot have
# a delay of their own): a copy of everything goes to a second link, which loses 95 % and delays the rest.
add_late_duplicates() {
	local side mac

	ip link add dA netns A type veth peer name dB netns B
	for side in A B; do
		mac=$(on $side cat "/sys/class/net/v$side/address")
		on $side ip link set "d$side" address "$mac" addrgenmode none mtu "$MTU" up
		on $side tc qdisc add dev "d$side" root netem limit 20000 loss 95% delay 25ms 25ms
		on $side tc qdisc add dev "d$side" clsact
		on $side tc filter add dev "d$side" ingress matchall action mirred ingress redirect dev "v$side"
		on $side tc qdisc add dev "v$side" clsact
		on $side tc filter add dev "v$side" egress matchall action mirred egress mirror dev "d$side"
	done
}

duplicates_received() {
	echo $(($(counter A 'rx_dup_pkts|duplicate_request') + $(counter B 'rx_dup_pkts|duplicate_request')))
}

setup_pair
under "clean" ""
under "1 % loss" "loss 1%"
under "5 % loss" "loss 5%"
under "25 % reordered" "delay 2ms reorder 25% 50%"
for side in A B; do
	set_netem $side
done
add_late_duplicates
before=$(duplicates_received)
run "5 % duplicated, up to 50 ms late"
check "late duplicates were sent" [ "$(netem_count dA pkt)" -gt 100 ]
check "and arrived: $(($(duplicates_received) - before))" [ $(($(duplicates_received) - before)) -gt 100 ]
