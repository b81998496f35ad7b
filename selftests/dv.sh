#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 180
# Direct verbs, by the example program: how many paths a queue pair uses, which planes, in which order WRITEs are seen; what
# is refused; that the telemetry is what captures and the program mroce say.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
. "$(dirname "$0")/topology.sh"
EXAMPLE=$OUT/userspace/examples/mroce_paths
MIB=32				# of each run
LEAST_PERCENT=1			# of the packets, of a path that is used: the others have probes and acknowledgements

# paths OPTIONS...: the example from A to B, both ends with these options and the order of $ENVIRONMENT, if that is set; its
# report is in $WORK/client
paths() {
	local both

	RUN_PORT=$((RUN_PORT + 1))
	both="env MROCE_ORDERING=${ENVIRONMENT:-} $EXAMPLE -t $RUN_PORT -n $MIB $*"
	run_pair "$both -d $(device B)" "$both -d $(device A) $(address B)" 60
}

paths_failure() {
	echo "client ($CLIENT_STATUS): $(tail -n 4 "$WORK/client")"
	echo "server ($SERVER_STATUS): $(tail -n 4 "$WORK/server")"
}

# run DESCRIPTION OPTIONS...: one result
run() {
	local description=$1

	shift
	if paths "$@"; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "$(paths_failure)"
	fi
}

# reported FIELD: of each path in the last report, one a line
reported() {
	awk -v name="$1" '$1 == "path" { for (i = 1; i < NF; i += 2) if ($i == name) print $(i + 1) }' "$WORK/client"
}

# used_ports: source ports of the paths that carried the last run, says the telemetry
used_ports() {
	paste -d ' ' <(reported sent) <(reported sport) | main_ports
}

# main_ports: of lines 'PACKETS PORT'
main_ports() {
	awk -v least=$LEAST_PERCENT '{ n[$2] = $1; total += $1 }
		END { for (port in n) if (n[port] * 100 >= total * least) print port }' | sort
}

# ---- paths -----------------------------------------------------------------------------------------------------------
# limited_to WANTED OPTIONS...: so many source ports, by capture and by telemetry
limited_to() {
	local wanted=$1 captured

	shift
	captured=$(source_ports paths "$@" | main_ports)
	if [ "$(grep -c . <<< "$captured")" = "$wanted" ]; then
		ktap_ok "$*: $wanted source ports, says a capture"
	else
		ktap_not_ok "$*: $wanted source ports, says a capture" "$captured"
	fi
	if [ -n "$captured" ] && [ "$(used_ports)" = "$captured" ]; then
		ktap_ok "$*: and so does the telemetry"
	else
		ktap_not_ok "$*: and so does the telemetry" "captured: $captured; $(cat "$WORK/client")"
	fi
}

# refused DESCRIPTION WHY OPTIONS...
refused() {
	local description=$1 why=$2

	shift 2
	if ! on A timeout 20 "$EXAMPLE" -d "$(device A)" "$@" > "$WORK/refused" 2>&1 && [ "$(cat "$WORK/refused")" = "mroce_paths: $why" ]; then
		ktap_ok "$description"
	else
		ktap_not_ok "$description" "$(cat "$WORK/refused")"
	fi
}

# ---- order -----------------------------------------------------------------------------------------------------------
# holds yes|no DESCRIPTION OPTIONS...: does B keep WRITEs that come too early?
holds() {
	local wanted=$1 description=$2 before held

	shift 2
	before=$(counter B rx_held)
	run "$description" "$@"
	held=$(($(counter B rx_held) - before))
	case $wanted in
	yes) check "$description: packets are held: $held" [ "$held" -gt 0 ] ;;
	no) check "$description: none is held: $held" [ "$held" = 0 ] ;;
	esac
}

# ---- planes ----------------------------------------------------------------------------------------------------------
# by_planes DESCRIPTION PLANES OPTIONS...: these carry the run, of planes 0 and 1, each a fifth at least. Not all: a path that
# is not heard for a moment, as happens on a busy machine, is no reason to wait.
by_planes() {
	local description=$1 wanted=$2 i total carried='' bytes=()

	shift 2
	for i in 0 1; do
		bytes[i]=$(plane_bytes $i)
	done
	run "$description" "$@"
	for i in 0 1; do
		bytes[i]=$(($(plane_bytes $i) - bytes[i]))
	done
	total=$((bytes[0] + bytes[1]))
	for i in 0 1; do
		[ $((bytes[i] * 5)) -lt $total ] || carried+=$i
	done
	check "$description: planes $wanted carry it: ${bytes[*]} bytes" [ "$carried" = "$wanted" ]
}

