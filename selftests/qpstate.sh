#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml
# limit_s: 240
# Limits, queue pair states, error completions, retry timers: between two devices, over IPv6, and on one device alone.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

ONLY=

# cases WHERE OPTIONS...: all cases, or those in $ONLY; one that leaves no line is a failure
cases() {
	local where=$1 name line program=$TOOLS/mroce_qpstate

	shift
	on A timeout -k 1 200 "$program" "$@" ${ONLY:+"$ONLY"} > "$WORK/cases" 2>&1 || true
	for name in $("$program" "$@" -l ${ONLY:+"$ONLY"}); do
		line=$(grep -E "^(PASS|FAIL|SKIP) $name(:|\$)" "$WORK/cases" || true)
		case $line in
		PASS*) ktap_ok "$where: $name" ;;
		SKIP*) ktap_skip "$where: $name" "${line#*: }" ;;
		*) ktap_not_ok "$where: $name" "${line:-no result: $(tail -n 1 "$WORK/cases")}" ;;
		esac
	done
}

setup_pair
a=$(device A) b=$(device B)
cut="ip netns exec A tc qdisc replace dev vA root netem loss 100%"
mend="ip netns exec A tc qdisc replace dev vA root pfifo"
ONLY=silent_from_birth cases "before any connection" -A "$a" -B "$b" --cut "$cut" --mend "$mend"
cases "two devices" -A "$a" -B "$b" --cut "$cut" --mend "$mend"
cases "two devices, IPv6" -6 -A "$a" -B "$b"
if on A "$TOOLS/mroce_qpstate" -A "$a" qp_to_itself | grep '^SKIP' >&2; then
	ktap_skip "one device" "it refuses to talk to itself"
else
	cases "one device" -A "$a"
fi
check "devices and link go away" teardown_pair
