#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# lanes: uml debug
# limit_s: 120
# The suites of the protocol core, run by the kernel: one result per case.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

if insmod "$KUNIT_MODULE"; then
	ktap_ok "the suites load and run"
else
	ktap_not_ok "the suites load and run" "insmod $KUNIT_MODULE"
fi

# Cases are indented by four blanks, their parameters by eight
suites=0
for results in /sys/kernel/debug/kunit/*/results; do
	[ -r "$results" ] || continue
	suite=$(basename "$(dirname "$results")")
	suites=$((suites + 1))
	cases=0
	grep -E '^ {4}(not )?ok [0-9]+ ' "$results" > "$WORK/cases" || true
	while read -r verdict rest; do
		cases=$((cases + 1))
		[ "$verdict" != not ] || rest=${rest#ok }
		name="$suite: ${rest#* }"
		if [ "$verdict" = not ]; then
			ktap_not_ok "$name" "$(grep -B 12 "not ok ${rest%% *} ${rest#* }" "$results")"
		else
			ktap_ok "$name"
		fi
	done < "$WORK/cases"
	[ "$cases" -gt 0 ] || ktap_not_ok "$suite has cases"
done
check "there are suites" [ "$suites" -gt 0 ]
check "the suites unload" rmmod "$(basename "$KUNIT_MODULE" .ko)"
