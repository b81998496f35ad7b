#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# tool.sh DIRECTORY: the command line of the program mroce, built with the sanitizers. No module is needed: what makes sense
# gets as far as asking the kernel (status 2), what does not is refused before (status 1).
set -u
program=$1/tool/mroce-checked
count=0 failed=0

# case STATUS PATTERN WORDS...: exit status, and a regular expression for all of its output
case_is() {
	local wanted=$1 pattern=$2 status=0 output

	output=$("$program" "${@:3}" 2>&1) || status=$?
	count=$((count + 1))
	if [ "$status" = "$wanted" ] && [[ $output =~ ^($pattern)$ ]]; then
		echo "ok $count mroce ${*:3}"
	else
		failed=$((failed + 1))
		echo "not ok $count mroce ${*:3}"
		echo "# status $status instead of $wanted, '$output' instead of '$pattern'" | tr '\n' ' '
		echo
	fi
}

# understood WORDS...: they make sense, so the kernel is asked. Here it has no answer, or no such device.
understood() {
	case_is 2 '(\[\]
)?mroce: .*(not loaded|netlink socket|No such|Operation not).*' "$@"
}

# senseless PATTERN WORDS...
senseless() {
	case_is 1 "mroce: $1" "${@:2}"
}

echo "KTAP version 1"
case_is 1 'Usage: mroce .*'
case_is 0 'Usage: mroce .*' help
case_is 0 'Usage: mroce .*' -h
case_is 0 'Usage: mroce .*' --help
case_is 0 'mroce utility, .*' -V
for object in dev plane conn path link; do
	case_is 0 "Usage: mroce $object .*" $object help
done
case_is 0 'Usage: mroce monitor' monitor help
senseless 'there is no object "device"; .*' device
senseless 'there is no object ""; .*' ''
case_is 1 '.*invalid option.*' -x dev
case_is 1 '.*requires an argument.*' -n
case_is 2 'mroce: network namespace "no/such": .*' -n no/such dev
case_is 1 'mroce: the name of the network namespace is too long' -n "$(printf 'x%.0s' {1..5000})" dev

understood dev show mr99
understood d sh mr99
understood -j dev list mr99
understood --json --pretty --statistics dev show mr99
understood dev set mr99 paths 32
understood dev set mr99 paths default max_window_kib 64 cc ecn ordering strict
understood dev set mr99 max_window_kib 0x400
understood dev set mr99 cc default ordering default
senseless 'what is "mr98".*' dev show mr99 mr98
senseless 'what is "sow".*' dev sow
senseless 'name of an mroce device is missing' dev set
senseless 'nothing to set' dev set mr99
senseless 'paths is missing' dev set mr99 paths
senseless 'what is "colour".*' dev set mr99 colour 3
for number in 33 -1 +1 ' 1' 1x '' x 4294967297 99999999999999999999999; do
	senseless 'paths: ".*" is not a number from 0 to 32' dev set mr99 paths "$number"
done
senseless 'max_window_kib: "1048577" is not a number .*' dev set mr99 max_window_kib 1048577
senseless 'ordering "loose": .*' dev set mr99 ordering loose
senseless 'ordering "strictly": .*' dev set mr99 ordering strictly
senseless 'ordering is missing' dev set mr99 ordering
senseless 'name of a congestion control is missing' dev set mr99 cc
senseless '".*" is not the name of a device' dev show "$(printf 'm%.0s' {1..64})"
senseless '"" is not the name of a device' dev show ''

understood plane show mr99
understood plane add mr99 dev lo
understood plane add mr99 dev lo label 255
understood plane del mr99 dev lo
understood plane delete mr99 dev lo
understood plane set mr99 dev lo speed 100000
understood plane set mr99 dev lo speed default
senseless '"dev NETDEV" is missing' plane add mr99
senseless '"dev NETDEV" is missing' plane add mr99 label 1
senseless 'name of a netdev is missing' plane add mr99 dev
senseless 'there is no netdev "nothing"' plane add mr99 dev nothing
senseless 'label: "256" is not a number from 0 to 255' plane add mr99 dev lo label 256
senseless 'label is missing' plane add mr99 dev lo label
senseless 'what is "label".*' plane del mr99 dev lo label 1
senseless 'nothing to set: .*' plane set mr99 dev lo
senseless 'speed is missing' plane set mr99 dev lo speed

understood conn show mr99
understood conn show mr99 conn 3
understood conn show mr99 conn 0xffffffff
senseless 'conn: "0x100000000" is not a number .*' conn show mr99 conn 0x100000000
senseless 'conn is missing' conn show mr99 conn
for number in 0 00 0x0; do
	senseless 'no connection has the number 0' conn show mr99 conn "$number"
	senseless 'no connection has the number 0' path show mr99 conn "$number"
	senseless 'no connection has the number 0' path show mr99 conn "$number" path 3
done
senseless 'what is "add".*' conn add
understood path show mr99 conn 1
understood path show mr99 conn 1 path 31
senseless 'path: "256" is not a number from 0 to 255' path show mr99 conn 1 path 256
senseless 'what is "path".*' path show mr99 path 3
understood link check lo
senseless 'name of a netdev is missing' link check
senseless 'name of a netdev is missing' link
senseless 'what is "lo".*' link check lo lo
senseless 'what is "list".*' monitor list
echo "1..$count"
[ "$failed" = 0 ]
