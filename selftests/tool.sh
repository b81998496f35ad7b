#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 240
# The netlink family and the program mroce: what they tell is true, what is set holds, who may not is refused, dumps are
# complete and hold nothing, events come, and messages that make no sense change nothing. CONNS scales the dumps.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
PROGRAM=$OUT/userspace/tool/mroce
NETLINK=$TOP/selftests/tools/mroce_netlink.py
# the lazily freed memory of many more makes the KASAN kernel clear its shadow of all addresses when the module goes
case $DEBUG_KERNEL in
kasan) CONNS=${CONNS:-100} ;;
*) CONNS=${CONNS:-1000} ;;
esac
a=$(device A) b=$(device B)

# tool SIDE WORDS...
tool() {
	on "$1" "$PROGRAM" "${@:2}"
}

# json SIDE EXPRESSION WORDS...: of the array 'd' that the program prints with -j -s, a Python expression
json() {
	tool "$1" -js "${@:3}" > "$WORK/json" || return
	python3 -m json.tool "$WORK/json" > /dev/null || return
	python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print(($2))" "$WORK/json"
}

# same DESCRIPTION VALUE WANTED
same() {
	check "$1: $3" [ "$2" = "$3" ]
	[ "$2" = "$3" ] || ktap_diag "got $2"
}

# refused DESCRIPTION STATUS PATTERN COMMAND...: it ends with that status, and its standard error is the pattern
refused() {
	local description=$1 wanted=$2 pattern=$3 status=0

	"${@:4}" > "$WORK/stdout" 2> "$WORK/stderr" || status=$?
	if [ "$status" = "$wanted" ] && [[ $(cat "$WORK/stderr") =~ ^mroce:\ $pattern$ ]]; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "status $status instead of $wanted: '$(cat "$WORK/stderr")' instead of '$pattern'"
	fi
}

# ---- what it tells ---------------------------------------------------------------------------------------------------
devices_are_told() {
	local strange='\mr"x'

	same "dev: both devices, on every side its own" "$(json A '[x["dev"] for x in d]' dev)" "['$a']"
	same "dev: index and netdev" "$(json A 'd[0]["index"], d[0]["netdev"], d[0]["up"], d[0]["mtu"]' dev show "$a")" \
		"($(rdma dev | sed -n "s/^\([0-9]*\): $a:.*/\1/p"), 'vA', True, 9000)"
	same "dev: as the parameters say" "$(json A 'd[0]["paths"], d[0]["max_window_kib"], d[0]["cc"], d[0]["ordering"]' dev)" \
		"(8, 1024, 'ecn', 'auto')"
	on A ip link set vA down
	same "dev: down" "$(json A 'd[0]["up"]' dev)" False
	on A ip link set vA up
	configure_interface A
	wait_for "device_is_ready A" 20
	check "dev: text" eval "tool A dev | grep -qE '^$a index [0-9]+ netdev vA up yes mtu 9000 paths 8 max_window_kib 1024 cc ecn ordering auto conns [0-9]+ qps [0-9]+ planes 1\$'"
	check "dev: pretty JSON" eval "tool A -jps dev | python3 -m json.tool | grep -q '\"dev\": \"$a\"'"
	rdma dev set "$a" name "$strange"
	same "dev: a strange name" "$(json A 'd[0]["dev"]' dev)" "$strange"
	rdma dev set "$strange" name "$a"
}

# value QP-ATTRIBUTE: of the first QP of A, as 'rdma' tells it
resource() {
	rdma -dd resource show qp | sed ':a; N; $!ba; s/\n[[:space:]]\+/ /g' | grep "^link $a/.* type RC " |
		awk -v name="$1" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' | sort -u
}

# completion SIDE CODE: what functions of the completion find in the program's text, which has a stub in userspace/tests
completion() {
	on "$1" env PATH="$(dirname "$PROGRAM"):$PATH" bash -c ". '$TOP/userspace/tool/completion/mroce'; $2" | xargs
}