# active_paths LABEL: of A, on that plane
active_paths() {
	on A "$MROCE" path show "$(device A)" | grep -c " plane $1 state active "
}

# ---- telemetry -------------------------------------------------------------------------------------------------------
# as_told: the report of the last run, as 'mroce -js path' would have it
as_told() {
	local name

	for name in path plane state sport sent_pkts acked_pkts lost_pkts retrans_pkts marked_pkts rerolls; do
		reported $name | paste -sd ' '
	done
}

by_program() {
	on A "$MROCE" -js path show "$(device A)" > "$WORK/json" || return
	python3 - "$WORK/json" <<-END
		import json, sys
		paths = json.load(open(sys.argv[1]))
		for name in ("path plane state source_port sent_pkts acked_pkts lost_pkts retrans_pkts marked_pkts rerolls").split():
		    print(*[p[name] for p in paths])
	END
}

agrees() {
	local report program

	report=$(as_told)
	program=$(by_program)
	[ "$report" = "$program" ] && [ "$(wc -w <<< "$report")" -ge 20 ] && return
	printf 'report:\n%s\nmroce:\n%s\n' "$report" "$program"
	return 1
}

conn_agrees() {
	local id

	id=$(sed -n 's/^conn \([0-9]*\) .*/\1/p' "$WORK/client")
	on A "$MROCE" -j conn show "$(device A)" | python3 -c "
import json, sys
conns = json.load(sys.stdin)
sys.exit([c['conn'] for c in conns] != [$id])"
}

# alone: both ends on one device, whose paths carry it
alone() {
	local server status=0

	RUN_PORT=$((RUN_PORT + 1))
	on A timeout 60 "$EXAMPLE" -t $RUN_PORT -n 4 -d "$(device A)" > "$WORK/server" 2>&1 &
	server=$!
	wait_for "[ -n \"\$(on A ss -Hltn 'sport = :$RUN_PORT')\" ]" 20 &&
		on A timeout 60 "$EXAMPLE" -t $RUN_PORT -n 4 -d "$(device A)" "$(address A)" > "$WORK/client" || status=1
	wait $server || status=1
	[ "$status" = 0 ] && [ "$(reported sent | awk '{ n += $1 } END { print (n > 100) }')" = 1 ] && return
	cat "$WORK/server" "$WORK/client"
	return 1
}

setup_pair
limited_to 1 -p 1
limited_to 2 -p 2
check "the telemetry is what the program mroce shows" agrees
check "the connection is the one it shows" conn_agrees
run "-p 32: more paths than there are" -p 32
check "-p 32: all are used" [ "$(used_ports | wc -l)" -ge 3 ]
check "one connection for all of these" [ "$(on A "$MROCE" -j conn show "$(device A)" | grep -o '"conn"' | wc -l)" = 1 ]
refused "33 paths are refused" "cannot create the queue pair: Invalid argument" -p 33
refused "a number that is none of 16 bits is" "cannot create the queue pair: Invalid argument" -p 65537
refused "another device is" "no such mroce device" -d nothing
check "a device that talks to itself" alone

set_netem A delay 3ms reorder 30%
holds yes "-o strict" -o strict
holds no "-o relaxed" -o relaxed
holds yes "-o auto, in a region that does not ask for it" -o auto
ENVIRONMENT=relaxed holds no "-o default, the environment relaxed" -o default
ENVIRONMENT=relaxed holds yes "-o strict, the environment relaxed" -o strict
set_link A 0

add_link 1
check "planes" eval "add_plane A vA1 label 5 && add_plane B vB1 label 5"
run "planes are proved" -p 0
check "both are in use" wait_for "[ \$(active_paths 0) -gt 0 ] && [ \$(active_paths 5) -gt 0 ]" 20
by_planes "plane 0" 0 -p 0 -m 0x1
by_planes "plane 5" 1 -p 0 -m 0x20
by_planes "planes 0 and 5" 01 -p 0 -m 0x21
by_planes "all planes" 01 -p 0 -m 0
check "devices and link go away" teardown_pair
