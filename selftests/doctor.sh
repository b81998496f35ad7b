#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: host
# mroce-doctor on a made-up machine: everything is there, then one thing after the other is not.
set -euo pipefail
. "$(dirname "$0")/../scripts/env.sh"
. "$(dirname "$0")/lib.sh"
# this machine's kernel log is not ours
check_kernel_log() { :; }
machine=$WORK/machine
library=/usr/lib/test/libibverbs.so.1
mr0="link mr0/1 state ACTIVE physical_state LINK_UP netdev eth0"

# program NAME [TEXT]: a program of that name that prints the text
program() {
	printf '#!/bin/bash\ncat <<"END"\n%s\nEND\n' "${2:-}" > "$WORK/bin/$1"
	chmod +x "$WORK/bin/$1"
}

# script NAME TEXT: a program that is this shell text
script() {
	printf '#!/bin/bash\n%s\n' "$2" > "$WORK/bin/$1"
	chmod +x "$WORK/bin/$1"
}

# put FILE TEXT: in the machine
put() {
	mkdir -p "$(dirname "$machine$1")"
	echo "$2" > "$machine$1"
}

healthy() {
	rm -rf "$machine" "${WORK:?}/bin"
	mkdir -p "$WORK/bin" "$machine/sys/class/net" "$machine/sys/module/mroce"
	put /sys/class/infiniband/mr0/ports/1/hw_counters/path_reroll 0
	put /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts 0
	put /sys/class/infiniband_verbs/uverbs0/ibdev mr0
	put /sys/class/net/eth0/mtu 9000
	put /dev/infiniband/uverbs0 ""
	put /etc/libibverbs.d/mroce.driver "driver mroce"
	put "$library" "xx IBVERBS_PRIVATE_34 yy"
	put "${library%/*}/libibverbs/libmroce-rdmav34.so" ""
	put /sys/kernel/security/lockdown "[none] integrity confidentiality"
	put /proc/keys "1f0 I------ 1 perm 1f010000 0 0 asymmetric a known key: X509.rsa 00ff []"
	program id 0
	program uname 6.1.0-57-amd64
	program getconf 64
	script modinfo 'case $* in *vermagic*) echo "6.1.0-57-amd64 SMP" ;; *signer*) echo "a known key" ;; esac'
	program modprobe
	program rdma "$mr0"
	program ldconfig "	libibverbs.so.1 (libc6,x86-64) => $library"
	program ldd "	libc.so.6 => /lib/libc.so.6"
	program ss
	program mroce-links "mr0 eth0 ACTIVE"
	program ibv_devices "    mr0    0202"
	program nft
	program iptables-legacy
}

# The device is gone, the module is not loaded
unloaded() {
	rm -r "$machine/sys/class/infiniband/mr0" "$machine/sys/class/infiniband_verbs" "$machine/sys/module/mroce"
	program rdma
	program mroce-links
	program ibv_devices
}

# says DESCRIPTION STATUS PATTERN: of the one line; and makes the machine healthy again
says() {
	local output status=0

	output=$(PATH=$WORK/bin:$PATH MROCE_ROOT=$machine "$TOP/scripts/doctor.sh" 2>&1) || status=$?
	if [ "$status" = "$2" ] && [[ $output =~ ^$3$ ]] && [ "$(wc -l <<< "$output")" = 1 ]; then
		ktap_ok "$1"
	else
		ktap_not_ok "$1" "status $status instead of $2, '$output' instead of '$3'"
	fi
	healthy
}

healthy
says "everything is there" 0 'ok'

program uname 5.10.0
says "an old kernel" 1 'kernel 5.10.0 is too old: .*'
program getconf 32
says "a 32-bit system" 1 'this is a 32-bit system: .*'
unloaded
script modinfo 'exit 1'
says "a kernel without InfiniBand" 1 'kernel 6.1.0-57-amd64 has no module ib_uverbs: .*'
unloaded
script modinfo '[[ $* == *ib_uverbs* ]]'
says "no module" 1 'no module mroce for kernel 6.1.0-57-amd64: .*'
unloaded
script modinfo 'echo "6.1.0-13-amd64 SMP"'
says "a module for another kernel" 1 'module mroce is built for kernel 6.1.0-13-amd64, not for 6.1.0-57-amd64: .*'
unloaded
script modprobe 'echo "FATAL: no such dependency"; exit 1'
says "a module without its dependencies" 1 'module mroce cannot be loaded: FATAL: no such dependency'

unloaded
put /sys/kernel/security/lockdown "none [integrity] confidentiality"
script modinfo '[[ $* != *vermagic* ]] || echo "6.1.0-57-amd64 SMP"'
says "Secure Boot, module not signed" 1 'module mroce is not signed, .*'
unloaded
put /sys/module/module/parameters/sig_enforce Y
put /proc/keys ""
says "signatures enforced, unknown key" 1 "module mroce is signed by 'a known key', a key this kernel does not know: .*"
unloaded
put /sys/kernel/security/lockdown "none [integrity] confidentiality"
says "Secure Boot, module signed by a known key" 1 'no mroce device: .*'