connections_are_told() {
	local id seen told

	start_traffic -q 4
	id=$(resource drv_conn)
	same "conn: the one that rdma tells of" "$(json A '[x["conn"] for x in d]' conn show "$a")" "[$id]"
	same "conn: addresses, state, QPs, paths" \
		"$(json A 'd[0]["local"], d[0]["remote"], d[0]["dscp"], d[0]["state"], d[0]["qps"], d[0]["paths"]' conn show "$a" conn "$id")" \
		"('::ffff:10.9.0.1', '::ffff:10.9.0.2', 0, 'open', 4, 8)"
	same "completion: devices and connections, of this text" "$(completion A "_mroce_devs; _mroce_conns '$a'")" "$a $id"
	same "dev: as many QPs as rdma counts" "$(json A 'd[0]["qps"]' dev)" "$(rdma resource show qp | grep -c "^link $a/.* RC ")"
	same "dev: one connection" "$(json A 'd[0]["conns"], d[0]["conns_bytes"]' dev)" "(1, $(json A 'd[0]["bytes"]' conn))"
	check "conn: a window, and what is in flight is at most a packet more" \
		[ "$(json A 'd[0]["window_bytes"] >= 8256 and d[0]["inflight_bytes"] <= d[0]["max_window_bytes"] + 9000 and d[0]["max_window_bytes"] == 1048576' conn)" = True ]
	check "conn: the peer was heard" [ "$(json A 'd[0]["heard_ms"] < 2000' conn)" = True ]
	check "dev: memory of a QP" [ "$(json A '0 < d[0]["qp_bytes"] < 65536 and d[0]["qps_bytes"] >= 4 * d[0]["qp_bytes"]' dev)" = True ]
	same "path: 8, each with a port of its own" "$(json A 'len(d), len({x["source_port"] for x in d}), {x["dev"] for x in d}' path show "$a" conn "$id")" "(8, 8, {'$a'})"
	same "path: numbers" "$(json A '[x["path"] for x in d]' path)" "[0, 1, 2, 3, 4, 5, 6, 7]"
	json A '"\n".join(str(x["source_port"]) for x in d)' path | sort > "$WORK/told"
	# those that tcpdump sees carry data; ports may change meanwhile
	on A timeout 20 tcpdump -i vA -nn -Z root -c 300 "udp dst port $UDP_PORT and src host $(address A) and greater 1000" 2> /dev/null |
		sed -n 's/.* IP [0-9.]*\.\([0-9]*\) > .*/\1/p' | sort -u > "$WORK/seen"
	json A '"\n".join(str(x["source_port"]) for x in d)' path | sort >> "$WORK/told"
	seen=$(wc -l < "$WORK/seen") told=$(comm -23 "$WORK/seen" <(sort -u "$WORK/told") | wc -l)
	check "path: data comes from these ports ($seen seen)" [ "$seen" -gt 0 -a "$told" = 0 ]
	check "path: what was sent is acknowledged, lost, or in flight" [ "$(json A 'all(x["acked_pkts"] <= x["sent_pkts"] and x["acked_bytes"] <= x["sent_bytes"] and x["lost_pkts"] <= x["sent_pkts"] for x in d)' path)" = True ]
	check "path: round trips" [ "$(json A 'any(0 < x["min_rtt_ns"] <= 2 * x["srtt_ns"] for x in d)' path)" = True ]
	check "path: something moves" [ "$(json A 'sum(x["rate_bytes"] for x in d) > 100000' path)" = True ]
	check "path: fractions" [ "$(json A 'all(0 <= x["loss"] <= 1 and 0 <= x["marked"] <= 1 and x["utilisation"] >= 0 for x in d)' path)" = True ]
	same "path: one alone" "$(json A 'len(d), d[0]["path"], d[0]["state"] in ("active", "probing", "suspect")' path show "$a" conn "$id" path 5)" "(1, 5, True)"
	check "path: text" eval "tool A path show $a conn $id path 5 | grep -qE '^$a conn $id path 5 plane 0 state [a-z]+ sport [0-9]+ srtt [0-9.]+us window_bytes [0-9]+ '"
	kill_traffic
	wait_for "[ \"\$(json A 'd[0][\"qps\"]' dev)\" = 0 ]" 10
	same "conn: it stays, without QPs" "$(json A 'len(d), d[0]["qps"]' conn)" "(1, 0)"
}

# What A's paths have sent together, of the connection that is open
paths_sum() {
	json A "sum(x['$1'] for x in d)" path show "$a"
}

