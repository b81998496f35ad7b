# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# What every test script sources. Runs inside a guest, as root.
#
# A test script is selftests/NAME.sh and starts with
#	#!/bin/bash
#	# SPDX-License-Identifier: ...
#	# lanes: uml debug qemu		where it runs; debug: the lanes of the debugging kernels
#	# limit_s: 120			its guest is killed after this long (default 120)
#	# cpus: 1			of its guest (default 2)
#	# kernel: ipv6.disable=1	parameters of its kernel
#	# alone: yes			no other guest runs meanwhile
#	# quick: uml debug		lanes of a quick run (default: all of its lanes but debug; none: a quick run has not got it)
#	# quick_set: ROUNDS=3		variables of a quick run
#	# named: yes			runs only where TEST names it
#	# machines: 2			two QEMU guests in the qemu lane (default 1)
#	# rows: demo.json		where its json_row objects go (default: nowhere)
#	set -euo pipefail
#	. "$(dirname "$0")/lib.sh"
# It reports KTAP on standard output; everything else belongs on standard error (the console). When it ends, however it
# ends, one more result says whether the kernel log is clean, and the plan follows. So never 'trap ... EXIT': use 'defer'.
#
# Two sides, A and B, joined by one link: interfaces vA and vB, addresses 10.9.0.1, 10.9.0.2 and fd00:9::1, fd00:9::2.
# They are two network namespaces of one kernel, or two machines; 'on A' and 'on B' hide which.
#
#	    A  vA 10.9.0.1 ----------------- 10.9.0.2 vB  B
#	       mrA                                    mrB

DEV=${DEV:-mroce}		# device type under test: mroce, rxe, siw
LANE=${LANE:-uml}		# uml or qemu
DEBUG_KERNEL=${DEBUG_KERNEL:-}	# kasan, lockdep, or nothing
PAIR=${PAIR:-namespaces}	# namespaces or machines
ROLE=${ROLE:-a}			# which of two machines this is
AGENT_PORT=700			# of the second machine, on the control network
AGENT_ADDRESS=10.8.0.2
WORK=$(mktemp -d)

# is_slow: everything takes longer on an emulated machine, and on a kernel that checks every step
is_slow() {
	[ "$LANE" = qemu ] || [ -n "$DEBUG_KERNEL" ]
}

# patience SECONDS: how long to wait for what takes so long on a quick machine
patience() {
	if is_slow; then echo $(($1 * 3)); else echo "$1"; fi
}

# ---- KTAP ------------------------------------------------------------------------------------------------------------
ktap_count=0
ktap_failed=0
deferred=()

ktap_ok() {
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1"
}

# ktap_not_ok DESCRIPTION [WHY]
ktap_not_ok() {
	ktap_count=$((ktap_count + 1))
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $ktap_count $1"
	[ -z "${2:-}" ] || ktap_diag "$2"
}

# ktap_skip DESCRIPTION REASON
ktap_skip() {
	ktap_count=$((ktap_count + 1))
	echo "ok $ktap_count $1 # SKIP $2"
}

ktap_diag() {
	printf '# %s\n' "${*//$'\n'/$'\n'# }"
}

# check DESCRIPTION COMMAND...: ok if the command succeeds; its output is shown if it does not
check() {
	local description=$1 output

	shift
	if output=$("$@" 2>&1); then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "failed: $*"$'\n'"$(tail -20 <<< "$output")"
	fi
}

