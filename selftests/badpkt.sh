#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: debug
# quick_set: ATTACKS="B6"
# limit_s: 240
# Malformed packets of every type and length at the UDP port, while data flows: they are dropped and counted, the data is
# unharmed, and nobody answers garbage with more garbage.
#   ATTACKS="B4 A6"   only these sides, over these versions of IP
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
SEED=${SEED:-1}
ktap_diag "seed $SEED"

reasons=(short version type opcode length field conn)

# attack SIDE-ATTACKED FAMILY: garbage from the peer's address, data runs meanwhile
attack() {
	local target=$1 family=$2 source=A drops answers sent injector reason runs=0 what="to $1 over IPv$2" options=
	local -A before

	[ "$target" = B ] || source=B
	[ "$family" = 4 ] || options=-6
	drops=$(counter "$target" 'drop.*')
	for reason in "${reasons[@]}"; do
		before[$reason]=$(counter "$target" "drop_$reason")
	done
	answers=$(counter "$target" 'unknown_tx.*|tx_unknown.*')
	on "$source" timeout 100 "$TOP/selftests/tools/mroce_inject.py" --seed "$SEED" --sniff "v$source" \
		"$(address "$target" "$family")" "$UDP_PORT" > "$WORK/inject" 2>&1 &
	injector=$!
	while kill -0 "$injector" 2> /dev/null; do
		# shellcheck disable=SC2086
		verify "data during garbage $what, run $((runs += 1))" -S "$SEED" -q 2 -n 1000 --bidir $options
		[ "$VERIFIED" = 1 ] || break
	done
	check "garbage $what was sent" wait "$injector"
	ktap_diag "$(cat "$WORK/inject")"
	sent=$(sed -n 's/^sent \([0-9]*\) packets.*/\1/p' "$WORK/inject")
	drops=$(($(counter "$target" 'drop.*') - drops))
	answers=$(($(counter "$target" 'unknown_tx.*|tx_unknown.*') - answers))
	ktap_diag "$drops packets dropped, $answers answered with UNKNOWN"
	check "garbage $what: most of it is counted as dropped" [ "$drops" -gt $((${sent:-1000000000} / 2)) ]
	for reason in "${reasons[@]}"; do
		check "garbage $what: counted as $reason" \
			[ "$(counter "$target" "drop_$reason")" -gt "${before[$reason]}" ]
	done
	check "garbage $what: few answers" [ "$answers" -lt $((${sent:-0} / 20)) ]
}

setup_pair
verify "data before" -S "$SEED" -n 500
for target in ${ATTACKS:-B4 A4 B6}; do
	attack "${target:0:1}" "${target:1}"
done

# forge SET COUNTER OPTIONS...: true packets that must not count as true; data runs meanwhile
forge() {
	local set=$1 name=$2 before

	shift 2
	before=$(counter B "$name")
	on A timeout 60 "$TOP/selftests/tools/mroce_inject.py" --sniff vA --set "$set" "$@" \
		"$(address B)" "$UDP_PORT" > "$WORK/inject" 2>&1 &
	injector=$!
	verify "data while packets are forged: $set" -S "$SEED" -q 2 -n 2000 --bidir
	check "forged packets were sent: $set" wait "$injector"
	ktap_diag "$(cat "$WORK/inject")"
	check "forged packets do nothing: $set" [ "$(counter B "$name")" -gt $((before + 20)) ]
}

on A ip address add 10.9.0.77/24 dev vA
forge replay drop_conn --source 10.9.0.77
forge stale 'drop_qp|drop_window'
verify "data after" -S "$SEED" -n 500
check "devices and link go away" teardown_pair
