#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: none
# limit_s: 300
# Programs that watch memory instead of a completion queue, between paths of unlike delay that also reorder: strict
# regions never show the flag before the data, and nobody ever sees half a record.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
SEED=${SEED:-1}
ROUNDS=${ROUNDS:-$(is_slow && echo 1000 || echo 10000)}
SKEW_MS=10
ktap_diag "seed $SEED"

# polling DESCRIPTION OPTIONS...: mroce_polling with its client on A and its server on B, one result. Sets
#	MISORDERED	how often either end saw a flag before its data, or before an earlier flag
polling() {
	local description=$1 both

	shift
	RUN_PORT=$((RUN_PORT + 1)) MISORDERED=0
	both="$TOOLS/mroce_polling -p $RUN_PORT -t 100"
	if ! run_pair "$both -D $(device B)" "$both -D $(device A) -S $SEED $* $(address B)" 100; then
		ktap_not_ok "$description" \
			"client ($CLIENT_STATUS): $(tail -n 2 "$WORK/client")"$'\n'"server ($SERVER_STATUS): $(tail -n 2 "$WORK/server")"
		return
	fi
	MISORDERED=$(cat "$WORK/client" "$WORK/server" | sed -n 's/.* \([0-9]*\) early, \([0-9]*\) overtaken.*/\1 \2/p' |
		awk '{n += $1 + $2} END {print n + 0}')
	ktap_ok "$description"
	ktap_diag "client: $(tail -n 1 "$WORK/client"); server: $(tail -n 1 "$WORK/server")"
}

setup_pair
polling "clean: flag" -m flag -n $((ROUNDS / 5))
# without delay the end of a copy is seen as it happens
polling "clean: last byte" -m last -n $((ROUNDS * 5)) -s 8192 -d 8
polling "clean: record" -m record -n $((ROUNDS * 10)) -d 8
setup_skew $SKEW_MS reorder 25% 50%
polling "skew: flag after data" -m flag -n "$ROUNDS" -d 32
polling "skew: last byte" -m last -n "$ROUNDS" -s 8192 -d 64
polling "skew: record" -m record -n "$ROUNDS" -d 64
for side in A B; do
	check "$side has sent over paths of unlike delay" [ "$(skew_spread $side)" -ge 2 ]
done
# A flag in a strict region vouches for data in a relaxed one
polling "skew: strict flag after relaxed data" -m flag -n $((ROUNDS / 5)) -d 32 --relaxed data
polling "skew: relaxed, last byte" -m last -n "$ROUNDS" -s 8192 -d 64 --relaxed all --unordered
polling "skew: relaxed, record" -m record -n "$ROUNDS" -d 64 --relaxed all --unordered
# The same network, and nobody asks for order: what the checks above look for is there to be seen
polling "skew: relaxed, flag" -m flag -n $((ROUNDS / 5)) -d 32 --relaxed all --unordered
if [ "$DEV" = mroce ] && ! is_slow; then
	check "skew: without order flags are early" [ "$MISORDERED" -gt 0 ]
fi
for side in A B; do
	set_link $side 0
done
check "devices and link go away" teardown_pair
