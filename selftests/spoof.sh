#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: uml
# quick_set: COUNT=100 FLOOD_S=2
# limit_s: 240
# Somebody who does not see the packets of a connection forges some in its name: nothing changes. Strangers get no more
# than they have sent; a flood of them costs no memory, and keeps nobody out.
#   COUNT=1000   forged packets of each kind     FLOOD_S=5   length of a flood
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
. "$(dirname "$0")/topology.sh"
SEED=${SEED:-1} COUNT=${COUNT:-$(is_slow && echo 200 || echo 1000)} FLOOD_S=${FLOOD_S:-5}
ktap_diag "seed $SEED"

# attack SIDE-ATTACKED OPTIONS... SET: mroce_forge.py from the other side
attack() {
	local target=$1 source=A

	shift
	[ "$target" = B ] || source=B
	on "$source" timeout $((FLOOD_S + 100)) "$TOP/selftests/tools/mroce_forge.py" --seed "$SEED" --count "$COUNT" \
		"${@:1:$#-1}" "v$source" "$(on "$target" cat "/sys/class/net/v$target/address")" "$(address "$target")" "${!#}"
}

# What nobody without secrets may change
fate() {
	counter A 'conn_open|conn_restart'
	echo
	counter B 'conn_open|conn_restart'
}

# are_running PID...: all of them
are_running() {
	local pid

	for pid; do
		kill -0 "$pid" 2> /dev/null || return
	done
}

# forged SET DROP-REASON|answered: with the other's address, to both sides in turn, while data runs
forged() {
	local set=$1 reason=$2 target source before fate_before moved_a moved_b alive

	LIMIT_S=150 start_traffic -S "$SEED" -q 2 --bidir --seconds 120
	# the same once more
	for target in B $([ -n "${QUICK:-}" ] || echo A); do
		source=A
		[ "$target" = B ] || source=B
		[ "$reason" = answered ] || before=$(counter "$target" "drop_$reason")
		fate_before=$(fate)
		moved_a=$(counter A rx_data_pkts) moved_b=$(counter B rx_data_pkts)
		check "$set to $target is forged" attack_to_file "$target" --source "$(address "$source")" "$set"
		alive=no
		! are_running "$CLIENT" "$SERVER" || alive=yes
		moved_a=$(($(counter A rx_data_pkts) - moved_a)) moved_b=$(($(counter B rx_data_pkts) - moved_b))
		check "forged $set to $target: data went on both ways meanwhile" \
			eval "[ $alive = yes ] && [ $moved_a -ge 100 ] && [ $moved_b -ge 100 ]"
		ktap_diag "$moved_b data packets to B, $moved_a to A"
		[ "$reason" = answered ] ||
			check "forged $set to $target: $(tail -n 1 "$WORK/forge"), dropped ($reason)" \
				[ $(($(counter "$target" "drop_$reason") - before)) -ge $((COUNT * 9 / 10)) ]
		check "forged $set to $target: no connection is opened, started anew or broken" [ "$(fate)" = "$fate_before" ]
	done
	traffic_ends "data while $set is forged"
}

attack_to_file() {
	attack "$@" > "$WORK/forge" 2>&1
}

# amplified FAMILY-OF-REPLIES KIND...: as much comes back at most as was sent; something does (answered), or nothing
amplified() {
	local expected=$1 kind sent received

	shift
	for kind; do
		read -r sent received <<< "$(sed -n "s/^amplify $kind //p" "$WORK/amplify")"
		check "reply to a stranger's $kind: $received bytes for $sent" eval \
			"[ -n '$received' ] && [ ${received:-1} -le ${sent:-0} ] && [ $((${received:-0} > 0)) = $expected ]"
	done
}

# What every user of either host can see
shown() {
	local side

	for side in A B; do
		on "$side" "$MROCE" -j conn show
		on "$side" "$MROCE" -j path show
		on "$side" rdma -dd resource show qp
		on "$side" rdma -dd -j resource show qp
	done
}

unreclaimable_kib() {
	awk '$1 == "SUnreclaim:" {print $2}' /proc/meminfo
}

setup_pair
verify "data before" -S "$SEED" -n 300 --bidir
forged DATA conn
forged ACK conn
forged PROBE conn
forged PROBE_ACK conn
forged HELLO answered
forged COOKIE cookie
forged HELLO_ACK conn
forged KNOWN cookie
forged UNKNOWN conn

