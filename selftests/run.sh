#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Run tests on the build machine and in guests, count what they report.
#
#   run.sh [LANE...]    default: style host uml uml-kasan qemu
#
#   TEST="a b"          only the tests of these names
#   V=1                 show every line a test reports, as it comes
#   CI=true             a skip that skips.txt does not name is a failure
#   LIMIT_S=7200        for a guest that is asked for more than usual (ROUNDS=1000)
#   JOBS=2              tests at once, but for those that say '# alone: yes'; 1 with V=1
#   DEV=rxe             another device type in the guests, to try the tests themselves; nothing of mroce is built then
#
# Lanes: style (source checks), host (unit tests as user programs), uml (User-Mode Linux 7.3), uml-VARIANT (the same with
# selftests/uml/uml-VARIANT.config), qemu (Debian's kernel), qemu-SERIES (a newer one from backports).
# Logs: $OUT/logs/LANE-TEST.ktap and .console.   The last line is 'N passed, N failed, N skipped'.
set -euo pipefail
. "$(dirname "$0")/../scripts/env.sh"
DEV=${DEV:-mroce}
LOGS=$OUT/logs
JOBS=${JOBS:-$(($(nproc) < 4 ? $(nproc) : 4))}
[ "${V:-}" != 1 ] || JOBS=1
passed=0 failed=0 skipped=0

# ---- counting --------------------------------------------------------------------------------------------------------
skip_is_allowed() {
	local name=$1 text=$2 where pattern

	while read -r where pattern; do
		[ "$where" = "$name" ] && [[ $text =~ ${pattern%% -- *} ]] && return 0
	done < <(grep -v '^#' "$TOP/selftests/skips.txt")
	return 1
}

# account LANE TEST SECONDS: add up the results of a test and show what is not a pass
account() {
	local name=$1/$2 seconds=$3 counts lines line p f s verdict=ok

	counts=$(awk -f "$TOP/selftests/ktap.awk" "$LOGS/$1-$2.ktap")
	lines=$(tail -n +2 <<< "$counts")
	read -r p f s <<< "$(head -1 <<< "$counts")"
	if [ "${CI:-}" = true ]; then
		while read -r line; do
			if [[ $line == skipped:* ]] && ! skip_is_allowed "$name" "${line#skipped: }"; then
				f=$((f + 1)) s=$((s - 1))
				lines+=$'\n'"failed: a skip that skips.txt does not name: ${line#skipped: }"
			fi
		done <<< "$lines"
	fi
	[ "$f" = 0 ] || verdict=FAILED
	printf '%-6s %-20s %3d passed, %d failed, %d skipped  (%d s)\n' "$verdict" "$name" "$p" "$f" "$s" "$seconds"
	[ -z "$lines" ] || printf '       %s\n' "${lines//$'\n'/$'\n'       }"
	if [ "$f" != 0 ]; then
		echo "       see $LOGS/$1-$2.ktap"
		[ ! -s "$LOGS/$1-$2.console" ] || tail -n 15 "$LOGS/$1-$2.console" | sed 's/^/       | /'
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# ---- jobs ------------------------------------------------------------------------------------------------------------
declare -A job=()

# start_job LANE TEST ROWS COMMAND...: as soon as there is room for one more; it leaves the results in the log
start_job() {
	local lane=$1 test=$2 rows=$3 log=$LOGS/$1-$2

	shift 3
	while [ "${#job[@]}" -ge "$JOBS" ]; do
		end_job
	done
	rm -f "$log".*
	touch "$log.ktap"
	echo "#      $lane/$test" >&2
	"$@" &
	job[$!]="$lane $test $SECONDS $rows"
}

# end_job: wait for one, whichever ends first, and count its results
end_job() {
	local pid lane test start rows

	wait -n -p pid "${!job[@]}" || true
	read -r lane test start rows <<< "${job[$pid]}"
	unset "job[$pid]"
	[ -z "$rows" ] || rows_to_json "$LOGS/$lane-$test.ktap" > "$([ -z "${QUICK:-}" ] && echo "$OUT" || echo "$LOGS")/$rows"
	account "$lane" "$test" $((SECONDS - start))
}

kill_tree() {
	local child

	for child in $(pgrep -P "$1"); do
		kill_tree "$child"
	done
	kill "$1" 2> /dev/null || true
}

# what runs in the background does not hear of an interrupt
stop_jobs() {
	local pid

	for pid in "${!job[@]}"; do
		kill_tree "$pid"
	done
	wait
	exit 130
}
trap stop_jobs INT TERM HUP

end_jobs() {
	while [ "${#job[@]}" -gt 0 ]; do
		end_job
	done
}

rows_to_json() {
	echo "["
	sed -n 's/\r$//; s/^# row //p' "$1" | sed '$!s/$/,/'
	echo "]"
}

# ---- tests on this machine -------------------------------------------------------------------------------------------
# run_here LOG COMMAND...: the command prints KTAP
run_here() {
	local log=$1

	shift
	# a function of ours has its own limits; a program that hangs has not
	if ! declare -F "$1" > /dev/null && [ "$1" != env ]; then
		set -- timeout -k 5 900 "$@"
	fi
	"$@" > "$log.ktap" 2> "$log.console" || echo "Bail out! Status $?" >> "$log.ktap"
	[ "${V:-}" != 1 ] || cat "$log.ktap"
}

# start_here LANE TEST COMMAND...
start_here() {
	local lane=$1 test=$2

	shift 2
	! wanted "$test" || start_job "$lane" "$test" "" run_here "$LOGS/$lane-$test" "$@"
}

# ---- tests in guests -------------------------------------------------------------------------------------------------
# enter_lane LANE: which kernel, for everything that follows
enter_lane() {
	case $1 in
	uml) use_uml_variant plain ;;
	uml-*) use_uml_variant "${1#uml-}" ;;
	qemu) use_stock_series "" ;;
	qemu-*) use_stock_series "${1#qemu-}" ;;
	esac
}