# check_gone DESCRIPTION CONDITION COMMAND...: the command succeeds, and within 2 s (of a quick machine) of its start the
# condition holds. What a command takes away may well outlive it: 'ip netns delete' only takes the name. So the condition
# shall be something the end of the namespace brings about, and the kernel has to be done with that, too: it ends namespaces
# one after the other, and another one that is deleted later goes.
check_gone() {
	local description=$1 condition=$2 status=0 start output ms why=

	shift 2
	if [ "$1 $2" = "ip netns" ]; then
		add_probe
		condition="{ $condition; } && probe_is_gone"
	fi
	start=$(date +%s%N)
	output=$(timeout -k 1 20 "$@" 2>&1) || status=$?
	[ "$status" = 0 ] || why="status $status: $* $output"
	[ -n "$why" ] || why=$(wait_for "$condition" 10 2>&1) || true
	ms=$((($(date +%s%N) - start) / 1000000))
	[ -n "$why" ] || [ "$ms" -le "$(patience 2000)" ] || why="took $ms ms"
	if [ -z "$why" ]; then
		ktap_ok "$description ($ms ms)"
	else
		ktap_not_ok "$description" "$why"
	fi
}

add_probe() {
	ip netns add probe
	ip link add probe type veth peer name probe netns probe
}

probe_is_gone() {
	[ ! -e /run/netns/probe ] || ip netns delete probe
	! ip link show probe > /dev/null 2>&1
}

# no_interface SIDE NAME
no_interface() {
	! on "$1" ip link show "$2" > /dev/null 2>&1
}

# defer COMMAND: run it when the test ends, last deferred first
defer() {
	deferred=("$1" "${deferred[@]}")
}

# Lines of the kernel log that no test may cause. The first lines of a splat follow each match. Memory of rings that a
# living program still has mapped may be there when the module goes.
kernel_log_splats() {
	{ dmesg; [ "$PAIR" = namespaces ] || remote dmesg; } | grep -v 'func:mroce_ring_create has' | grep -E -A 12 \
		-e 'module mroce.* allocated at module unload' \
		-e 'WARNING: ' -e 'BUG: ' -e 'Oops' -e 'KASAN: ' -e 'UBSAN: ' -e 'Kernel panic' -e 'general protection' \
		-e 'INFO: (task|rcu)' -e 'possible (circular|recursive|irq)' -e 'inconsistent lock state' -e 'suspicious RCU' \
		-e 'unregister_netdevice: waiting for' -e 'refcount_t: ' -e 'soft lockup' -e 'scheduling while atomic' \
		-e 'kmemleak: [1-9]' -e 'ODEBUG: ' -e 'list_(add|del) corruption' -e 'Call Trace:' | head -60
}

# The kernel says what memory a module leaves behind. Called by check_kernel_log, which tests of the host replace: their
# machine's module stays.
unload_module() {
	local side

	[ "$DEV" = mroce ] || return 0
	for side in A B; do
		if [ "$PAIR" = namespaces ]; then
			[ ! -d /sys/module/mroce ] || rmmod mroce || return
		else
			on $side sh -c "[ ! -d /sys/module/mroce ] || rmmod mroce" || return
		fi
	done
}

check_kernel_log() {
	local splats

	unload_module || ktap_not_ok "the module goes at the end"
	splats=$(kernel_log_splats) || true
	if [ -z "$splats" ]; then
		ktap_ok "kernel log is clean"
	else
		ktap_not_ok "kernel log is clean" "$splats"
	fi
}

finish() {
	local status=$? command

	set +e
	[ "$status" = 0 ] || ktap_not_ok "the test runs to its end" "status $status"
	for command in "${deferred[@]}"; do
		eval "$command" >&2
	done
	check_kernel_log
	echo "1..$ktap_count"
	rm -rf "$WORK"
	# later, so that the answer arrives
	[ "$PAIR" = namespaces ] || remote bash -c "(sleep 1; exec poweroff -f) < /dev/null > /dev/null 2>&1 &"
	[ "$ktap_failed" = 0 ]
	exit
}

trap finish EXIT
echo "KTAP version 1"

# ---- waiting, results ------------------------------------------------------------------------------------------------
# wait_for CONDITION [DEADLINE_S]: evaluate the condition until it holds; fails at the deadline
wait_for() {
	local end=$((SECONDS + $(patience "${2:-10}") + 1))

	until eval "$1"; do
		if [ "$SECONDS" -ge "$end" ]; then
			echo "not true within ${2:-10} s: $1" >&2
			return 1
		fi
		sleep 0.05
	done
}

