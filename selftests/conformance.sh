#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# quick: uml
# quick_set: CONFORM="1 2 3 4 5 6 7 8 9 10 12 13 21 27 28 31 32 33"
# limit_s: 420
# alone: yes
# The conformance suite (Documentation/conformance.rst): a scripted peer in user space on side B, the device on side A.
#   CONFORM="6 9"   only these rows
set -euo pipefail
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/tools/verify.sh"
. "$(dirname "$0")/topology.sh"
PLANES=4
SEED=${SEED:-1}
add_planes="" addresses=("$(address A)") local_end=(--local "$(address B)" --interface vB)

# dut_device: on side A only; on B nobody but the peer has the UDP port
dut_device() {
	load_driver A && on A rdma link add mrA type "$DEV" netdev vA && wait_for "device_is_ready A" 20
}

# setup_links: those of further planes
setup_links() {
	local i

	for ((i = 1; i < PLANES; i++)); do
		add_link $i
		addresses+=("$(plane_address A $i)")
		local_end+=(--local "$(plane_address B $i)" --interface "vB$i")
		add_planes+="ip netns exec A $MROCE plane add mrA dev vA$i && "
	done
	add_planes+=true
}

# report LINE: "row N name: verdict  what was seen" as a KTAP result
report() {
	local description=${1%%: *} verdict text

	read -r verdict text <<< "${1#*: }"
	case $verdict in
	pass) ktap_ok "$description" && ktap_diag "$text" ;;
	skip) ktap_skip "$description" "$text" ;;
	*) ktap_not_ok "$description" "$text" ;;
	esac
}

ktap_diag "seed $SEED"
check "the rows are listed without addresses" \
	eval "python3 '$TOP/selftests/conformance/main.py' --list --rows 6 | grep -qx 'row 6 gap'"
setup_link
setup_links
# somebody else's, for the row about third parties
on B ip address add 10.9.0.3/24 dev vB
check "a device on side A" dut_device
# Both on one processor: what the device does in the peer's packets and in its program's calls is then not spread over
# two, and a machine that stands still does so for both. Not by 'on', so that the number is that of the program.
ip netns exec A taskset -c 0 "$TOOLS/mroce_dut" mrA >&2 &
dut=$!
defer "kill $dut 2> /dev/null; wait $dut 2> /dev/null"
last=
while read -r line; do
	case $line in
	"row "*) report "$line" ;;
	*) last=$line ;;
	esac
done < <(on B taskset -c 0 python3 "$TOP/selftests/conformance/main.py" "${local_end[@]}" --add-planes "$add_planes" \
	--seed "$SEED" --rows "${CONFORM:-}" --patience "$(patience 1)" --trace 100 "${addresses[@]}")
ktap_diag "$last"
check "every row has had its turn" grep -q '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' <<< "$last"
check "the agent has lived to the end" kill -0 "$dut"