# write_environment FILE LANE SCRIPT ROLE PAIR TERMINAL: what guest.sh reads
write_environment() {
	local module=$OUT/build/$2 root='' variable

	[[ $2 == qemu* ]] || root=$(echo "$UML_KERNEL"/lib/modules/*)
	cat > "$1" <<-END
		TOP=$TOP
		OUT=$OUT
		LANE=${2%%-*}
		DEBUG_KERNEL=$([[ $2 != uml-* ]] || echo "${2#uml-}")
		TEST_SCRIPT=$3
		ROLE=$4
		PAIR=$5
		RESULT_TTY=$6
		DEV=$DEV
		MODULE=$module/drivers/infiniband/sw/mroce/mroce.ko
		KUNIT_MODULE=$module/kunit/mroce_kunit.ko
		TOOLS=$OUT/tools
		PROVIDER=$OUT/userspace/libmroce
		KERNEL_MODULES=$root
		HOST_MHZ=$(awk '/^cpu MHz/ {print $4; exit}' /proc/cpuinfo)
		SEED=${SEED:-$RANDOM}
		QUICK=${QUICK:-}
		$([ -z "${QUICK:-}" ] || script_header "$3" quick_set)
		PYVERBS="${PYVERBS:-}"
	END
	# how much, or how long: of single tests, named in their heads
	for variable in STRIDE FAULTS FAULT_S VERBOSE INTEGRITY_S STRESS_S FUZZ_S FUZZ_RATE SCRIBBLE_S FLOOD_S COUNT ROUNDS SECONDS_EACH LOADS MESSAGES \
		BENCH_TESTS SIZES LOSS OPS CONTENDERS CONFORM CONNS ATTACKS; do
		[ -z "${!variable:-}" ] || echo "$variable='${!variable}'" >> "$1"
	done
}

boot_uml() {
	local log=$1 script=$2 limit_s=$3 lane=$4

	write_environment "$log.env" "$lane" "$script" a namespaces /dev/tty1
	"$TOP/selftests/uml/boot.sh" "$log.env" "$log.ktap" "$limit_s" > "$log.console"
}

boot_qemu() {
	local log=$1 script=$2 limit_s=$3 lane=$4

	write_environment "$log.env" "$lane" "$script" a namespaces /dev/ttyS1
	"$TOP/selftests/qemu/boot.sh" "$log.env" "$log.ktap" "$limit_s" > "$log.console"
}

# network ROLE DIRECTORY: a control link and the link under test (jumbo frames), the other machine at the far end.
# Hardware addresses tell the guests which is which.
network() {
	local net host=1 server=on

	[ "$1" = a ] || host=2 server=off
	for net in 8 9; do
		printf -- '-netdev stream,id=n%s,server=%s,addr.type=unix,addr.path=%s/n%s ' $net $server "$2" $net
		printf -- '-device virtio-net-pci,netdev=n%s,mac=52:54:00:00:0%s:0%s,host_mtu=9000 ' $net $net $host
	done
}

boot_qemu_pair() {
	local log=$1 script=$2 limit_s=$3 lane=$4 sockets status=0 second

	# no more virtual processors than there are real ones: emulated ones that wait for each other stand still
	[ -n "${CPUS:-}" ] || local -x CPUS=$(($(nproc) < 4 ? 1 : 2))
	sockets=$(mktemp -d)
	write_environment "$log.env" "$lane" "$script" a machines /dev/ttyS1
	write_environment "$log.b.env" "$lane" "$TOP/selftests/qemu/agent.sh" b machines /dev/ttyS1
	(
		for ((i = 0; i < 600; i++)); do
			[ ! -S "$sockets/n9" ] || break
			sleep 0.1
		done
		NET=$(network b "$sockets") "$TOP/selftests/qemu/boot.sh" "$log.b.env" "$log.b.ktap" "$limit_s"
	) > "$log.b.console" 2>&1 &
	second=$!
	NET=$(network a "$sockets") "$TOP/selftests/qemu/boot.sh" "$log.env" "$log.ktap" "$limit_s" > "$log.console" ||
		status=$?
	wait $second || status=$?
	sed 's/^/b: /' "$log.b.console" >> "$log.console"
	rm -r "$sockets"
	return $status
}

# run_guest LANE SCRIPT: boot, and leave the results in the log
run_guest() {
	local lane=$1 script=$2 log limit_s cpus boot=boot_${1%%-*} follow=

	cpus=$(script_header "$script" cpus)
	[ -z "$cpus" ] || local -x CPUS=$cpus
	local -x KERNEL_ARGS
	KERNEL_ARGS=$(script_header "$script" kernel)
	log=$LOGS/$lane-$(basename "$script" .sh)
	limit_s=$(script_header "$script" limit_s)
	limit_s=${limit_s:-120}
	case $lane in
	qemu*)
		# emulated: everything takes longer
		limit_s=$((limit_s * 2))
		[ "$(script_header "$script" machines)" != 2 ] || boot=boot_qemu_pair
		;;
	uml-*) limit_s=$((limit_s * 4)) ;;
	esac
	[ "$JOBS" = 1 ] || limit_s=$((limit_s * 2))
	limit_s=${LIMIT_S:-$limit_s}
	if [ "${V:-}" = 1 ]; then
		tail -n +1 -f "$log.ktap" 2> /dev/null > >(grep -v --line-buffered -E '^(# row|KTAP|1\.\.)') &
		follow=$!
	fi
	$boot "$log" "$script" "$limit_s" "$lane" ||
		echo "Bail out! The guest ended with status $? (124 and 137: its limit of $limit_s s)" >> "$log.ktap"
	[ -z "$follow" ] || { sleep 0.2; kill $follow; wait $follow 2> /dev/null || true; }
}

# start_guest LANE SCRIPT
start_guest() {
	enter_lane "$1"
	start_job "$1" "$(basename "$2" .sh)" "$(script_header "$2" rows)" run_guest "$1" "$2"
}

# ---- lanes -----------------------------------------------------------------------------------------------------------
wanted() {
	[ -z "${TEST:-}" ] || [[ " $TEST " == *" $1 "* ]]
}

build() {
	local lane=$1 start=$SECONDS

	shift
	"$@" > "$LOGS/$lane-build.console" 2>&1 && return
	printf 'KTAP version 1\nnot ok 1 %s\n1..1\n' "$*" > "$LOGS/$lane-build.ktap"
	account "$lane" build $((SECONDS - start))
	return 1
}

build_userspace() {
	make -C "$TOP/userspace" O="$OUT/userspace" || return 1
}

build_for_guest() {
	local lane=$1 warn=

	make -C "$TOP/selftests/tools" O="$OUT/tools" || return 1
	# without them only their own test fails
	! wanted pyverbs || "$TOP/scripts/pyverbs.sh" "$OUT/pyverbs" || true
	[ "$DEV" = mroce ] || return 0
	build_userspace || return 1
	[[ $lane != qemu* ]] || ! wanted install || "$TOP/selftests/tools/installed.sh" || return 1
	# two of them are what the style lane asks for, warnings and all
	[[ $lane == *-* ]] || warn=W=1e
	case $lane in
	uml*) "$TOP/scripts/build-module.sh" "$OUT/build/$lane" -C "$UML_SOURCE" O="$UML_KERNEL" ARCH=um $warn ;;
	qemu*) "$TOP/scripts/build-module.sh" "$OUT/build/$lane" -C "/lib/modules/$(stock_kernel)/build" $warn ;;
	esac
}

lane_style() {
	start_here style style "$TOP/scripts/style.sh"
}

# as_test DESCRIPTION COMMAND...: one KTAP result
as_test() {
	local description=$1 output

	shift
	echo "KTAP version 1"
	if output=$(timeout -k 5 300 "$@" 2>&1); then
		echo "ok 1 $description"
	else
		echo "not ok 1 $description"
		tail -20 <<< "$output" | sed 's/^/# /'
	fi
	echo "1..1"
}

lane_host() {
	start_here host unit make -s -C "$TOP/kunit/host" O="$OUT/host" run
	start_here host purity as_test "proto/ is pure, and small on the stack" make -s -C "$TOP/kunit/host" O="$OUT/purity" check
	start_here host coverage as_test "unit tests cover proto/" "$TOP/scripts/coverage.sh"
	start_here host provider make -s -C "$TOP/userspace" O="$OUT/userspace" check
	start_here host doctor bash "$TOP/selftests/doctor.sh"
	start_here host package bash "$TOP/selftests/package.sh"
}

# is_left_out SCRIPT LANE: a quick run leaves it to the lanes of its line '# quick:' (without one: to all but debug), and
# every run if it says '# named: yes', unless it is asked for
is_left_out() {
	local lanes

	[ -z "${TEST:-}" ] || return 1
	[ "$(script_header "$1" named)" != yes ] || return 0
	[ -n "${QUICK:-}" ] || return 1
	lanes=$(script_header "$1" quick)
	[[ " ${lanes:-uml qemu} " != *" $2 "* ]]
}

# scripts_of LANE: its tests, those that want to be alone last. Lanes with a debug kernel run what says 'debug'.
scripts_of() {
	local lane=$1 script lanes name=${1%%-*} alone=()

	[[ $lane != uml-* ]] || name=debug
	for script in "$TOP"/selftests/*.sh; do
		case ${script##*/} in
		run.sh | lib.sh | guest.sh) continue ;;
		esac
		lanes=$(script_header "$script" lanes)
		[ -n "$lanes" ] || die "$script has no line '# lanes:'"
		[[ " $lanes " == *" $name "* ]] || continue
		wanted "$(basename "$script" .sh)" || continue
		! is_left_out "$script" "$name" || continue
		if [ "$(script_header "$script" alone)" = yes ] && [ "$name" != debug ]; then
			alone+=("$script")
		else
			echo "$script"
		fi
	done
	[ "${#alone[@]}" = 0 ] || printf 'alone %s\n' "${alone[@]}"
}

