#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Run tests and print one KTAP document with a subtest for each.
#
#   run.sh DIR NAME...      runs DIR/test-NAME, or NAME.sh beside this script
#
# A program that crashes, hangs, or reports another number of results than it
# planned, is a failed subtest. What else it writes goes to standard error.
set -u
limit_s=60
dir=$1
shift
num=0
status=0

run_test() {
	if [ -x "$dir/test-$1" ]; then
		timeout $limit_s "$dir/test-$1"
	else
		timeout $limit_s "$(dirname "$0")/$1.sh" "$dir"
	fi
}

# Indent a subtest; fail if it did not report what it planned
nest() {
	awk '
	{ print "    " $0 }
	/^1\.\.[0-9]+/ { plan = substr($0, 4) + 0 }
	/^(not )?ok / { results++ }
	END {
		if (plan == 0 || plan != results) {
			print "    # planned " plan + 0 " results, saw " results + 0
			exit 1
		}
	}'
}

echo "KTAP version 1"
echo "1..$#"
for name; do
	num=$((num + 1))
	if (set -o pipefail; run_test "$name" | nest); then
		echo "ok $num $name"
	else
		echo "not ok $num $name"
		status=1
	fi
done
exit $status