# json_row KEY=VALUE...: one object for the result file; numbers stay numbers
json_row() {
	local pair value row=

	for pair in "lane=$LANE" "$@"; do
		value=${pair#*=}
		[[ $value =~ ^-?[0-9]+(\.[0-9]+)?$ ]] || value="\"${value//\"/\'}\""
		row+="${row:+, }\"${pair%%=*}\": $value"
	done
	echo "# row {$row}"
}

# median NUMBER...
median() {
	printf '%s\n' "$@" | sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'
}

# calc EXPRESSION [FORMAT]: arithmetic with fractions; a comparison gives 1 or 0
calc() {
	awk "BEGIN {printf \"${2:-%.2f}\", ($1)}"
}

# ---- the two sides ---------------------------------------------------------------------------------------------------
# on SIDE COMMAND...
on() {
	local side=$1

	shift
	if [ "$PAIR" = namespaces ]; then
		ip netns exec "$side" "$@"
	elif [ "$side" = A ]; then
		"$@"
	else
		remote "$@"
	fi
}

# Run a command on the second machine, where a shell listens (qemu/agent.sh)
remote() {
	local agent output

	exec {agent}<> "/dev/tcp/$AGENT_ADDRESS/$AGENT_PORT" || return 255
	# shellcheck disable=SC2016
	printf '%s < /dev/null; status=$?; echo; echo "status $status"; exit\n' "${*@Q}" >&"$agent"
	output=$(cat <&"$agent")
	exec {agent}>&-
	[[ $output =~ (^|$'\n')status\ ([0-9]+)$ ]] || return 255
	output=${output%"${BASH_REMATCH[0]}"}
	[ -z "$output" ] || echo "$output"
	return "${BASH_REMATCH[2]}"
}

# address SIDE [4|6]
address() {
	local host=1

	[ "$1" = A ] || host=2
	if [ "${2:-4}" = 6 ]; then echo "fd00:9::$host"; else echo "10.9.0.$host"; fi
}

# device SIDE: name of its RDMA device; mroce devices are mrA and mrB
device() {
	case $DEV in
	mroce) echo "mr$1" ;;
	*) echo "$DEV$1" ;;
	esac
}

# gid_index SIDE: that of its IPv4 address for RoCE v2
gid_index() {
	local port gid index

	port=/sys/class/infiniband/$(device "$1")/ports/1
	for gid in $(on "$1" grep -l ffff:0a09 -r "$port/gids"); do
		index=${gid##*/}
		! on "$1" grep -q 'RoCE v2' "$port/gid_attrs/types/$index" || echo "$index"
	done | sort -n | head -1
}

# load_driver SIDE: the module of $DEV and what it depends on
load_driver() {
	local dependencies

	if [ "$DEV" != mroce ]; then
		on "$1" modprobe -a ib_uverbs "${DEV/#rxe/rdma_rxe}"
		return
	fi
	! on "$1" test -d /sys/module/mroce || return 0
	IFS=, read -ra dependencies <<< "$(modinfo -F depends "$MODULE")"
	on "$1" modprobe -a ib_uverbs "${dependencies[@]}" && on "$1" insmod "$MODULE"
}

# Interface v$1 with its addresses, on a side where it exists already
configure_interface() {
	on "$1" ip link set "v$1" mtu "$MTU" up
	on "$1" ip address replace "$(address "$1")/24" dev "v$1"
	on "$1" ip address replace "$(address "$1" 6)/64" dev "v$1" nodad
}

# add_veth: vA and vB. Not with the same index: siw listens on one, and would be in its own way.
add_veth() {
	ip link add vA index 11 netns A type veth peer name vB index 12 netns B
}

# setup_link: the link between the sides, without RDMA devices. MTU as in $MTU
setup_link() {
	local side

	MTU=${MTU:-9000}
	if [ "$PAIR" = namespaces ]; then
		ip netns add A
		ip netns add B
		add_veth
		for side in A B; do
			on "$side" ip link set lo up
		done
	else
		setup_machine a
		wait_for "remote true 2> /dev/null" 60
	fi
	configure_interface A
	configure_interface B
	wait_for "on A busybox ping -c 1 -W 1 $(address B) > /dev/null" 20
}

# setup_machine ROLE: name the interfaces of this machine (told apart by hardware address) and start its control network
setup_machine() {
	local role=$1 control=$AGENT_ADDRESS interface

	[ "$role" = b ] || control=10.8.0.1
	modprobe virtio_net
	wait_for "[ \$(cat /sys/class/net/*/address | grep -c '^52:54:00:00:0[89]') = 2 ]" 20
	ip link set lo up
	for interface in /sys/class/net/*; do
		case $(cat "$interface/address") in
		52:54:00:00:08:*) ip link set "${interface##*/}" name control ;;
		52:54:00:00:09:*) ip link set "${interface##*/}" name "v${role^}" ;;
		esac
	done
	ip address add "$control/24" dev control
	ip link set control up
}

