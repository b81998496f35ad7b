#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 400
# Adding and deleting devices: refusals that say why, what the port tells of its netdev, addresses, attributes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A) b=$(device B)
many=30
{ ! is_slow && [ -z "${QUICK:-}" ]; } || many=5

# refused DESCRIPTION ERROR-TEXT LOG-PATTERN rdma-link-add arguments: on A
refused() {
	local description=$1 error=$2 pattern=$3 lines output status=0 log

	shift 3
	lines=$(dmesg | wc -l)
	output=$(on A rdma link add "$@" 2>&1) || status=$?
	log=$(dmesg | tail -n +$((lines + 1)))
	if [ "$status" = 0 ]; then
		ktap_not_ok "$description is refused" "it was not"
		on A rdma link delete "$1"
	elif [[ $output != *"$error"* ]]; then
		ktap_not_ok "$description is refused" "with '$output' instead of '$error'"
	elif [ -n "$pattern" ] && ! grep -qE "$pattern" <<< "$log"; then
		ktap_not_ok "$description is refused" "without a kernel message /$pattern/: $log"
	else
		ktap_ok "$description is refused: $error"
	fi
}

# attribute NAME of the verbose device description of A
attribute() {
	on A ibv_devinfo -v -d "$a" | awk -v name="$1:" '$1 == name {print $2; exit}'
}

# expect DESCRIPTION COMMAND-PRINTING-A-VALUE EXPECTED
expect() {
	check "$1 is $3" wait_for "[ \"\$($2)\" = '$3' ]" 5
}

at_least() {
	local value

	value=$(attribute "$1")
	value=$((${value:-0}))
	check "$1 is at least $2" [ "$value" -ge "$2" ]
	ktap_diag "$1 $value"
}

has_gid() {
	on "$1" grep -qsr "$2" "/sys/class/infiniband/$(device "$1")/ports/1/gids"
}

guid() {
	cat "/sys/class/infiniband/$1/node_guid"
}

# rounds DESCRIPTION COUNT COMMAND
rounds() {
	local description=$1 count=$2 round

	shift 2
	for ((round = 1; round <= count; round++)); do
		if ! eval "$*" >&2; then
			ktap_not_ok "$count times $description" "round $round"
			return
		fi
	done
	ktap_ok "$count times $description"
}

setup_link
load_driver A
[ "$DEV" != mroce ] || check "the module has the alias that loads it" \
	bash -c "modinfo -F alias '$MODULE' | grep -qx rdma-link-mroce"

# Refusals. The port is free after each of them, and nothing was left behind
on A ip link add link vA name vA.7 type vlan id 7
modprobe -a tun dummy
on A ip tuntap add tun7 mode tun
refused "no such netdev" "No such device" "" "$a" type "$DEV" netdev nothing
refused "the loopback netdev" "Operation not supported" "$a.*lo: .*loopback" "$a" type "$DEV" netdev lo
refused "a VLAN netdev" "Protocol not supported" "$a.*vA.7: .*VLAN" "$a" type "$DEV" netdev vA.7
ip netns exec A python3 -c "import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', $UDP_PORT)); time.sleep(60)" &
squatter=$!
wait_for "on A ss -Hlun 'sport = :$UDP_PORT' | grep -q ." 10
refused "a UDP port in use" "Address already in use" "$a.*vA: .*UDP port" "$a" type "$DEV" netdev vA
kill "$squatter"
wait "$squatter" 2> /dev/null || true
refused "a tunnel netdev" "Address family not supported" "$a.*tun7: .*Ethernet" "$a" type "$DEV" netdev tun7
on A ip link delete vA.7
on A ip link delete tun7
check "refusals leave the UDP port free" eval "! on A ss -Hlun 'sport = :$UDP_PORT' | grep -q ."
add_devices
on A ip link add d0 type dummy
refused "a netdev that has a device" "Device or resource busy" "other.*vA: .*already" other type "$DEV" netdev vA
refused "a name that is taken" "File exists" "$a.*d0: .*name" "$a" type "$DEV" netdev d0
check "a second device in the namespace" on A rdma link add second type "$DEV" netdev d0
check "the second device goes" on A rdma link delete second
on A ip link delete d0
verify "data flows after all the refusals" -n 300

# What the port tells of the netdev
expect "port state" "attribute state" PORT_ACTIVE
expect "link layer" "attribute link_layer" Ethernet
expect "active_mtu at 9000" "attribute active_mtu" 4096
on A ip link set vA mtu 1500
expect "active_mtu at 1500" "attribute active_mtu" 1024
on A ip link set vA mtu 9000
expect "active_mtu at 9000 again" "attribute active_mtu" 4096
on B ip link set vB down
expect "port state without carrier" "attribute state" PORT_DOWN
on B ip link set vB up
expect "port state with carrier again" "attribute state" PORT_ACTIVE
on A ip link set vA down
expect "port state with the interface down" "attribute state" PORT_DOWN
configure_interface A
configure_interface B
expect "port state with the interface up" "attribute state" PORT_ACTIVE

# Addresses
check "IPv4 GID" wait_for "has_gid A ffff:0a09:0001" 5
check "IPv6 GID" wait_for "has_gid A fd00:0009:0000:0000:0000:0000:0000:0001" 5
check "all GIDs are RoCE v2" bash -c "! cat /sys/class/infiniband/$a/ports/1/gid_attrs/types/* 2> /dev/null | grep -v '^RoCE v2'"
on A ip address add 10.9.0.77/24 dev vA
check "a new address becomes a GID" wait_for "has_gid A ffff:0a09:004d" 5
on A ip address delete 10.9.0.77/24 dev vA
check "a removed address is no GID" wait_for "! has_gid A ffff:0a09:004d" 5
verify "data flows after carrier and addresses changed" -n 300

# Attributes that consumers look at
at_least max_qp 65536
at_least max_cq 65536
at_least max_mr 65536
at_least max_pd 65536
at_least max_qp_wr 8192
at_least max_cqe 1000000
at_least max_sge 6
at_least max_qp_rd_atom 1
at_least max_msg_sz 1073741824
at_least gid_tbl_len 64
expect "node type" "attribute transport" InfiniBand
expect "phys_port_cnt" "attribute phys_port_cnt" 1
expect "local_ca_ack_delay" "attribute local_ca_ack_delay" 15
check "max_qp_rd_atom fits 8 bits of the CM" [ "$(attribute max_qp_rd_atom)" -lt 256 ]
check "max_sge_rd is no more than 16" [ "$(attribute max_sge_rd)" -le 16 ]
check "the GID table is short enough to scan" [ "$(attribute gid_tbl_len)" -le 128 ]
check "node GUIDs differ" [ "$(guid "$a")" != "$(guid "$b")" ]
check "GUIDs are not zero" bash -c "! cat /sys/class/infiniband/$a/{node_guid,sys_image_guid} | grep '^0000:0000:0000:0000'"
check "no bus device is its parent" eval "! readlink /sys/class/infiniband/$a/device"

rounds "del and add" "$many" "del_devices && add_devices"
verify "data flows after them" -n 300
check "renaming a device" on A rdma dev set "$a" name other
check "renaming it back" on A rdma dev set other name "$a"
verify "data flows after them, IPv6" -n 300 -6
check "devices and link go away" teardown_pair
[ "$DEV" != mroce ] || rounds "rmmod and insmod" "$many" "rmmod mroce && insmod $MODULE"
