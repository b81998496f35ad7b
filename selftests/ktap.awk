# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Count the results of one KTAP document. Prints 'passed failed skipped' and then one line per failure and skip, and the
# first remarks that follow a failure.
# A result that sums up indented ones is not counted, unless it fails and none of them did.
# A document without a plan, or with another number of results than planned, is a failure: its writer died.

function report(kind, text) {
	count[kind]++
	if (kind != "passed")
		line[++lines] = kind ": " text
	remarks = kind == "failed" ? 12 : 0
}

{ sub(/\r$/, "") }

match($0, /^ *(ok|not ok) [0-9]+/) {
	indent = match($0, /[^ ]/) - 1
	failed = $1 == "not"
	text = $0
	sub(/^ *(not )?ok [0-9]+ *(- )?/, "", text)
	if (indent == 0)
		results++
	if (indent < last_indent) {
		if (failed && !failed_below)
			report("failed", text)
		failed_below = failed && indent > 0
	} else {
		if (failed)
			report("failed", text)
		else if (text ~ /# SKIP/)
			report("skipped", text)
		else
			report("passed", text)
		failed_below = failed_below || failed
	}
	last_indent = indent
	if (indent == 0)
		failed_below = 0
}

/^ *# / && remarks > 0 {
	remarks--
	sub(/^ *# /, "")
	line[++lines] = "        " $0
}

/^1\.\.[0-9]+/ { plan = substr($0, 4) + 0; planned = 1 }

/^Bail out!/ { report("failed", substr($0, 11)) }

END {
	if (!planned)
		report("failed", "no plan: the test did not reach its end")
	else if (plan != results)
		report("failed", "planned " plan " results, saw " results + 0)
	print count["passed"] + 0, count["failed"] + 0, count["skipped"] + 0
	for (i = 1; i <= lines; i++)
		print line[i]
}
