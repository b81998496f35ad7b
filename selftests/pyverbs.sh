#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug qemu
# quick: uml
# limit_s: 300
# rdma-core's own tests of verbs, unmodified, as Debian ships them (scripts/pyverbs.sh), one result for each. Both ends of
# all traffic are queue pairs of one device. What they skip has to be in pyverbs_skips.txt, with a reason, and nothing else.
#
#   PYVERBS="test_qp* *.test_cq_events_rc"    only these (of TEST=pyverbs)
set -euo pipefail
. "$(dirname "$0")/lib.sh"
SEED=${SEED:-1}
ktap_diag "seed $SEED"

setup_pair
test_limit_s=60
! is_slow || test_limit_s=180
options=()
# another device type leaves out other things
[ "$DEV" != mroce ] || options=(--skips pyverbs_skips.txt)
read -ra names <<< "${PYVERBS:-}"
if on A "$TOP/selftests/tools/mroce_pyverbs.py" --seed "$SEED" --limit "$test_limit_s" "${options[@]}" "$OUT/pyverbs" \
	"$(device A)" "$(gid_index A)" "${names[@]}"; then
	ktap_ok "rdma-core's tests"
else
	ktap_not_ok "rdma-core's tests"
fi
check "devices and link go away" teardown_pair