rm -r "$machine/sys/class/infiniband_verbs"
says "ib_uverbs not loaded" 1 'ib_uverbs is not loaded, .*'
program ldconfig
says "no libibverbs" 1 'no libibverbs: .*'
rm "$machine/etc/libibverbs.d/mroce.driver"
says "no registration" 1 'no provider for libibverbs is registered: .*'
put /etc/libibverbs.d/mroce.driver "driver mroce2"
says "a registration of something else" 1 'no provider for libibverbs is registered: .*'
put "$library" "xx IBVERBS_PRIVATE_57 yy"
says "a provider for another ABI" 1 ".*mroce.driver is there, but not ${library%/*}/libibverbs/libmroce-rdmav57.so: .*"
put /etc/libibverbs.d/mroce.driver "driver /opt/libmroce"
says "a provider elsewhere that is missing" 1 '.* not /opt/libmroce-rdmav34.so: .*'
put /etc/libibverbs.d/mroce.driver "driver /opt/libmroce"
put /opt/libmroce-rdmav34.so ""
says "a provider elsewhere" 0 'ok'
program ldd "	undefined symbol: ibv_cmd_x	(/opt/libmroce)"
says "a provider that cannot be loaded" 1 'the provider cannot be loaded: undefined symbol: ibv_cmd_x.*'

unloaded
program ss 'UNCONN 0 0 0.0.0.0:4799 0.0.0.0:* users:(("python3",pid=7,fd=3))'
says "the UDP port is taken" 1 'UDP port 4799 is taken: "python3",pid=7,fd=3'
program ss 'UNCONN 0 0 0.0.0.0:4799 0.0.0.0:*'
says "the UDP port is ours" 0 'ok'

unloaded
says "no device" 1 'no mroce device: .*'
unloaded
program mroce-links "mr0 eth0 no-link"
says "a configured device is not added" 1 'mr0 on eth0 is not there: .*'
program mroce-links $'mr0 eth0 ACTIVE\nmr1 eth1 no-netdev'
says "a configured netdev is missing" 1 'mr1: there is no netdev eth1 .*'
program mroce-links "mr0 eth1 other-netdev"
says "a configured device is elsewhere" 1 'mr0 is on another netdev than eth1 .*'
rm "$WORK/bin/mroce-links"
says "nothing is configured" 0 'ok'
program rdma "${mr0/ACTIVE/DOWN}"
says "the port is down" 1 'mr0: its port is down, because eth0 .*'

program ibv_devices "libibverbs: Warning: couldn't load driver"
says "libibverbs does not see the device" 1 "programs do not see mr0: libibverbs: Warning: couldn't load driver"
rm "$machine/dev/infiniband/uverbs0"
says "no device file" 1 'no /dev/infiniband/uverbs0: .*'

ruleset='table inet filter {
	chain input {
		type filter hook input priority filter; policy drop;
		tcp dport 22 accept
	}
	chain forward {
		type filter hook forward priority filter; policy drop;
	}
}'
program nft "$ruleset"
says "a firewall that drops" 0 'ok, but the firewall \(chain input\) may drop .*'
program nft "${ruleset/tcp dport 22/udp dport 4799}"
says "a firewall that lets the port pass" 0 'ok'
program nft "${ruleset/input priority filter; policy drop/input priority filter; policy accept}"
says "a firewall that forwards nothing" 0 'ok'
rule='tcp dport 22 accept'
ruleset=${ruleset/input priority filter; policy drop/input priority filter; policy accept}
program nft "${ruleset/"$rule"/"$rule"$'\n\t\treject with icmpx admin-prohibited'}"
says "a firewall that refuses the rest" 0 'ok, but the firewall .*'
put /proc/net/ip_tables_names filter
program iptables-legacy $'-P INPUT DROP\n-A INPUT -p tcp --dport 22 -j ACCEPT'
says "iptables that drop" 0 'ok, but the firewall \(chain INPUT\) may drop .*'
put /proc/net/ip_tables_names filter
program iptables-legacy $'-P INPUT DROP\n-A INPUT -p udp --dport 4799 -j ACCEPT'
says "iptables that let the port pass" 0 'ok'

put /sys/class/net/eth0/mtu 1500
says "a small MTU" 0 'ok, but mr0 is faster with a larger MTU: eth0 has 1500, .*'
ulimit -l 64
says "root is not limited" 0 'ok'
# shellcheck disable=SC2016
script id '[ "$1" = -u ] && echo 1000 || echo user'
says "a user's memlock limit" 0 'ok, but user can register no more than 64 KiB .*'