# A stranger at an address of its own; then the connection's peer itself, which nobody shall make loud
on A ip address add 10.9.0.77/24 dev vA
COUNT=200 attack B amplify > "$WORK/amplify"
ktap_diag "$(cat "$WORK/amplify")"
amplified 1 HELLO HELLO-padded COOKIE DATA PROBE HELLO-full-with-cookie HELLO-short-with-cookie
amplified 0 HELLO_ACK ACK PROBE_ACK UNKNOWN
COUNT=200 attack B --source "$(address A)" amplify > "$WORK/amplify"
ktap_diag "$(cat "$WORK/amplify")"
amplified 1 HELLO-short-with-cookie

# The stranger can have cookies for its address. It is not the peer for that.
start_traffic -S "$SEED" -q 2 --bidir --seconds 120
COUNT=8 attack B --source "$(address A)" KNOWN > "$WORK/known"
ids=$(sed -n 's/^ids //p' "$WORK/known")
shown > "$WORK/shown"
check "connections are shown to everybody, and ids that others could forge with are not" eval "[ -n '$ids' ] &&
	grep -q '\"conn\":' '$WORK/shown' && grep -q drv_conn '$WORK/shown' && ! grep -qiwE '(0x)?(${ids// /|})' '$WORK/shown'"
before=$(fate)
sent=$(counter B rx_data_pkts)
COUNT=50 attack B --owner "$(address A)" STEAL > "$WORK/steal"
ktap_diag "$(cat "$WORK/steal")"
check "a stranger's HELLOs about somebody else's connection: none is opened, started anew or broken" \
	[ "$(fate)" = "$before" ]
check "it is not even given a cookie" grep -q '^amplify STEAL [1-9][0-9]* 0$' "$WORK/steal"
check "data went on meanwhile" [ $(($(counter B rx_data_pkts) - sent)) -ge 100 ]
traffic_ends "data while a stranger says HELLO"

# Floods: replies to the made-up addresses find their way to A, where they are nobody's
on B ip route add default via "$(address A)"
on A ip route add default via "$(address B)"
parameter=/sys/module/mroce/parameters/cookies_per_s
default=$(on B cat "$parameter")
on B sh -c "echo 1000 > $parameter"
before=$(unreclaimable_kib)
replies=$(on A cat /sys/class/net/vA/statistics/rx_packets)
start=$(date +%s%N)
attack B --seconds "$FLOOD_S" flood > "$WORK/flood"
ms=$((($(date +%s%N) - start) / 1000000))
replies=$(($(on A cat /sys/class/net/vA/statistics/rx_packets) - replies))
sent=$(sed -n 's/^sent \([0-9]*\) packets/\1/p' "$WORK/flood")
grown=$(($(unreclaimable_kib) - before))
ktap_diag "flood: $sent HELLOs in $ms ms, $replies packets came back, slabs grew by $grown KiB"
# 1024 at once, and some of the link's own
if [ -n "$DEBUG_KERNEL" ] && [ "${sent:-0}" -le $((1024 + ms + 100)) ]; then
	ktap_skip "flood: more HELLOs than may be answered" "this kernel sends no more than $sent in $ms ms"
else
	check "flood: more HELLOs than may be answered" [ "${sent:-0}" -gt $((1024 + ms + 100)) ]
fi
check "flood: 1000 replies a second at most" [ "$replies" -gt 0 -a "$replies" -le $((1024 + ms + 100)) ]
# what an allocator keeps freed memory for, it does not give back
allowed=$((sent * 32 / 1024 + 1024))
[ -z "${DEBUG_KERNEL:-}" ] || allowed=$((allowed + 65536))
check "flood: nothing is remembered of $sent HELLOs ($grown KiB)" [ "$grown" -lt "$allowed" ]

del_devices
attack B --seconds 60 flood > "$WORK/flood.b" 2>&1 &
flood_b=$!
attack A --seconds 60 flood > "$WORK/flood.a" 2>&1 &
flood_a=$!
add_devices
opened=$(counter B conn_open)
verify "a new connection opens, and carries data, during floods in both directions" -S "$SEED" -q 2 -n 300 --bidir
check "it is a new one" [ "$(counter B conn_open)" -gt "$opened" ]
check "the floods have lasted" are_running "$flood_a" "$flood_b"
kill "$flood_a" "$flood_b" 2> /dev/null || true
wait "$flood_a" "$flood_b" 2> /dev/null || true
on B sh -c "echo $default > $parameter"
verify "data after" -S "$SEED" -n 300 --bidir
check "devices and link go away" teardown_pair