loss_is_told() {
	local sent lost retrans

	sent=$(counter A tx_data_pkts) lost=$(counter A lost_pkts) retrans=$(counter A retrans_pkts)
	set_netem A loss 5%
	verify "data under loss" -n 400 -s 1-65536
	set_netem A
	sent=$(($(counter A tx_data_pkts) - sent)) lost=$(($(counter A lost_pkts) - lost)) retrans=$(($(counter A retrans_pkts) - retrans))
	ktap_diag "counters: $sent sent, $lost lost, $retrans sent again; $(tool A -s path | tail -n 2)"
	check "loss: paths lost as many as the counters say" [ "$(paths_sum lost_pkts)" -ge "$lost" -a "$lost" -gt 0 ]
	check "loss: so it is with those sent again" [ "$(paths_sum retrans_pkts)" -ge "$retrans" -a "$retrans" -gt 0 ]
	check "loss: it is seen as a share" [ "$(json A 'max(x["loss"] for x in d) > 0.001' path)" = True ]
	same "loss: all that was sent, by path and by counter" "$(paths_sum sent_pkts)" "$(counter A 'tx_data_pkts|local_drop_pkts')"
}

# ---- what is set -----------------------------------------------------------------------------------------------------
settings() {
	local parameter=/sys/module/mroce/parameters/paths default

	default=$(on A cat $parameter)
	check "set: paths, window, congestion control, ordering" tool A dev set "$a" paths 3 max_window_kib 256 cc delay ordering strict
	same "set: they are told" "$(json A 'd[0]["paths"], d[0]["max_window_kib"], d[0]["cc"], d[0]["ordering"]' dev)" "(3, 256, 'delay', 'strict')"
	same "set: of this device only" "$(json B 'd[0]["paths"], d[0]["max_window_kib"], d[0]["cc"], d[0]["ordering"]' dev)" "(8, 1024, 'ecn', 'auto')"
	same "set: the connection there was stays as it is" "$(json A 'd[0]["cc"], d[0]["paths"], d[0]["max_window_bytes"]' conn)" "('ecn', 8, 1048576)"
	verify "set: another connection" -n 200 --tclass 32
	same "set: it is like that" "$(json A '[(x["cc"], x["paths"], x["max_window_bytes"]) for x in d if x["dscp"] == 8]' conn)" "[('delay', 3, 262144)]"
	start_traffic -q 1
	same "set: a new QP is like that" "$(resource drv_ordering)" strict
	kill_traffic
	check "set: one alone" tool A dev set "$a" cc ecn
	same "set: the others stay" "$(json A 'd[0]["paths"], d[0]["max_window_kib"], d[0]["cc"], d[0]["ordering"]' dev)" "(3, 256, 'ecn', 'strict')"
	check "set: back to the parameters" tool A dev set "$a" paths default max_window_kib default cc default ordering default
	on A sh -c "echo 5 > $parameter"
	same "set: which may change" "$(json A 'd[0]["paths"], d[0]["max_window_kib"], d[0]["ordering"]' dev)" "(5, 1024, 'auto')"
	on A sh -c "echo $default > $parameter"
}

# ---- refusals --------------------------------------------------------------------------------------------------------
refusals() {
	local nodev='no such mroce device in this network namespace \(No such device\)'

	refused "refused: no such device" 2 "$nodev" tool A dev show mr99
	refused "refused: no such device to set" 2 "$nodev" tool A dev set mr99 paths 1
	refused "refused: connections of no such device" 2 "$nodev" tool A conn show mr99
	refused "refused: paths of no such device" 2 "$nodev" tool A path show mr99
	refused "refused: planes of no such device" 2 "$nodev" tool A plane show mr99
	refused "refused: no such connection" 2 'no such connection \(No such file or directory\)' tool A conn show "$a" conn 4000000000
	refused "refused: paths of no such connection" 2 'no such connection \(No such file or directory\)' tool A path show "$a" conn 4000000000
	refused "refused: no such path" 2 'no such path, or not open \(No such file or directory\)' \
		tool A path show "$a" conn "$(json A 'd[0]["conn"]' conn)" path 31
	refused "refused: no such congestion control" 2 'no such congestion control; there are: ecn, delay \(No such file or directory\)' \
		tool A dev set "$a" cc bbr
	refused "refused: a window too small" 2 'a window has at least 64 KiB \(Numerical result out of range\)' tool A dev set "$a" max_window_kib 63
	refused "refused: the first plane cannot go" 2 ".*the link's own.* \(Device or resource busy\)" tool A plane del "$a" dev vA
	on A ip link add d0 type dummy
	refused "refused: no such plane" 2 'the netdev is no plane of this device \(No such file or directory\)' tool A plane del "$a" dev d0
	on A ip link delete d0
	refused "refused: words without sense" 1 'what is "nonsense".*' tool A dev show "$a" nonsense
	refused "refused: no such namespace" 2 'network namespace "nowhere": .*' "$PROGRAM" -n nowhere dev
}


