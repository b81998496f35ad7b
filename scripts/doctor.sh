#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# mroce-doctor: can verbs programs use mroce here? Prints one line: what is missing first and what to do about it
# (status 1); 'ok' (status 0); or 'ok, but' and what would make it better (status 0). Changes nothing.
#
# The checks run in the order of CHECKS: each may rely on those before it. As root it sees more (firewall, keys).
# MROCE_ROOT is put before every file it reads, for its test.
set -uo pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
CHECKS="kernel module signature loaded provider port links state seen"
HINTS="firewall memlock mtu"
root=${MROCE_ROOT:-}
port=4799			# MROCE_UDP_PORT of mroce/wire.h
full_mtu=8284			# from here on a packet carries 8192 bytes over IPv4

# ---- helpers ---------------------------------------------------------------------------------------------------------
has() {
	command -v "$1" > /dev/null
}

is_root() {
	[ "$(id -u)" = 0 ]
}

is_loaded() {
	[ -d "$root/sys/module/mroce" ]
}

# devices: names of the mroce devices, told by a counter that no other driver has
devices() {
	local file

	for file in "$root"/sys/class/infiniband/*/ports/1/hw_counters/path_reroll; do
		[ ! -e "$file" ] || cut -d / -f 5 <<< "${file#"$root"}"
	done
}

# netdev_of DEVICE
netdev_of() {
	rdma link show "$1/1" 2> /dev/null | sed -n 's/.* netdev \([^ ]*\).*/\1/p'
}

# missing TEXT: what a check prints when it fails
missing() {
	echo "$*"
	return 1
}

# ---- checks: print what is missing, or nothing -----------------------------------------------------------------------
check_kernel() {
	local release bits

	release=$(uname -r)
	bits=$(getconf LONG_BIT)
	[ "$bits" = 64 ] || missing "this is a $bits-bit system: mroce needs a 64-bit kernel" || return
	[ "$(printf '%s\n' 6.1 "$release" | sort -V | head -1)" = 6.1 ] ||
		missing "kernel $release is too old: mroce needs 6.1 or newer" || return
	is_loaded || modinfo -k "$release" ib_uverbs > /dev/null 2>&1 ||
		missing "kernel $release has no module ib_uverbs: install the kernel's full set of modules"
}

check_module() {
	local release magic problem

	! is_loaded || return 0
	release=$(uname -r)
	if ! magic=$(modinfo -k "$release" -F vermagic mroce 2> /dev/null); then
		missing "no module mroce for kernel $release: install linux-headers-$release and mroce-dkms, or 'make install'"
	elif [ "${magic%% *}" != "$release" ]; then
		missing "module mroce is built for kernel ${magic%% *}, not for $release: build it again"
	elif ! problem=$(modprobe -n mroce 2>&1); then
		missing "module mroce cannot be loaded: ${problem%%$'\n'*}"
	fi
}

# Does the kernel load signed modules only?
wants_signature() {
	grep -qs '^Y' "$root/sys/module/module/parameters/sig_enforce" && return
	grep -qsE '\[(integrity|confidentiality)\]' "$root/sys/kernel/security/lockdown"
}

check_signature() {
	local signer

	! is_loaded && wants_signature || return 0
	signer=$(modinfo -F signer mroce 2> /dev/null)
	[ -n "$signer" ] ||
		missing "module mroce is not signed, and this kernel (Secure Boot) loads signed modules only: sign it" || return
	! is_root || grep -qsF "$signer" "$root/proc/keys" ||
		missing "module mroce is signed by '$signer', a key this kernel does not know: mokutil --import, then reboot"
}

check_loaded() {
	has rdma || missing "no program 'rdma': install iproute2" || return
	! is_loaded || [ -d "$root/sys/class/infiniband_verbs" ] ||
		missing "ib_uverbs is not loaded, so programs see no device: modprobe ib_uverbs"
}

# registration: a file that names the provider to libibverbs
registration() {
	grep -lsE '^[[:space:]]*driver[[:space:]]+([^[:space:]]*/lib)?mroce[[:space:]]*$' "$root"/etc/libibverbs.d/* | head -1
}

check_provider() {
	local library directory abi provider file problem

	library=$(ldconfig -p | awk '$1 == "libibverbs.so.1" {print $NF; exit}')
	[ -n "$library" ] || missing "no libibverbs: install libibverbs1" || return
	file=$(registration)
	[ -n "$file" ] || missing "no provider for libibverbs is registered: install ibverbs-provider-mroce, or 'make install'" || return
	abi=$(grep -aoE -m1 'IBVERBS_PRIVATE_[0-9]+' "$root$library" | head -1)
	directory=$(awk '$1 == "driver" && $2 ~ /\/libmroce$/ {print $2; exit}' "$file")
	provider=${directory:-${library%/*}/libibverbs/libmroce}-rdmav${abi#IBVERBS_PRIVATE_}.so
	[ -e "$root$provider" ] ||
		missing "$file is there, but not $provider: install the provider that is built for this libibverbs" || return
	problem=$(ldd -r "$root$provider" 2>&1 | grep -E -m1 'not found|undefined|cannot|not a dynamic')
	[ -z "$problem" ] || missing "the provider cannot be loaded: ${problem#"${problem%%[![:space:]]*}"}"
}

# Once there is a device the port is ours
check_port() {
	local holder

	[ -z "$(devices)" ] && has ss || return 0
	holder=$(ss -Hlunp "sport = :$port" 2> /dev/null | head -1)
	[ -z "$holder" ] || missing "UDP port $port is taken: $(sed 's/.*users:((//; s/)).*//; s/[[:space:]]\+/ /g' <<< "$holder")"
}