# build_lane LANE: its kernel, the modules for it, the programs. A build that fails is a failed result, and the lane does not run.
build_lane() {
	local lane=$1

	enter_lane "$lane"
	case $lane in
	uml*) build "$lane" "$TOP/scripts/uml-kernel.sh" || return 0 ;;
	qemu-*) build "$lane" "$TOP/scripts/stock-kernel.sh" "${lane#qemu-}" || return 0 ;;
	esac
	build "$lane" build_for_guest "$lane" || return 0
	built+=("$lane")
}

start_lane() {
	local lane=$1 script

	while read -r script; do
		if [[ $script == alone* ]]; then
			late+=("$lane ${script#alone }")
		else
			start_guest "$lane" "$script"
		fi
	done < <(scripts_of "$lane")
}

# Tests that measure, when nothing else runs
run_late() {
	local entry

	end_jobs
	for entry in "${late[@]}"; do
		# shellcheck disable=SC2086
		start_guest $entry
		end_jobs
	done
}

built=() late=()
[ $# -gt 0 ] || set -- style host uml uml-kasan qemu
mkdir -p "$LOGS"
"$TOP/scripts/setup.sh" >&2
# nothing runs beside a kernel that is being built
for lane; do
	case $lane in
	style | host) ;;
	uml | uml-* | qemu | qemu-*) build_lane "$lane" ;;
	*) die "no lane '$lane'" ;;
	esac
done
for lane; do
	case $lane in
	style | host) "lane_$lane" ;;
	*) [[ " ${built[*]} " != *" $lane "* ]] || start_lane "$lane" ;;
	esac
done
run_late
echo "in $((SECONDS / 60)) min $((SECONDS % 60)) s"
[ $((passed + failed + skipped)) -gt 0 ] || die "no test of that name in that lane"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
