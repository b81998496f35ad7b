#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: debug
# quick: debug
# quick_set: FAULT_S=5
# limit_s: 300
# Every allocation and every copy to or from user space fails once, in every operation there is (tools/mroce_faults.c):
# the right errno, nothing left behind, the same call works right after. Then traffic while memory is short everywhere.
#
#	STRIDE=7	only each 7-th failure (default: all)
#	FAULTS="a b"	only these operations
#	FAULT_S=600	seconds of traffic without memory (default 8)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)
debug=/sys/kernel/debug
FAULT_S=${FAULT_S:-8}
[ -z "${STRIDE:-}" ] || export STRIDE

if [ ! -e /proc/self/fail-nth ] || [ ! -d $debug/fail_usercopy ]; then
	ktap_skip "injected failures" "this kernel cannot inject failures"
	exit
fi

# What is allocated in the module's name and the core's: one line each place, bytes and pieces
allocations() {
	awk '$2 > 0 && ($4 == "[mroce]" || $3 ~ "^drivers/infiniband/") { print $1, $2, $3, $NF }' /proc/allocinfo | sort
}

# The kernel reports large allocations that fail, with a call trace: these are what the test is about
dmesg() {
	command dmesg "$@" | awk '
		/(vmalloc error|page allocation failure).*mode:0x/ { expected = 1 }
		/Call Trace:/ && expected { expected = 0; next }
		{ print }'
}

is_as_before() {
	allocations > "$WORK/now"
	cmp -s "$WORK/before" "$WORK/now"
}

# When a module goes, the kernel waits for what is to be freed later
free_what_waits() {
	modprobe dummy numdummies=0 && rmmod dummy
}

remember() {
	free_what_waits
	allocations > "$WORK/before"
}

# nothing_left DESCRIPTION: allocations are as 'remember' has found them
nothing_left() {
	free_what_waits
	if wait_for is_as_before 5 2> /dev/null; then
		ktap_ok "$1"
	else
		ktap_not_ok "$1" "$(diff "$WORK/before" "$WORK/now")"
	fi
}

wanted() {
	[ -z "${FAULTS:-}" ] || [[ " $FAULTS " == *" $1 "* ]]
}

# walk OPERATION DEVICE-OR-WHAT OTHER [COMMAND...]: mroce_faults, one result; its report is shown
walk() {
	local operation=$1 one=$2 two=$3 status=0 start=$SECONDS limit_s=200

	[ -z "${STRIDE:-}" ] || limit_s=3600
	# what a shortage adds to single failures is the core's rather
	[ -z "${QUICK:-}" ] || local -x NO_SHORTAGE=1
	shift 3
	"$@" timeout "$limit_s" "$TOOLS/mroce_faults" "$one" "$two" "$operation" \
		> "$WORK/report" 2> "$WORK/errors" || status=$?
	ktap_diag "$(cat "$WORK/report") ($((SECONDS - start)) s)"
	check "$operation: right errno, nothing left, works after that" \
		eval "[ $status = 0 ] || { echo status $status; head -n 12 $WORK/errors; false; }"
}

# walk_bare OPERATION ARGUMENTS: with nothing there before and after
walk_bare() {
	wanted "$1" || return 0
	remember
	walk "$@"
	nothing_left "$1: no memory is lost"
	# a failed one may leave the link
	no_device "$a" || rdma link delete "$a"
}

# ---- traffic with no memory ------------------------------------------------------------------------------------------
# Only allocations that may not wait: packets and what is kept of them, everybody's
set_shortage() {
	local what

	for what in failslab fail_page_alloc; do
		echo 0 > $debug/$what/probability
		echo Y > $debug/$what/ignore-gfp-wait
		echo N > $debug/$what/task-filter
		echo 0 > $debug/$what/space
		echo 0 > $debug/$what/verbose
		echo 1000000 > $debug/$what/times
		echo "$1" > $debug/$what/probability
	done
	echo 0 > $debug/fail_page_alloc/min-order
}

failures() {
	cat $debug/failslab/times $debug/fail_page_alloc/times | awk '{ n += 1000000 - $1 } END { print n }'
}

# traffic DESCRIPTION PERCENT OPTIONS...
traffic() {
	local description=$1 percent=$2 n

	shift 2
	set_shortage "$percent"
	set -- -q 4 --bidir --timeout 18 --seconds "$FAULT_S" "$@"
	# The programs find each other by TCP, which lacks memory, too: when they do not, nothing has been tried
	if LIMIT_S=$((FAULT_S + 60)) verify_pair "$@"; then
		ktap_ok "$description"
	elif grep -q 'no connection to the peer' "$WORK/server"; then
		ktap_diag "$description: once more: $(verify_failure)"
		LIMIT_S=$((FAULT_S + 60)) verify "$description" "$@"
	else
		ktap_not_ok "$description" "$(verify_failure)"
	fi
	n=$(failures)
	set_shortage 0
	check "$description: $n allocations failed" [ "$n" -gt 100 ]
}

# ---- all of it -------------------------------------------------------------------------------------------------------
# waiting for readers of RCU is most of what link add and delete do
echo 1 > /sys/kernel/rcu_expedited
setup_link
load_driver A
rmmod mroce
objcopy -g "$MODULE" "$WORK/mroce.ko"
for operation in $("$TOOLS/mroce_faults" list module); do
	walk_bare "$operation" "$WORK/mroce.ko" -
done

# which a failed one may have left
load_driver A
for operation in $("$TOOLS/mroce_faults" list link); do
	walk_bare "$operation" "$a" vA nsenter --net=/run/netns/A
done

# a device, a connection that is open, and a netdev for another plane
# no dummy: its module comes and goes
ip -n A link add plane mtu 9000 type veth peer name enalp
ip -n A address add 10.9.50.1/24 dev plane
ip -n A link set plane up
remember
add_devices
verify "data before" -n 100
for operation in $("$TOOLS/mroce_faults" list plane); do
	! wanted "$operation" || walk "$operation" "$a" plane nsenter --net=/run/netns/A
done
verify "data after" -n 100
del_devices
nothing_left "planes: no memory is lost"

# nobody is there, but there is a way to him
on A ip route add 10.10.0.0/16 via "$(address B)"
remember
add_devices
for operation in $("$TOOLS/mroce_faults" list verbs); do
	! wanted "$operation" || walk "$operation" "$a" "$b"
done
del_devices
nothing_left "verbs: no memory is lost"

if wanted traffic; then
	remember
	add_devices
	traffic "data with 2 % of all allocations failing" 2
	set_loss 1
	traffic "data with loss, and 5 % of all allocations failing" 5 --vary -o mix --sges 4
	set_loss 0
	names='drop_nomem|retrans_local|rx_refused_busy'
	refused=$(($(counter A "$names") + $(counter B "$names")))
	check "mroce has met it: $refused packets neither sent nor taken" [ "$refused" -gt 0 ]
	verify "data flows after that" -n 300
	del_devices
	nothing_left "traffic: no memory is lost"
fi
check "the module goes" rmmod mroce
check "it leaves no memory behind" eval "! command dmesg | grep 'module mroce .* allocated at module unload'"
check_quick "the interfaces go: nobody holds them" 5 ip -n A link delete vA