# configured: the lines of mroce-links show, one for each line of links.conf
configured() {
	! has mroce-links || mroce-links show
}

check_links() {
	local name netdev state

	while read -r name netdev state; do
		case $state in
		no-netdev) missing "$name: there is no netdev $netdev (links.conf)" || return ;;
		no-link) missing "$name on $netdev is not there: mroce-links add (says why it cannot)" || return ;;
		other-netdev) missing "$name is on another netdev than $netdev (links.conf)" || return ;;
		esac
	done <<< "$(configured)"
	[ -n "$(devices)" ] ||
		missing "no mroce device: rdma link add mr0 type mroce netdev NETDEV, or a line in /etc/mroce/links.conf"
}

check_state() {
	local device netdev

	for device in $(devices); do
		[[ $(rdma link show "$device/1") != *" state ACTIVE "* ]] || continue
		netdev=$(netdev_of "$device")
		missing "$device: its port is down, because ${netdev:-its netdev} is down or has no carrier" || return
	done
}

check_seen() {
	local device output

	has ibv_devices || return 0
	output=$(IBV_SHOW_WARNINGS=1 ibv_devices 2>&1)
	for device in $(devices); do
		awk '{print $1}' <<< "$output" | grep -qx "$device" ||
			missing "programs do not see $device: $(grep -iE -m1 'warning|cannot|fail' <<< "$output")" || return
		check_node "$device" || return
	done
}

# check_node DEVICE: its file in /dev
check_node() {
	local file node

	file=$(grep -lxs "$1" "$root"/sys/class/infiniband_verbs/uverbs*/ibdev | head -1)
	[ -n "$file" ] || return 0
	node=/dev/infiniband/$(basename "${file%/ibdev}")
	[ -e "$root$node" ] || missing "no $node: is udev running?" || return
	if [ ! -r "$root$node" ] || [ ! -w "$root$node" ]; then
		missing "$node: $(id -un) may not open it"
	fi
}

# ---- hints: what works without, or cannot be known for sure ----------------------------------------------------------
# nft_drops: a chain for input that drops or refuses what no rule accepts
nft_drops() {
	nft -s list ruleset 2> /dev/null | awk -v port="$port" '
		$1 == "chain" { chain = $2; input = 0; drops = 0 }
		/hook input/ { input = 1; drops = /policy drop/ }
		input && $1 ~ /^(drop|reject)$/ { drops = 1 }
		$1 == "}" { if (input && drops) found = chain; input = 0 }
		$0 ~ "(^|[^0-9])" port "([^0-9]|$)" { named = 1 }
		END { if (found != "" && !named) print found }'
}

iptables_drops() {
	grep -qsx filter "$root/proc/net/ip_tables_names" || return 0
	iptables-legacy -S INPUT 2> /dev/null | awk -v port="$port" '
		/^-P INPUT DROP/ || /^-A INPUT -j (DROP|REJECT)/ { drops = 1 }
		$0 ~ "(^|[^0-9])" port "([^0-9]|$)" { named = 1 }
		END { if (drops && !named) print "INPUT" }'
}

hint_firewall() {
	local chain

	is_root || return 0
	chain=$({ ! has nft || nft_drops; ! has iptables-legacy || iptables_drops; } | head -1)
	[ -z "$chain" ] || echo "the firewall (chain $chain) may drop the packets: no rule names UDP port $port"
}

# root is not limited
hint_memlock() {
	local limit

	limit=$(ulimit -l)
	is_root || [ "$limit" = unlimited ] ||
		echo "$(id -un) can register no more than $limit KiB of memory (ulimit -l): raise memlock in /etc/security/limits.d"
}

hint_mtu() {
	local device netdev mtu

	for device in $(devices); do
		netdev=$(netdev_of "$device")
		mtu=$(cat "$root/sys/class/net/$netdev/mtu" 2> /dev/null)
		[ "${mtu:-$full_mtu}" -ge "$full_mtu" ] || echo "$device is faster with a larger MTU: $netdev has $mtu, best is $full_mtu or more"
	done
}

# ----------------------------------------------------------------------------------------------------------------------
for name in $CHECKS; do
	line=$("check_$name") || { echo "$line"; exit 1; }
done
for name in $HINTS; do
	line=$("hint_$name" | head -1)
	[ -z "$line" ] || { echo "ok, but $line"; exit 0; }
done
echo ok
