# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=bash
# For tests that run cases of mroce_qpstate. Sourced after lib.sh.

# Which cases: names and patterns; '!' before one: not these. None: all
ONLY=()

# cases WHERE OPTIONS...: all cases, or those in ONLY; one that leaves no line is a failure
cases() {
	local where=$1 name line program=$TOOLS/mroce_qpstate slack_ms=1000

	shift
	# the verbs timeout is never shorter than some round trips, and those of an emulated machine are long
	! is_slow || slack_ms=4500
	[ -z "$DEBUG_KERNEL" ] || slack_ms=20000
	on A timeout -k 1 300 "$program" -s "$slack_ms" "$@" "${ONLY[@]}" > "$WORK/cases" 2>&1 || true
	for name in $("$program" "$@" -l "${ONLY[@]}"); do
		line=$(grep -E "^(PASS|FAIL) $name(:|\$)" "$WORK/cases" || true)
		case $line in
		PASS*) ktap_ok "$where: $name" ;;
		*) ktap_not_ok "$where: $name" "${line:-no result: $(tail -n 1 "$WORK/cases")}" ;;
		esac
	done
}