privileges() {
	local eperm='Operation not permitted'

	# the way to the program may be closed to others
	cp "$PROGRAM" /run/mroce
	chmod 755 /run /run/mroce
	check "nobody may look" on A setpriv --reuid=65534 --regid=65534 --clear-groups /run/mroce -js path
	for words in "dev set $a paths 1" "plane add $a dev vA" "plane del $a dev vA" "plane set $a dev vA speed 1" "link check vA"; do
		# shellcheck disable=SC2086
		refused "nobody may not: $words" 2 "$eperm" on A setpriv --reuid=65534 --regid=65534 --clear-groups /run/mroce $words
	done
	same "he has changed nothing" "$(json A 'd[0]["paths"]' dev)" 8
	# root in a user namespace, with a network namespace of his own
	if unshare -Ur true 2> /dev/null; then
		same "root of a user namespace sees nothing" "$(unshare -Urn /run/mroce -j dev)" "[]"
		refused "nor may he change anything" 2 "$eperm" unshare -Urn /run/mroce link check lo
	else
		ktap_skip "root of a user namespace" "no user namespaces here"
	fi
}

# ---- link check ------------------------------------------------------------------------------------------------------
# checked NETDEV ERROR REASON
checked() {
	local status=0

	tool A -j link check "$1" > "$WORK/json" 2>&1 || status=$?
	same "link check $1" "$status $(python3 -c 'import json, sys; x = json.load(open(sys.argv[1]))[0]; print(x["netdev"], x["error"], x.get("reason"))' "$WORK/json")" \
		"$([ "$2" = 0 ] && echo 0 || echo 2) $1 $2 $3"
}

link_check() {
	on A ip link add d0 type dummy
	on A ip link add link d0 name d0.5 type vlan id 5
	on A ip tuntap add t0 mode tun
	checked d0 0 None
	checked vA 16 "the netdev has an mroce device already"
	checked lo 95 "a loopback netdev has no GIDs"
	checked d0.5 93 "use the netdev below the VLAN"
	checked t0 97 "not an Ethernet netdev"
	check "link check: it was true" eval "on A rdma link add mr7 type mroce netdev d0 && on A rdma link delete mr7"
	refused "link check: no such netdev" 1 'there is no netdev "d9"' tool A link check d9
	ip netns add C
	ip netns exec C ip link set lo up
	ip netns exec C ip link add d0 type dummy
	ip netns exec C python3 -c "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', $UDP_PORT)); time.sleep(60)" &
	wait_for "[ -n \"\$(ip netns exec C ss -Hlun 'sport = :$UDP_PORT')\" ]" 20
	same "link check: the port is taken" "$("$PROGRAM" -n C link check d0 || true)" "d0 error 98 reason the UDP port is in use in this namespace"
	kill $!
	wait $! 2> /dev/null || true
	same "link check: it is free" "$("$PROGRAM" -n C link check d0)" "d0 error 0"
	check "link check leaves no socket" [ -z "$(ip netns exec C ss -Hlun)" ]
	on A ip link delete d0
	on A ip link delete t0
}

# C is there, and has no device
other_namespaces() {
	for object in dev conn path plane; do
		same "another namespace: no $object" "$("$PROGRAM" -n C -j $object)" "[]"
	done
	refused "another namespace: not by name" 2 'no such mroce device .*' "$PROGRAM" -n C conn show "$a"
	same "another namespace: not by id" "$(ip netns exec C python3 "$NETLINK" ask 7 "3=u32:$(json A 'd[0]["conn"]' conn)")" "errno 2 no such connection"
	refused "another namespace: nothing to set" 2 'no such mroce device .*' "$PROGRAM" -n C dev set "$a" paths 1
	ip netns delete C
}

# ---- monitor ---------------------------------------------------------------------------------------------------------
# listeners SIDE: sockets that have joined a group of generic netlink
listeners() {
	# shellcheck disable=SC2016
	on "$1" awk '$2 == 16 && $4 != "00000000"' /proc/net/netlink | wc -l
}