# add_devices: an RDMA device of type $DEV on each side; returns when both ports are active and have their addresses.
# Here and below '|| return': a function that 'check' runs gets no help from 'set -e'.
add_devices() {
	local side

	for side in A B; do
		load_driver "$side" || return
		on "$side" rdma link add "$(device "$side")" type "$DEV" netdev "v$side" || return
	done
	for side in A B; do
		wait_for "device_is_ready $side" 20 || return
	done
}

device_is_ready() {
	local name gid=ffff:0a09:0001

	name=$(device "$1")
	[ "$1" = A ] || gid=ffff:0a09:0002
	on "$1" rdma link show "$name/1" | grep -q 'state ACTIVE' || return
	[ "$DEV" = siw ] || on "$1" grep -qsr "$gid" "/sys/class/infiniband/$name/ports/1/gids"
}

del_devices() {
	local side

	for side in A B; do
		on "$side" rdma link delete "$(device "$side")" || return
	done
}

# setup_pair: link and devices
setup_pair() {
	setup_link
	add_devices
}

teardown_pair() {
	del_devices || return
	[ "$PAIR" = namespaces ] || return 0
	add_probe
	ip netns delete A && ip netns delete B && wait_for probe_is_gone 10
}

# keep_awake: for tests that measure. A processor with nothing to do goes to sleep, and to wake it takes longer in these
# guests than what is measured: it would decide by itself who is faster, a device that works in one place or one that uses
# both. As with idle=poll on hardware, none sleeps: a task that gives way to everything keeps each of them busy.
keep_awake() {
	local cpu

	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		taskset -c $cpu chrt -i 0 sh -c 'while :; do :; done' &
		defer "kill $! 2> /dev/null || true"
	done
}

