#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# limit_s: 240
# Data, order, immediates and guard bytes of every operation, on a clean link: many sizes, many QPs, both families.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
SEED=${SEED:-1}
ktap_diag "seed $SEED"

# messages N: fewer where everything takes its time
messages() {
	if is_slow; then echo $(($1 / 10)); else echo "$1"; fi
}

setup_pair
for op in send send_imm write write_imm read; do
	verify "$op" -S "$SEED" -o "$op" -n "$(messages 2000)"
done
verify "fetch-and-add, compare-and-swap" -S "$SEED" -o fadd,cswap -n "$(messages 10000)" -d 64 --rd-atomic 64 --bidir
verify "8 QPs count on one word" -S "$SEED" -o count -n "$(messages 5000)" -q 8 --bidir
verify "one READ or atomic at a time" -S "$SEED" -o read,fadd,cswap,count -n "$(messages 2000)" -q 2 --rd-atomic 1
verify "mix, IPv6" -S "$SEED" -n "$(messages 2000)" -6
verify "mix, both directions" -S "$SEED" -n "$(messages 2000)" --bidir
verify "mix, 8 QPs, both directions" -S "$SEED" -q 8 -n "$(messages 500)" --bidir
verify "mix, relaxed ordering, 4 QPs" -S "$SEED" -q 4 -n "$(messages 1000)" --relaxed --bidir
verify "mix, up to 8 pieces" -S "$SEED" -n "$(messages 2000)" --sges 8
verify "mix, inline, small, every 8th signaled" -S "$SEED" -s 300 -n "$(messages 20000)" --inline --unsignaled 8 -d 64
verify "mix, completion events" -S "$SEED" -q 2 -n "$(messages 1000)" --events yes --bidir
verify "mix, solicited events only" -S "$SEED" -q 2 -n "$(messages 1000)" --events solicited --bidir
verify "mix, 64 QPs, one message at a time" -S "$SEED" -q 64 -n "$(messages 50)" -d 1 -s 20000
verify "mix, 1 MiB messages" -S "$SEED" -n "$(messages 200)" -s 1048576 -d 8
if ! is_slow; then
	# a stream's window is 4096 packets: 32 MiB here, 5.5 MiB with small frames
	verify "64 MiB messages, larger than every window" -S "$SEED" -o write,send,read -s 67108864 -n 8 -d 2
fi
on A ip link set vA mtu 1500
on B ip link set vB mtu 1500
verify "mix, MTU 1500" -S "$SEED" -q 2 -n "$(messages 1000)" --bidir
if ! is_slow; then
	verify "16 MiB messages, larger than every window, MTU 1500" -S "$SEED" -s 16777216 -n 20 -d 2 --bidir
fi