monitor() {
	local listener listener_b deaf status=0

	# not by 'on': its process id is wanted
	ip netns exec A "$PROGRAM" -j monitor > "$WORK/events" 2> "$WORK/lost" &
	listener=$!
	ip netns exec B "$PROGRAM" monitor > "$WORK/events_b" &
	listener_b=$!
	on A python3 "$NETLINK" deaf > "$WORK/deaf" &
	deaf=$!
	wait_for "grep -q READY $WORK/deaf && [ \"\$(listeners A)\" -ge 2 ] && [ \"\$(listeners B)\" -ge 1 ]" 20
	verify "monitor: a connection opens" -n 100 --tclass 64
	on A ip link set vA down
	on A ip link set vA up
	configure_interface A
	wait_for "device_is_ready A" 20
	start_traffic -q 1 --tclass 64
	set_netem A loss 100%
	wait_for "grep -q '\"type\": \"path\"' $WORK/events" 20
	set_netem A
	kill_traffic
	on A rdma link delete "$a"
	wait_for "grep -q '\"event\": \"gone\"' $WORK/events" 10
	kill "$listener" "$listener_b"
	wait "$listener" || status=$?
	same "monitor: a signal ends it" "$status" 0
	wait "$listener_b" || true
	check "monitor: JSON" python3 -m json.tool "$WORK/events" /dev/null
	tell() {
		python3 -c "import json, sys; d = json.load(open(sys.argv[1])); print(($1))" "$WORK/events"
	}
	same "monitor: opened, by whom" "$(tell '[(x["dev"], x["local"], x["remote"], x["dscp"]) for x in d if x.get("event") == "opened"][0]')" \
		"('$a', '::ffff:10.9.0.1', '::ffff:10.9.0.2', 16)"
	same "monitor: the plane went down and up" "$(tell '[(x["netdev"], x["event"]) for x in d if x["type"] == "plane"][:2]')" "[('vA', 'down'), ('vA', 'up')]"
	check "monitor: paths have changed" [ "$(tell 'any(x["from"] == "active" and x["state"] in ("suspect", "probing") and x["source_port"] > 49151 for x in d if x["type"] == "path")')" = True ]
	check "monitor: the connections have gone" [ "$(tell 'sum(x.get("event") == "gone" for x in d) >= 2')" = True ]
	check "monitor: the other side sees its own only" eval "grep -q '^conn $b ' '$WORK/events_b' && ! grep -q ' $a ' '$WORK/events_b'"
	kill "$deaf"
	wait "$deaf" 2> /dev/null || true
	on A rdma link add "$a" type mroce netdev vA
	wait_for "device_is_ready A" 20
}

# ---- dumps -----------------------------------------------------------------------------------------------------------
big_dumps() {
	local stalled pid

	on A ip route add 10.9.0.0/16 via "$(address B)"
	on A timeout 120 "$TOOLS/mroce_limits" "$a" peers "$CONNS" > "$WORK/limits"
	ktap_diag "$(cat "$WORK/limits")"
	same "many connections: all are told, once" "$(json A 'len(d) - 1, len({x["conn"] for x in d}) - 1, len({x["remote"] for x in d}) - 1' conn)" "($CONNS, $CONNS, $CONNS)"
	same "many connections: as many as the device has" "$(json A 'd[0]["conns"]' dev)" "$((CONNS + 1))"
	check "many connections: their memory" [ "$(json A 'd[0]["conns_bytes"] > d[0]["conns"] * 10000' dev)" = True ]
	same "many connections: none is open" "$(json A '{x["state"] for x in d}, len([1 for x in d if "paths" in x])' conn)" "({'idle'}, 0)"
	same "many connections: so there are no paths" "$(tool A -j path)" "[]"

	# Somebody begins to read and does not go on: all goes on without him
	on A python3 "$NETLINK" stall 7 > "$WORK/stall" &
	stalled=$!
	wait_for "grep -q READY $WORK/stall" 20
	check "a reader that stops: data flows" verify_pair -n 100
	check "a reader that stops: others read" [ "$(json A 'len(d)' conn)" = $((CONNS + 2)) ]
	check_quick "a reader that stops: the device goes" 5 ip netns exec A rdma link delete "$a"
	on A rdma link add "$a" type mroce netdev vA
	wait_for "device_is_ready A" 20
	kill "$stalled"
	wait "$stalled" 2> /dev/null || true

	# Connections and devices go while they are being read
	( while [ ! -e "$WORK/enough" ]; do tool A -js conn; tool A -js path; tool A -js dev; tool A -js plane; done > "$WORK/looks" 2>&1 ) &
	pid=$!
	for _ in 1 2 3; do
		on A timeout 120 "$TOOLS/mroce_limits" "$a" peers $((CONNS / 4)) > /dev/null
		on A rdma link delete "$a"
		on A rdma link add "$a" type mroce netdev vA
		wait_for "device_is_ready A" 20
	done
	touch "$WORK/enough"
	wait $pid
	check "they come and go while somebody reads" grep -q '"remote": "::ffff:10.9.1.' "$WORK/looks"
	check "nobody was told nonsense" eval "! grep -E '^mroce: ' '$WORK/looks' | grep -v 'No such'"
	check "data flows after that" verify_pair -n 100
}

