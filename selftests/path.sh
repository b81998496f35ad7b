#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 120
# What the network does to single paths: marks instead of losses, and source ports that lead nowhere. Nobody notices.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"

# drop_port SIDE PORT: packets from that source port vanish
drop_port() {
	on "$1" tc qdisc replace dev "v$1" clsact
	on "$1" tc filter add dev "v$1" egress protocol ip flower ip_proto udp src_port "$2" action drop
}

# dropped SIDE: packets that vanished so
dropped() {
	on "$1" tc -s filter show dev "v$1" egress | awk '/dropped/ {gsub(",", ""); n += $7} END {print n + 0}'
}

setup_pair
verify "clean" -q 2 -n 500 --bidir
# Only what A sends is marked: its acknowledgements are not ECN-capable and would be lost
# A queueing discipline hands packets to veth on any CPU, which reorders them: those count as lost, then as spurious. And
# a slow kernel may keep a path silent for so long that what is on it goes again.
really_lost() {
	echo $(($(counter A lost_pkts) - $(counter A spurious_pkts)))
}
lost=$(really_lost) marked=$(counter B rx_ce_pkts)
set_netem A loss 5% ecn
verify "5 % of the packets are marked" -q 2 -n 1000
lost=$(($(really_lost) - lost)) marked=$(($(counter B rx_ce_pkts) - marked))
check "marks were seen: $marked" [ $marked -gt 20 ]
check "what is marked is not lost: $lost were" [ $lost -lt $((marked / 8)) ]
set_netem A

source_ports perf ib_write_bw 65536 2 > "$WORK/ports"
mapfile -t ports <<< "$(awk '{print $2}' "$WORK/ports")"
check "several ports are in use" [ "${#ports[@]}" -ge 4 ]
rerolls=$(counter A path_reroll)
for port in "${ports[@]:0:3}"; do
	drop_port A "$port"
done
verify "three ports lead nowhere" -q 2 -n 1000 --bidir
check "packets vanished" [ "$(dropped A)" -gt 0 ]
check "other ports were taken" [ "$(counter A path_reroll)" -gt "$rerolls" ]
check "devices and link go away" teardown_pair
