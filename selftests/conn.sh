#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 180
# Connections: shared by the queue pairs of two ends, many source ports, a peer that forgets everything.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)

setup_pair
verify "8 QPs" -q 8 -n 200 --bidir
check "8 QPs share one connection" [ "$(counter A 'conn_open')" = 1 ]
verify "8 QPs again" -q 8 -n 200
check "the connection is used again" [ "$(counter A 'conn_open')" = 1 ]
verify "IPv6" -n 200 -6
check "another address is another connection" [ "$(counter A 'conn_open')" = 2 ]

# A queue pair that has much to send spreads it; each of the paths carries a real share of the packets. The delay makes
# the window large, as it is on a real network
set_netem A delay 1ms
ports=$(source_ports perf ib_write_bw 65536 2)
set_netem A
ktap_diag "packets by source port:"$'\n'"$ports"
busy=$(awk '{total += $1; count[NR] = $1} END {for (i in count) n += count[i] > total / 100; print n}' <<< "$ports")
check "one QP uses 4 or more source ports" [ "$busy" -ge 4 ]

restarts=$(counter A 'conn_restart')
on B rdma link delete "$b"
on B rdma link add "$b" type "$DEV" netdev vB
wait_for "rdma link show $b/1 | grep -q 'state ACTIVE'" 10
LIMIT_S=20 verify "the peer has restarted: new QPs work" -q 4 -n 200
check "the restart was noticed" [ "$(counter A 'conn_restart')" -gt "$restarts" ]

# The end with the connections restarts, so that the peer's HELLO comes from a stranger with a known address
on A rdma link delete "$a"
on A rdma link add "$a" type "$DEV" netdev vA
wait_for "rdma link show $a/1 | grep -q 'state ACTIVE'" 10
LIMIT_S=20 verify "we have restarted: new QPs work" -q 4 -n 200 --bidir

# A run that lives while its peer forgets: it ends, and the next one works
start_traffic -q 2
on B rdma link delete "$b"
traffic_fails "peer lost" client
kill_traffic
on B rdma link add "$b" type "$DEV" netdev vB
wait_for "rdma link show $b/1 | grep -q 'state ACTIVE'" 10
LIMIT_S=20 verify "data flows again" -n 200
check "devices and link go away" teardown_pair
