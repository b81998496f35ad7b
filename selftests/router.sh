#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 200
# Two routers between the hosts, which answer for them, so that these believe to be neighbours. The MTU of the link
# between the routers falls: only their ICMP errors tell, each host for its own direction.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"

# add_router ROUTER SIDE OTHER-SIDE
add_router() {
	on "$2" ip link delete "v$2" 2> /dev/null || true
	ip link add "v$2" netns "$2" mtu 9000 type veth peer name host netns "$1" mtu 9000
	on "$1" ip link set lo up
	on "$1" ip link set host up
	on "$1" ip link set middle up
	# what its ICMP errors come from
	on "$1" ip address add "10.9.7.${1#R}/24" dev middle
	on "$1" ip route add "$(address "$2")/32" dev host
	on "$1" ip route add "$(address "$3")/32" dev middle
	on "$1" sysctl -qw net.ipv4.ip_forward=1 net.ipv4.icmp_ratelimit=0 net.ipv4.conf.host.proxy_arp=1 \
		net.ipv4.conf.middle.proxy_arp=1
	configure_interface "$2"
}

flows() {
	local before

	before=$(counter B rx_bytes)
	wait_for "[ \$(counter B rx_bytes) -gt $((before + 500000)) ]" 20
}

# knows SIDE PEER MTU: the route to the peer has an exception
knows() {
	wait_for "on $1 ip route get $(address "$2") | grep -q 'mtu $3'" 10
}

setup_link
ip netns add R1
ip netns add R2
ip link add middle netns R1 mtu 9000 type veth peer name middle netns R2 mtu 9000
add_router R1 A B
add_router R2 B A
check "devices" add_devices
verify "data passes the routers" -n 500 -q 2 --bidir

LIMIT_S=$(patience 60) start_traffic -q 4 --timeout 14 --seconds "$(patience 50)" --bidir || true
check "traffic flows" flows
# the errors are about the connection of the former
verify "another class has a connection of its own" -n 300 --tclass 32
for mtu in 4000 1500; do
	for router in R1 R2; do
		on $router ip link set middle mtu $mtu
	done
	check "MTU of $mtu between the routers: A learns it" knows A B $mtu
	check "MTU of $mtu between the routers: B learns it" knows B A $mtu
	check "MTU of $mtu between the routers: data flows on" flows
done
traffic_ends "nothing is lost"
verify "a new connection" -n 300 -q 2
check "devices go" del_devices
check "the namespaces go away" eval "ip netns delete A && ip netns delete B && ip netns delete R1 && ip netns delete R2"
