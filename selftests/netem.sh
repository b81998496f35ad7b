#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick_set: LOSS=10
# limit_s: 300
# Exact data while the network loses, delays, reorders and duplicates: no completion error, no byte wrong.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
SEED=${SEED:-1}
ktap_diag "seed $SEED"

# under DESCRIPTION "NETEM ARGUMENTS" VERIFY OPTIONS...: both directions; the disturbance must have happened
under() {
	local description=$1 how=$2 side disturbed=0

	shift 2
	for side in A B; do
		# shellcheck disable=SC2086
		set_netem $side $how
	done
	verify "$description" -S "$SEED" "$@"
	if [ "$VERIFIED" = 1 ] && [[ $how == *loss* ]]; then
		for side in A B; do
			disturbed=$((disturbed + $(on $side tc -s qdisc show dev v$side |
				sed -n 's/.*dropped \([0-9]*\),.*/\1/p' | head -1)))
		done
		[ "$disturbed" -gt 10 ] || ktap_not_ok "$description: packets were lost" "$disturbed"
	fi
}

setup_pair
by=(--bidir --no-poll)
for loss in ${LOSS:-1 5 10}; do
	under "$loss % loss" "loss $loss%" -n 1000 "${by[@]}"
	under "$loss % loss, small messages" "loss $loss%" -n 3000 -s 1000 "${by[@]}"
	under "$loss % loss, 4 QPs" "loss $loss%" -q 4 -n 500 "${by[@]}"
done
under "bursts of loss" "loss gemodel 1% 25%" -n 1000 "${by[@]}"
under "25 % reordered" "delay 2ms reorder 25% 50%" -n 1000 "${by[@]}"
under "5 % duplicated" "duplicate 5%" -n 2000 "${by[@]}"
under "jitter beyond the round trip" "delay 3ms 3ms" -n 500 "${by[@]}"
everything="delay 1ms 1ms loss 1% duplicate 5% reorder 25%"
under "loss, reordering, duplicates, jitter" "$everything" -q 2 -n 500 "${by[@]}"
under "1 % corrupted" "corrupt 1%" -n 1000 "${by[@]}"

# What was written first has to be visible first
under "polling memory, 1 % loss" "loss 1%" -n 1000 --bidir
under "polling memory, 10 % loss, 4 QPs" "loss 10%" -q 4 -n 300 --bidir
under "polling memory, 25 % reordered" "delay 2ms reorder 25% 50%" -n 500 --bidir
under "polling memory, loss, reordering, duplicates, jitter" "$everything" -q 2 -n 300 --bidir
under "polling memory, the same, relaxed data, strict flag" "$everything" -q 2 -n 300 --bidir --relaxed
under "polling memory, the same, plain WRITEs" "$everything" -q 2 -n 300 --bidir -o write
under "polling memory, the same, READs and atomics" "$everything" -q 2 -n 300 --bidir -o read,fadd,cswap,count
under "clean again" "" -n 1000
