#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The mroce devices that /etc/mroce/links.conf lists: one a line, NAME NETDEV.
#
#   mroce-links add [NETDEV]       add what is missing; what is there stays as it is
#   mroce-links delete [NETDEV]    delete what is there
#   mroce-links show [NETDEV]      print NAME NETDEV STATE: ACTIVE, DOWN, no-link, no-netdev, other-netdev
#   mroce-generator DIRECTORY...   the same file, as a systemd generator: units that add them when their netdev appears
set -uo pipefail
conf=${MROCE_LINKS_CONF:-/etc/mroce/links.conf}
sys=${MROCE_SYS:-/sys}
unit_dir=@UNITDIR@

say() {
	echo "mroce-links: $*" >&2
}

# entries [NETDEV]: the valid lines as 'NAME NETDEV'; status 1 if there are others
entries() {
	[ -r "$conf" ] || return 0
	awk -v wanted="${1:-}" -v conf="$conf" '
		function bad(why) {
			print "mroce-links: " conf ":" NR ": " why > "/dev/stderr"
			status = 1
		}
		{ sub(/#.*/, "") }
		NF == 0 { next }
		NF != 2 { bad("a line is: NAME NETDEV"); next }
		$1 ~ /\// || $2 ~ /\// { bad("a name has no /"); next }
		$1 in names { bad("a second line for the device " $1); next }
		$2 in netdevs { bad("a second line for the netdev " $2); next }
		{ names[$1]; netdevs[$2] }
		wanted == "" || wanted == $2 { print $1, $2 }
		END { exit status }' "$conf"
}

# state NAME NETDEV
state() {
	local line

	if [ -e "$sys/class/infiniband/$1" ]; then
		line=$(rdma link show "$1/1" 2> /dev/null)
		if [[ " $line " != *" netdev $2 "* ]]; then
			echo other-netdev
		elif [[ $line == *" state ACTIVE "* ]]; then
			echo ACTIVE
		else
			echo DOWN
		fi
	elif [ ! -e "$sys/class/net/$2" ]; then
		echo no-netdev
	else
		echo no-link
	fi
}

# try_add NAME NETDEV: why the kernel refuses is in its log only
try_add() {
	local output

	output=$(rdma link add "$1" type mroce netdev "$2" 2>&1) && say "$1 added on $2" && return
	case $(state "$1" "$2") in
	# somebody else was faster
	ACTIVE | DOWN) return 0 ;;
	esac
	say "$1 on $2: $output"
	dmesg 2> /dev/null | grep -F "mroce: cannot add $1 on $2" | tail -1 >&2
	return 1
}

add() {
	case $(state "$1" "$2") in
	ACTIVE | DOWN) say "$1 is on $2 already" ;;
	other-netdev) say "$1 on $2: a device of this name is on another netdev" && return 1 ;;
	no-netdev) say "$1 on $2: there is no netdev $2" && return 1 ;;
	no-link) try_add "$1" "$2" ;;
	esac
}

delete() {
	case $(state "$1" "$2") in
	ACTIVE | DOWN) rdma link delete "$1" && say "$1 deleted" ;;
	esac
}

show() {
	echo "$1 $2 $(state "$1" "$2")"
}

# for_each FUNCTION [NETDEV]: status 1 if one of them, or a line, is bad
for_each() {
	local name netdev status=0 list

	list=$(entries "${2:-}") || status=1
	if [ -z "$list" ] && [ -n "${2:-}" ]; then
		say "$conf has no line for the netdev $2"
		return 1
	fi
	while read -r name netdev; do
		[ -z "$name" ] || "$1" "$name" "$netdev" || status=1
	done <<< "$list"
	return $status
}

# generate DIRECTORY: an instance of the unit for each line, wanted by its netdev, and by the boot so that the journal
# tells when the netdev does not come
generate() {
	local name netdev unit device wants

	entries | while read -r name netdev; do
		unit=$(systemd-escape --template=mroce-link@.service "$netdev")
		device=$(systemd-escape --path --suffix=device "/sys/subsystem/net/devices/$netdev")
		for wants in "$device.wants" multi-user.target.wants; do
			mkdir -p "$1/$wants"
			ln -sf "$unit_dir/mroce-link@.service" "$1/$wants/$unit"
		done
	done
}

case ${0##*/}:${1:-} in
mroce-generator:?*) generate "$1" ;;
*:add | *:delete | *:show) for_each "$1" "${2:-}" ;;
*)
	sed -n 's/^#   //p' "$0" >&2
	exit 2
	;;
esac
