#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 200
# cpus: 1
# A machine with one processor: nobody spins for another.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)

if [ "$(nproc)" != 1 ]; then
	ktap_skip "one processor" "the guest has $(nproc)"
	exit
fi
setup_pair
verify "data flows" -q 4 -n 300 --bidir
verify "data flows, with completion events" -q 4 -n 300 --events yes
set_loss 2
verify "data flows with 2 % loss" -q 4 -n 300 --bidir
set_loss 0
check "queue pairs are destroyed while their timers run" \
	eval "timeout 60 $TOOLS/mroce_churn -A $a -B $b -m rnr -s 3 -l 5000 | grep '^OK'"
start_traffic -q 4 --bidir
check_quick "rdma link del under traffic" 4 ip netns exec A rdma link delete "$a"
traffic_fails "rdma link del" client server
on A rdma link add "$a" type "$DEV" netdev vA
wait_for "device_is_ready A" 10
start_traffic -q 4 --bidir
check_quick "rmmod under traffic" 10 rmmod mroce
traffic_fails "rmmod" client server
load_driver A
add_devices
verify "data flows after it" -n 100
check "devices and link go away" teardown_pair