# ---- messages without sense ------------------------------------------------------------------------------------------
hostile() {
	local before after status=0

	before=$(tool A dev; tool A plane; tool A conn)
	on A timeout 100 python3 "$NETLINK" hostile "$a" > "$WORK/hostile" 2>&1 || status=$?
	after=$(tool A dev; tool A plane; tool A conn)
	ktap_diag "$(tail -n 5 "$WORK/hostile")"
	check "messages without sense are refused" [ "$status" = 0 ]
	check "there were many of them" [ "$(sed -n 's/^refused //p' "$WORK/hostile")" -gt 5000 ]
	same "they have changed nothing" "$after" "$before"
	same "a request that makes sense is granted" "$(on A python3 "$NETLINK" ask 2 "2=str:$a" 7=u8:4)" "errno 0"
	same "and holds" "$(json A 'd[0]["paths"]' dev)" 4
	on A "$PROGRAM" dev set "$a" paths default
}

# ---- planes ----------------------------------------------------------------------------------------------------------
planes() {
	same "plane: the link's own" "$(json A '[(x["netdev"], x["label"], x["up"], x["primary"]) for x in d]' plane show "$a")" "[('vA', 0, True, True)]"
	ip link add vA2 netns A type veth peer name vB2 netns B
	for side in A B; do
		on $side ip link set "v${side}2" mtu 9000 up
		on $side ip address add "10.10.0.$([ $side = A ] && echo 1 || echo 2)/24" dev "v${side}2"
	done
	ip netns exec A "$PROGRAM" -j monitor > "$WORK/plane_events" &
	listener=$!
	wait_for "[ \"\$(listeners A)\" -ge 1 ]" 20
	check "plane: added" tool A plane add "$a" dev vA2 label 3
	check "plane: on the other side, too" tool B plane add "$b" dev vB2 label 3
	same "plane: told" "$(json A '[(x["netdev"], x["label"], x["up"], x["primary"], x["addr4"]) for x in d]' plane)" \
		"[('vA', 0, True, True, '::ffff:10.9.0.1'), ('vA2', 3, True, False, '::ffff:10.10.0.1')]"
	same "dev: two planes" "$(json A 'd[0]["planes"]' dev)" 2
	refused "plane: not twice" 2 '.+' tool A plane add "$a" dev vA2
	verify "plane: data" -n 300
	check "plane: there are paths on both, by label" wait_for "[ \"\$(json A 'sorted({x[\"plane\"] for x in d})' path)\" = '[0, 3]' ]" 20
	check "plane: removed" tool A plane del "$a" dev vA2
	check "plane: there, too" tool B plane del "$b" dev vB2
	check "plane: the monitor has seen it come and go" \
		wait_for "grep -q '\"added\"' $WORK/plane_events && grep -q '\"removed\"' $WORK/plane_events" 10
	kill $listener
	wait $listener || true
	same "plane: gone" "$(json A '[x["netdev"] for x in d]' plane)" "['vA']"
	on A ip link delete vA2
}

setup_pair
modprobe -a tun dummy
devices_are_told
connections_are_told
loss_is_told
settings
refusals
privileges
link_check
other_namespaces
planes
monitor
big_dumps
hostile
check "devices and link go away" teardown_pair
check "the module goes" rmmod mroce
refused "without the module" 2 'the module mroce is not loaded: modprobe mroce' "$PROGRAM" dev