# ---- loss, delay, rate -----------------------------------------------------------------------------------------------
# set_link SIDE MBYTES_PER_S [NETEM ARGUMENTS...]: what the interface of a side does to the packets it sends.
# The rate counts 2^20 bytes as perftest does, 0 is no limit. The queue is longer than any window. netem shapes too:
# unlike tbf it makes up for a late timer, so the rate holds on a busy machine.
set_link() {
	local side=$1 rate=$2

	shift 2
	on "$side" tc qdisc delete dev "v$side" root 2> /dev/null || true
	[ "$rate" = 0 ] || set -- rate "$(calc "$rate * 8 * 1.048576" %.0f)mbit" "$@"
	[ $# = 0 ] || on "$side" tc qdisc add dev "v$side" root netem limit 20000 "$@"
}

# set_netem SIDE ARGUMENTS...
set_netem() {
	local side=$1

	shift
	set_link "$side" 0 "$@"
}

# set_loss PERCENT [RATE_MBYTES_PER_S]: in both directions
set_loss() {
	local side netem=()

	[ "$1" = 0 ] || netem=(loss "$1%")
	for side in A B; do
		set_link "$side" "${2:-0}" "${netem[@]}"
	done
}

# set_skew SIDE MS [NETEM ARGUMENTS...]: paths of unlike delay. What a side sends is sorted by the two lowest bits of the
# UDP source port: one quarter of the ports is hardly delayed, the others by 1/3, 2/3 and all of MS. The netem arguments
# (reordering, loss) hold for each quarter. Other packets go as they are. MS 0, set_link and set_netem end it.
set_skew() {
	local side=$1 ms=$2 band

	shift 2
	set_link "$side" 0
	[ "$ms" != 0 ] || return 0
	on "$side" modprobe -qa sch_htb sch_netem cls_u32 || true
	# for classes only: the prio discipline is not in every kernel. What no filter takes is not queued.
	on "$side" tc qdisc add dev "v$side" root handle 1: htb
	for band in 0 1 2 3; do
		on "$side" tc class add dev "v$side" parent 1: classid "1:1$band" htb rate 100gbit quantum 60000
		on "$side" tc qdisc add dev "v$side" parent "1:1$band" handle "2$band:" netem limit 20000 \
			delay "$((ms * 1000 * band / 3 + 100))us" "$@"
		on "$side" tc filter add dev "v$side" parent 1: protocol ip u32 match ip protocol 17 0xff \
			match ip sport "$band" 0x3 flowid "1:1$band"
	done
}

# skew_spread SIDE: how many of the quarters have carried at least a hundredth of the packets
skew_spread() {
	on "$1" tc -s qdisc show dev "v$1" | awk '
		/^qdisc/ { counts = $3 ~ /^2[0-3]:$/ }
		counts && $1 == "Sent" { n[++bands] = $4; total += $4 }
		END { for (i in n) spread += n[i] * 100 > total; print spread + 0 }'
}

# setup_skew MS [NETEM ARGUMENTS...]: set_skew on both sides, and devices anew, as often as it takes for the source ports
# they choose to be spread over the quarters. Anew also because a path whose delay grows beyond its probe timeout at a
# stroke is taken for dead and moves to another port, until all are in the fast quarter.
setup_skew() {
	local side try

	for try in 1 2 3 4 5 6 7 8; do
		del_devices
		for side in A B; do
			set_skew "$side" "$@"
		done
		add_devices
		# other devices have one port for each queue pair
		[ "$DEV" = mroce ] || return 0
		perf ib_write_bw 65536 1 -b || true
		[ "$(skew_spread A)" -lt 3 ] || [ "$(skew_spread B)" -lt 3 ] || return 0
		echo "setup_skew: try $try: the ports are not spread" >&2
	done
	return 1
}

# ---- programs --------------------------------------------------------------------------------------------------------
RUN_PORT=18500

# run_pair SERVER-COMMAND CLIENT-COMMAND [LIMIT_S]: both are shell text; the server runs on B and has to listen on TCP
# port $RUN_PORT, which is a new one for every run. What they print is in $WORK/server and $WORK/client, their
# statuses in SERVER_STATUS and CLIENT_STATUS. Succeeds if both do.
run_pair() {
	local limit_s=${3:-60} server

	: > "$WORK/server"
	: > "$WORK/client"
	on B timeout -k 2 $((limit_s + 5)) bash -c "echo \$\$ > /run/server.$RUN_PORT; exec $1 2>&1" > "$WORK/server" &
	server=$!
	CLIENT_STATUS=125
	if wait_for "! kill -0 $server 2> /dev/null || [ -n \"\$(on B ss -Hltn 'sport = :$RUN_PORT')\" ]" 20; then
		CLIENT_STATUS=0
		on A timeout -k 2 "$limit_s" bash -c "exec $2 2>&1" > "$WORK/client" || CLIENT_STATUS=$?
	fi
	# a server whose client failed may wait for ever
	[ "$CLIENT_STATUS" = 0 ] || on B bash -c "kill -9 \$(cat /run/server.$RUN_PORT)" 2> /dev/null || true
	SERVER_STATUS=0
	wait "$server" || SERVER_STATUS=$?
	[ "$CLIENT_STATUS" = 0 ] && [ "$SERVER_STATUS" = 0 ]
}

# perf TEST SIZE_BYTES SECONDS [ARGUMENTS...]: a perftest program between the sides. Sets
#	PERF_VALUE	MB/s (2^20) for _bw, microseconds (median) for _lat; 0 if it failed
#	PERF_P99	99th percentile, _lat only
#	PERF_UNIT	MB/s or us
#	PERF_ERRORS	completion errors and other failures
# Latency is measured over 500 messages a second asked for, as perftest gives no percentiles for a timed run.
perf() {
	local test=$1 size=$2 length="-D $3" limit_s=$(($3 + 25)) try

	PERF_UNIT=MB/s
	[[ $test == *_bw ]] || PERF_UNIT=us length="-n $(($3 * 500))"
	shift 3
	for try in 1 2 3 4 5; do
		perf_once "$test -F -s $size $length $*" "$limit_s"
		perf_is_mistimed || break
		echo "perf: no clock rate in try $try of $test" >&2
	done
	[ "$(calc "$PERF_VALUE > 0" %d)" = 1 ]
}

# perf_once COMMAND LIMIT_S: both programs stay on the processor PERF_CPU, if that is set
perf_once() {
	local command="${PERF_CPU:+taskset -c $PERF_CPU }$1 -p $((RUN_PORT + 1))" failures

	RUN_PORT=$((RUN_PORT + 1)) PERF_VALUE=0 PERF_P99=
	PERF_ERRORS=0
	run_pair "$command -d $(device B)" "$command -d $(device A) $(address B)" "$2" || PERF_ERRORS=1
	failures=$(cat "$WORK/server" "$WORK/client" | grep -ciE 'completion with error|failed status') || true
	PERF_ERRORS=$((PERF_ERRORS + failures))
	[ "$PERF_ERRORS" = 0 ] || return 0
	if [ "$PERF_UNIT" = us ]; then
		read -r PERF_VALUE PERF_P99 <<< "$(awk '/^ [0-9]/ {print $5, $8}' "$WORK/client")"
	else
		# from the message rate: of small messages the MB/s have two digits
		PERF_VALUE=$(awk '/^ [0-9]/ {printf "%.4f", $1 * $5 * 1e6 / 1048576}' "$WORK/client")
	fi
	PERF_VALUE=${PERF_VALUE:-0}
}

# perftest measures the clock rate of the processor. On a busy machine it may find none, and then its rates are 0 and its
# latency tests stop: that says nothing of the device.
perf_is_mistimed() {
	grep -qs 'Correlation coefficient' "$WORK/client" "$WORK/server"
}

# perf_failure: what the programs of the last perf said
perf_failure() {
	local side

	for side in client server; do
		echo "$side:"
		{ grep -iE 'error|fail|unable|status' "$WORK/$side" | head -10; tail -n 4 "$WORK/$side"; } | grep -v -e '---' || true
	done
	echo "status of client $CLIENT_STATUS, server $SERVER_STATUS (124: time limit)"
}

# perf_row LOSS_PERCENT TEST SIZE_BYTES [KEY=VALUE...]: the row of the last perf
perf_row() {
	local loss=$1 test=$2 size=$3

	shift 3
	json_row "device=$DEV" "test=${test#ib_}" "size_bytes=$size" qps=1 "mtu=$MTU" "loss_pct=$loss" "value=$PERF_VALUE" \
		"unit=$PERF_UNIT" "errors=$PERF_ERRORS" ${PERF_P99:+"p99=$PERF_P99"} "$@"
}
