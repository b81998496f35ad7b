#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# quick_set: MESSAGES=60
# limit_s: 300
# What the device says of itself is true: counters add up with known traffic and with what the network did to it,
# details of resources are those of the programs that run, each tracepoint fires and says the same as the counters.
# MESSAGES scales it.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"

MESSAGE_BYTES=65536
PAYLOAD_BYTES=8192		# of a packet, with MTU 9000
HEADER_BYTES=64
TRACING=/sys/kernel/tracing
CAUSES='retrans_(gap|time|path|local|refused|timeout)'
case $LANE$DEBUG_KERNEL in
uml) MESSAGES=${MESSAGES:-500} ;;
*) MESSAGES=${MESSAGES:-80} ;;
esac
PACKETS=$((MESSAGES * MESSAGE_BYTES / PAYLOAD_BYTES))

all_counters() {
	local side

	for side in A B; do
		on "$side" rdma statistic show link "$(device "$side")/1"
	done
}

# all_quiet: wait until nothing is counted any more
all_quiet() {
	wait_for "[ \"\$(all_counters)\" = \"\$(sleep 0.3; all_counters)\" ]" 20
}

# remember: the counters as they are when nothing happens any more
remember() {
	all_quiet
	all_counters > "$WORK/counters"
}

# grown SIDE PATTERN: by how much counters have grown since 'remember', in all
grown() {
	local before

	before=$(awk -v link="$(device "$1")/1" -v pattern="^($2)\$" '
		$2 == link { for (i = 1; i < NF; i++) if ($i ~ pattern) sum += $(i + 1) }
		END { printf "%d", sum }' "$WORK/counters")
	echo $(($(counter "$1" "$2") - before))
}

# same DESCRIPTION VALUE WANTED
same() {
	check "$1: $3" [ "$2" = "$3" ]
	[ "$2" = "$3" ] || ktap_diag "got $2"
}

# write_messages: WRITEs of $MESSAGES messages from A to B; returns when all is quiet
write_messages() {
	# shellcheck disable=SC2034
	PERF_UNIT=MB/s
	check "$1" perf_runs
	all_quiet
}

perf_runs() {
	perf_once "ib_write_bw -F -s $MESSAGE_BYTES -n $MESSAGES -Q 1" 60
	[ "$PERF_ERRORS" = 0 ] || { perf_failure; return 1; }
}

# spoil_packets NETEM ARGUMENTS...: what A sends from device to device; other traffic goes as it is. set_netem A ends it.
spoil_packets() {
	set_netem A
	on A tc qdisc add dev vA root handle 1: htb
	on A tc class add dev vA parent 1: classid 1:1 htb rate 100gbit quantum 60000
	on A tc qdisc add dev vA parent 1:1 handle 2: netem limit 20000 "$@"
	on A tc filter add dev vA parent 1: protocol ip u32 match ip protocol 17 0xff \
		match ip dport "$UDP_PORT" 0xffff flowid 1:1
}

# packets_lost: by netem
packets_lost() {
	on A tc -s qdisc show dev vA | grep -A 1 netem | sed -n 's/.*dropped \([0-9]*\),.*/\1/p'
}

# data_adds_up DESCRIPTION: of the packets of $MESSAGES messages, each is new once, and accepted once
data_adds_up() {
	same "$1: new packets" $(($(grown A 'tx_data_pkts|local_drop_pkts') - $(grown A retrans_pkts))) $PACKETS
	same "$1: packets placed" $(($(grown B rx_data_pkts) - $(grown B 'rx_dup_pkts|rx_refused_pkts'))) $PACKETS
	same "$1: retransmissions by cause" "$(grown A "$CAUSES")" "$(grown A retrans_pkts)"
	same "$1: bytes sent" "$(grown A tx_data_bytes)" \
		$(($(grown A tx_data_pkts) * (PAYLOAD_BYTES + HEADER_BYTES)))
	same "$1: bytes received" "$(grown B rx_data_bytes)" \
		$(($(grown B rx_data_pkts) * (PAYLOAD_BYTES + HEADER_BYTES)))
}

# missing FROM TO: packets that FROM has sent and TO has not seen
missing() {
	echo $(($(grown "$1" tx_pkts) - $(grown "$2" 'rx_pkts|drop_.*')))
}

# ---- counters --------------------------------------------------------------------------------------------------------
names_are_documented() {
	counter_names | sort > "$WORK/names"
	# shellcheck disable=SC2016
	sed -n 's/^ *``\([a-z_]*\)`` .*/\1/p' "$TOP/Documentation/observability.rst" |
		sort > "$WORK/documented"
	[ -z "$(comm -23 "$WORK/names" "$WORK/documented")" ] || { comm -23 "$WORK/names" "$WORK/documented"; return 1; }
	[ "$(wc -l < "$WORK/names")" -gt 40 ]
}

counter_names() {
	on A rdma statistic show link "$(device A)/1" | awk '{ for (i = 3; i < NF; i += 2) print $i }'
}

counters_without_loss() {
	remember
	write_messages "a clean link"
	data_adds_up "clean"
	same "clean: B has got what A sent" "$(missing A B)" 0
	same "clean: A has got what B sent" "$(missing B A)" 0
	same "clean: acknowledgements" "$(grown A rx_acks)" "$(grown B tx_acks)"
}

counters_with_loss() {
	local lost

	spoil_packets loss 3%
	remember
	write_messages "loss"
	lost=$(packets_lost)
	set_netem A
	ktap_diag "$lost lost, $(grown A lost_pkts) taken for lost"
	check "loss: packets were lost" [ "$lost" -gt $((PACKETS / 100)) ]
	same "loss: what B has not got was lost" "$(missing A B)" "$lost"
	data_adds_up "loss"
	check "loss: gaps were seen" [ "$(grown A retrans_gap)" -gt 0 ]
	check "loss: most losses were noticed" [ "$(grown A lost_pkts)" -gt $((lost * 2 / 3)) ]
	check "loss: nothing is sent again that was not lost" \
		[ "$(grown A 'retrans_(gap|time|path)')" -le "$(grown A lost_pkts)" ]
}

counters_with_marks() {
	spoil_packets loss 5% ecn
	remember
	write_messages "marks"
	set_netem A
	data_adds_up "marks"
	check "marks: B has seen them" [ "$(grown B rx_ce_pkts)" -gt $((PACKETS / 50)) ]
	check "marks: A has heard of them" [ "$(grown A marked_pkts)" -gt $(($(grown B rx_ce_pkts) / 2)) ]
	check "marks: A has not heard of more" \
		[ "$(grown A marked_pkts)" -le "$(grown B 'rx_ce_pkts|rx_probes')" ]
}

# The queue of A's interface is too short
counters_with_local_drops() {
	on A tc qdisc add dev vA root netem limit 3 rate 300mbit
	remember
	write_messages "a short queue"
	set_netem A
	data_adds_up "short queue"
	check "short queue: the local stack refused packets" [ "$(grown A local_drop_pkts)" -gt 0 ]
	check "short queue: they were sent again as such" [ "$(grown A retrans_local)" -gt 0 ]
	check "short queue: not oftener" [ "$(grown A retrans_local)" -le "$(grown A local_drop_pkts)" ]
}

counters_with_refusals() {
	remember
	check "refusals: the cases run" timeout 60 "$TOOLS/mroce_qpstate" -s 4500 -A "$(device A)" -B "$(device B)" \
		rnr_limit rnr_in_time rnr_forever
	all_quiet
	check "refusals: B has refused packets" [ "$(grown B rnr_tx)" -gt 0 ]
	same "refusals: by reason" "$(grown B 'rnr_tx|rx_refused_busy|rx_refused_not_ready')" "$(grown B rx_refused_pkts)"
	check "refusals: A has heard of them" [ "$(grown A refused_pkts)" -gt 0 ]
	check "refusals: A has not heard of more" [ "$(grown A refused_pkts)" -le "$(grown B 'rx_refused_pkts|drop_qp')" ]
	check "refusals: A has waited" [ "$(grown A rnr_rx)" -gt 0 ]
	check "refusals: and sent again for that reason" [ "$(grown A retrans_refused)" -gt 0 ]
	same "refusals: retransmissions by cause" "$(grown A "$CAUSES")" "$(grown A retrans_pkts)"
}

# dead_ports even|odd|none: what comes from such source ports vanishes when it arrives at B
dead_ports() {
	local odd=0

	on B tc qdisc delete dev vB clsact 2> /dev/null || true
	[ "$1" != none ] || return 0
	[ "$1" = even ] || odd=1
	on B tc qdisc add dev vB clsact
	on B tc filter add dev vB ingress protocol ip u32 \
		match ip protocol 17 0xff match ip sport "$odd" 0x1 action drop
}

# On a slow machine few paths carry all: those that are left are next
counters_with_dead_paths() {
	local ports failed=0 retrans=0 rerolled=0

	for ports in even odd; do
		dead_ports $ports
		remember
		write_messages "$ports ports lead nowhere"
		dead_ports none
		data_adds_up "$ports ports lead nowhere"
		failed=$((failed + $(grown A path_fail)))
		retrans=$((retrans + $(grown A retrans_path)))
		rerolled=$((rerolled + $(grown A path_reroll)))
	done
	check "dead paths: noticed" [ $failed -gt 0 ]
	check "dead paths: their packets went elsewhere" [ $retrans -gt 0 ]
	check "dead paths: other ports were tried" [ $rerolled -gt 0 ]
}

# The network is gone for longer than the verbs timeout (67 ms), and the programs give up, whichever comes first
counters_with_timeouts() {
	remember
	start_traffic
	set_netem A loss 100%
	check "timeouts: counted" wait_for "[ \$(grown A timeouts)\$(grown B timeouts) != 00 ]" 20
	check "timeouts: sent again for that reason" wait_for "[ \$(grown A retrans_timeout)\$(grown B retrans_timeout) != 00 ]" 20
	traffic_fails "timeouts" client
	kill_traffic
	set_netem A
	all_quiet
	same "timeouts: retransmissions by cause" "$(grown A "$CAUSES")" "$(grown A retrans_pkts)"
}

# ---- resources -------------------------------------------------------------------------------------------------------
# objects KIND SIDE: of programs, one line each, with what the driver says
objects() {
	rdma -dd resource show "$1" | sed ':a; N; $!ba; s/\n[[:space:]]\+/ /g' | grep -E "^(link|dev) $(device "$2")[/ ]" |
		grep -v ' comm \[ib_'
}

# values KIND SIDE NAME: of each object
values() {
	objects "$1" "$2" | awk -v name="$3" '{ for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }'
}

# true_for_all KIND SIDE EXPRESSION: of awk, with the values in v["NAME"]
true_for_all() {
	objects "$1" "$2" > "$WORK/objects"
	awk '{ for (i = 1; i < NF; i++) v[$i] = $(i + 1); if (!('"$3"')) { print; bad = 1 } }
		END { exit bad || !NR }' "$WORK/objects"
}

resources() {
	local taken kind

	start_traffic -q 4
	same "4 QPs are there, in RTS" "$(objects qp A | grep -c ' type RC state RTS ')" 4
	same "they share a connection" "$(values qp A drv_conn | sort -u | wc -l)" 1
	check "it has 8 paths and a window" true_for_all qp A \
		'v["drv_paths"] == 8 && v["drv_paths_active"] <= 8 && v["drv_cwnd_bytes"] >= 8192'
	check "the indices of the rings are in order" true_for_all qp A \
		'v["drv_sq_cons"] <= v["drv_sq_taken"] && v["drv_sq_taken"] <= v["drv_sq_prod"] &&
		 v["drv_rq_cons"] <= v["drv_rq_bound"] && v["drv_rq_bound"] <= v["drv_rq_prod"]'
	check "so are psns" true_for_all qp A 'v["drv_una_psn"] <= v["drv_nxt_psn"] && v["drv_una_psn"] >= v["sq-psn"]'
	check "what is held is within its limit" true_for_all qp B 'v["drv_held_bytes"] <= 2097152'
	check "retries are left" true_for_all qp A 'v["drv_retries_left"] <= 7 && v["drv_rnr_wait"] <= 1'
	taken=$(values qp A drv_sq_cons | head -1)
	check "work goes on" wait_for "[ \"\$(values qp A drv_sq_cons | head -1)\" -gt $taken ]" 10
	check "completion queues are not fuller than they are long" true_for_all cq A \
		'v["drv_used"] <= v["cqe"] && v["drv_overflow"] == 0'
	check "completions were written" [ "$(values cq A drv_prod | sort -n | tail -1)" -gt 0 ]
	check "regions have the pages they need" true_for_all mr A \
		'v["drv_pages"] * 4096 >= v["mrlen"] && (v["drv_pages"] - 2) * 4096 < v["mrlen"]'
	for kind in qp cq mr; do
		ktap_diag "$(objects $kind A | head -n 1)"
	done
	kill_traffic
	check "all are gone with the program" wait_for "[ -z \"\$(objects qp A)\$(objects cq A)\$(objects mr A)\" ]" 10
}

# Whoever looks while objects come and go sees some of them, and does no harm
look_all_the_time() {
	local kind

	while [ ! -e "$WORK/enough" ]; do
		for kind in qp cq mr pd; do
			rdma -dd resource show $kind
		done
	done > "$WORK/looks"
}

resources_come_and_go() {
	local looker i

	look_all_the_time &
	looker=$!
	for i in 1 2 3 4 5 6 7 8; do
		verify "objects come and go while somebody looks, round $i" -q 8 -n 10
		[ $i -lt 3 ] || ! grep -q drv_ordering "$WORK/looks" || break
	done
	touch "$WORK/enough"
	wait $looker
	check "he has seen some of them" grep -q 'drv_ordering' "$WORK/looks"
}

# ---- tracepoints -----------------------------------------------------------------------------------------------------
# event NAME [PATTERN]: lines of the trace of that event
event() {
	grep -E " mroce_$1: " "$WORK/trace" | grep -E -- "${2:-.}" || true
}

event_count() {
	event "$@" | wc -l
}

index_of() {
	rdma dev | sed -n "s/^\([0-9]*\): $(device "$1"):.*/\1/p"
}

# all_fields EVENT EXPRESSION: true for each line; values in v["FIELD"]
all_fields() {
	event "$1" > "$WORK/events"
	awk '{ for (i = 1; i <= NF; i++) if (split($i, f, "=") == 2) v[f[1]] = f[2]; if (!('"$2"')) { print; bad = 1 } }
		END { exit bad || !NR }' "$WORK/events"
}

# trace_messages DESCRIPTION
trace_messages() {
	echo 16384 > $TRACING/buffer_size_kb
	: > $TRACING/trace
	echo 1 > $TRACING/events/mroce/enable
	remember
	write_messages "$1"
	echo 0 > $TRACING/events/mroce/enable
	cat $TRACING/trace > "$WORK/trace"
	: > $TRACING/trace
}

# tracepoints_agree DESCRIPTION: with the counters
tracepoints_agree() {
	local a b cause

	a="dev=$(index_of A) " b="dev=$(index_of B) "
	same "$1: messages posted" "$(event_count post "$a.* op=write bytes=$MESSAGE_BYTES .*pkts=8 status=0")" "$MESSAGES"
	same "$1: packets sent" "$(event_count send "$a")" "$(grown A 'tx_data_pkts|local_drop_pkts')"
	same "$1: packets received" "$(event_count receive "$b.*verdict=taken")" "$(grown B rx_data_pkts)"
	same "$1: with congestion" "$(event_count receive "$b.* ce=1 ")" "$(grown B rx_ce_pkts)"
	for cause in gap time path local refused timeout; do
		same "$1: sent again, $cause" "$(event_count send "$a.* retrans=$cause\$")" "$(grown A "retrans_$cause")"
	done
	same "$1: packets lost" "$(event_count loss "$a.* cause=(gap|time|path)\$")" "$(grown A lost_pkts)"
	check "$1: each packet acknowledged was sent" \
		[ "$(event ack "$a" | sed 's/.* acked=\([0-9]*\) .*/\1/' | paste -sd+ | bc)" -le "$(grown A tx_data_pkts)" ]
}

tracepoints_are_plausible() {
	check "trace: send" all_fields send \
		'v["path"] < 8 && v["bytes"] >= 64 && v["bytes"] <= 8256 && v["stream"] == "req" && v["conn"] != "00000000"'
	check "trace: receive" all_fields receive 'v["path"] < 8 && v["op"] == "write" && v["bytes"] <= 8256'
	check "trace: ack" all_fields ack 'v["path"] < 8 && v["acked"] <= 256 && v["rtt_ns"] < 60e9'
	check "trace: some round trips were measured" [ "$(event_count ack 'rtt_ns=[1-9]')" -gt 0 ]
	check "trace: window" all_fields window \
		'v["path"] < 8 && v["cwnd_bytes"] >= 4096 && v["path_cwnd_bytes"] > 0 && v["cwnd_bytes"] < 1e9'
	check "trace: windows moved" \
		[ "$(event window | sed 's/.* path_cwnd_bytes=\([0-9]*\) .*/\1/' | sort -u | wc -l)" -gt 1 ]
	check "trace: paths were suspected, by name" [ "$(event_count path_state ' from=active to=(suspect|probing) ')" -gt 0 ]
	check "trace: and got other ports" [ "$(event_count path_state ' to=probing ')" -gt 0 ]
	check "trace: ports are dynamic ones" all_fields path_state 'v["sport"] >= 49152 && v["path"] < 8'
}

tracepoints() {
	local event ports

	if [ ! -d $TRACING/events ]; then
		ktap_skip "tracepoints" "this kernel has no event tracing"
		return
	fi
	spoil_packets loss 5% ecn
	trace_messages "traced, marks"
	check "trace: marks" [ "$(event_count receive " ce=1 ")" -gt 0 ]
	tracepoints_agree "trace, marks"
	spoil_packets loss 5%
	for ports in even odd; do
		dead_ports $ports
		trace_messages "traced, loss, $ports ports lead nowhere"
		[ "$(event_count loss " cause=path")" = 0 ] || break
	done
	dead_ports none
	set_netem A
	check "trace: losses" [ "$(event_count loss " cause=gap")" -gt 0 ]
	check "trace: losses of dead paths" [ "$(event_count loss " cause=path")" -gt 0 ]
	tracepoints_agree "trace, loss"
	tracepoints_are_plausible
	for event in post send receive ack loss window path_state; do
		ktap_diag "$(event $event | tail -n 1)"
	done
}

setup_pair
modprobe -qa sch_htb sch_netem sch_ingress cls_u32 act_gact || true
check "all counters are documented" names_are_documented
verify "the connection opens" -n 50
counters_without_loss
counters_with_loss
counters_with_marks
counters_with_local_drops
counters_with_refusals
counters_with_dead_paths
counters_with_timeouts
resources
resources_come_and_go
same "nothing is held at the end" "$(counter A rx_hold_bytes)$(counter B rx_hold_bytes)" 00
tracepoints
check "devices and link go away" teardown_pair
