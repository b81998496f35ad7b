#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# How much of proto/ its unit tests execute: lines, and branches as gcov counts them (each outcome of a condition, of
# the macros, too, taken at least once). Inline functions of headers count wherever they are used. Nothing is left out.
#
#   coverage.sh       prints a table and what is not covered; both are in $OUT/coverage.txt
#
# Fails below LINES_MIN and BRANCHES_MIN percent in total.
set -euo pipefail
. "$(dirname "$0")/env.sh"
LINES_MIN=98
BRANCHES_MIN=90
BUILD=$OUT/coverage
# Without optimization each condition has its own branches; functions of headers that nobody calls count, too.
FLAGS='--coverage -O0 -fkeep-inline-functions -DSEEDS=10'

# As 'FILE LINE what taken': 'what' = line, or the number of a branch. One call for each object: of several at once gcov
# leaves branches out.
gcov_rows() {
	find "$BUILD" -name '*.gcda' -print0 | xargs -0 -n 1 gcov --branch-probabilities --branch-counts --stdout |
		awk -F: '
			$2 ~ /^ *0$/ && $3 == "Source" { file = $4; wanted = sub(/.*\/proto\//, "", file) }
			!wanted { next }
			/^branch/ {
				split($0, word, / +/)
				print file, line, word[2], (word[3] == "taken" && word[4] > 0)
				next
			}
			$2 ~ /^ *[0-9]+$/ && $1 !~ /-/ {
				line = $2 + 0
				print file, line, "line", $1 !~ /#/
			}'
}

# A row for each file, and the total; then what was missed
table() {
	sort -k1,1 -k2,2n -k3,3 | awk -v lines_min="$LINES_MIN" -v branches_min="$BRANCHES_MIN" '
		function percent(part, all) { return all ? sprintf("%5.1f", 100 * part / all) : "    -" }
		function row(name) {
			return sprintf("%-16s %5d of %5d %s   %5d of %5d %s", name, hit[name, 0], all[name, 0],
				       percent(hit[name, 0], all[name, 0]), hit[name, 1], all[name, 1],
				       percent(hit[name, 1], all[name, 1]))
		}
		function count(name, is_branch) {
			all[name, is_branch]++
			hit[name, is_branch] += taken
		}
		function finish() {
			if (last == "")
				return
			split(last, key, " ")
			if (!(key[1] in seen)) {
				seen[key[1]] = 1
				file[++files] = key[1]
			}
			count(key[1], key[3] != "line")
			count("total", key[3] != "line")
			if (!taken)
				missed[++misses] = key[1] ":" key[2] (key[3] == "line" ? "" : ": branch " key[3])
		}
		{
			this = $1 " " $2 " " $3
			if (this != last) {
				finish()
				taken = 0
			}
			last = this
			taken = taken || $4
		}
		END {
			finish()
			printf "%-16s %-22s  %s\n", "proto/", "lines executed  %", "branches taken  %"
			for (i = 1; i <= files; i++)
				print row(file[i])
			print row("total")
			for (i = 1; i <= misses; i++)
				print "missed: " missed[i]
			if (!files || 100 * hit["total", 0] < lines_min * all["total", 0] ||
			    100 * hit["total", 1] < branches_min * all["total", 1]) {
				print "less than " lines_min " % of the lines or " branches_min " % of the branches"
				exit 1
			}
		}'
}

[ "$(cat "$BUILD/flags" 2> /dev/null)" = "$FLAGS" ] || rm -rf "$BUILD"
mkdir -p "$BUILD"
echo "$FLAGS" > "$BUILD/flags"
find "$BUILD" -name '*.gcda' -delete
make -s -C "$TOP/kunit/host" O="$BUILD" SANITIZE="$FLAGS" run > "$BUILD/run.ktap" ||
	{ grep -A5 '^not ok' "$BUILD/run.ktap" || tail "$BUILD/run.ktap"; die "the tests fail"; }
gcov_rows | table | tee "$OUT/coverage.txt"
