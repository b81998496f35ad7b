#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 120
# kernel: ipv6.disable=1
# A kernel that has been told to have no IPv6: IPv4 works, what is left of IPv6 (the default GID) is refused.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
a=$(device A)

if [ -e /proc/net/if_inet6 ]; then
	ktap_skip "no IPv6" "this kernel has IPv6: it was not started with ipv6.disable=1"
	exit
fi
# no IPv6 address for anybody
configure_interface() {
	on "$1" ip link set "v$1" mtu "$MTU" up
	on "$1" ip address replace "$(address "$1")/24" dev "v$1"
}
setup_pair
verify "IPv4 data flows" -n 300 -q 2 --bidir
check "the default GID is there" on A grep -qs '^fe80' "/sys/class/infiniband/$a/ports/1/gids/0"
check "a queue pair with it is refused" eval "! on A $TOOLS/mroce_orphan -x 0 $a > $WORK/orphan 2>&1 && grep -q EAFNOSUPPORT $WORK/orphan"
ktap_diag "$(cat "$WORK/orphan")"
check_quick "rdma link del" 2 ip netns exec A rdma link delete "$a"
on A rdma link add "$a" type "$DEV" netdev vA
wait_for "device_is_ready A" 10
verify "IPv4 data flows again" -n 100
check "devices and link go away" teardown_pair
check "the module goes" rmmod mroce
