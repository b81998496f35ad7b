#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# completion.sh DIRECTORY: what bash offers on a command line of the program mroce. The program itself is a stub that
# prints what the real one prints of two devices; words it is not asked with are noted, and fail the test.
set -u
program=$1/tool/mroce-checked
count=0 failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat > "$scratch/mroce" <<- 'END'
	#!/bin/bash
	case $* in
	"dev show")
		echo "mr0 index 0 netdev eth0 up yes mtu 9000 paths 8 max_window_kib 1024 cc ecn ordering auto conns 2 qps 4 planes 1"
		echo "mr-conn index 1 netdev eth1 up no mtu 1500 paths 8 max_window_kib 1024 cc ecn ordering auto conns 0 qps 0 planes 1"
		;;
	"conn show mr0")
		echo "mr0 conn 3 local 10.9.0.1 remote 10.9.0.2 dscp 0 state open qps 4 paths 8 active 8 cc ecn"
		echo "mr0 conn 4294967295 local fd00:9::1 remote fd00:9::2 dscp 63 state idle qps 0"
		;;
	"conn show mr-conn") ;;
	*)
		echo "$*" >> "${0%/*}/nonsense"
		echo "mroce: no such mroce device in this network namespace (No such device)" >&2
		exit 2
		;;
	esac
END
chmod +x "$scratch/mroce"
PATH=$scratch:$PATH
# shellcheck source=/dev/null
. "$(dirname "$0")/../tool/completion/mroce"

result() {
	count=$((count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $count $1"
	else
		failed=$((failed + 1))
		echo "not ok $count $1"
		echo "# '$3' instead of '$2'"
	fi
}

sorted() {
	tr ' ' '\n' | sort | xargs
}

# offered WORDS...: for the last of them, which may be empty
offered() {
	local COMP_WORDS=(mroce "$@") COMP_CWORD=$# COMPREPLY=()

	_mroce
	echo "${COMPREPLY[*]}" | sorted
}

# offers WANTED WORDS...
offers() {
	result "mroce ${*:2}" "$(sorted <<< "$1")" "$(offered "${@:2}")"
}

# unknown WORD OBJECT: what the program says if the object has no such command. The empty word keeps it from asking the kernel.
unknown() {
	"$program" "$2" "$1" '' 2>&1 | grep -o "what is \"$1\""
}

# understands OBJECT: each command that is offered is one to the program
understands() {
	local word

	for word in $(offered "$1" ''); do
		result "there is: mroce $1 $word" "" "$(unknown "$word" "$1")"
	done
	result "there is no: mroce $1 nonsense" 'what is "nonsense"' "$(unknown nonsense "$1")"
}

names_in() {
	(cd "$1" 2> /dev/null && echo *)
}

shopt -s nullglob
echo "KTAP version 1"
result "it is for mroce" "complete -F _mroce mroce" "$(complete -p mroce)"
offers "dev plane conn path link monitor help -j -p -s -n -V -h" ''
offers "plane path" p
offers "conn" -j -s c
offers "$(names_in /run/netns)" -n ''
offers "dev" -n blue d
for object in dev plane conn path link monitor; do
	understands $object
done
offers "show set help" dev ''
offers "show add del help" plane ''
offers "show help" conn ''
offers "show help" path ''
offers "check help" link ''
offers "help" monitor ''

# devices
for object in dev plane conn path; do
	offers "mr0 mr-conn" $object show ''
done
offers "mr0 mr-conn" -n blue -s dev set m
offers "mr-conn" plane add mr-
offers "" dev show x
# netdevs
offers "$(names_in /sys/class/net)" plane add mr0 dev ''
offers "$(names_in /sys/class/net)" plane del mr0 dev ''
offers "$(names_in /sys/class/net)" link check ''
offers "$(names_in /sys/class/net | tr " " "\n" | grep "^lo" | xargs)" link check lo
offers "dev label" plane add mr0 ''
offers "dev" plane del mr0 ''
offers "" plane add mr0 dev lo label ''
# connections
offers "conn" conn show mr0 ''
offers "3 4294967295" conn show mr0 conn ''
offers "4294967295" -s conn show mr0 conn 4
offers "" conn show mr0 conn 0x
offers "" conn show mr-conn conn ''
offers "" conn show mr9 conn ''
offers "conn path" path show mr0 ''
offers "3 4294967295" -n blue path show mr0 conn ''
offers "" path show mr0 conn 3 path ''
# settings
offers "paths max_window_kib cc ordering" dev set mr0 ''
offers "default" dev set mr0 paths ''
offers "default" dev set mr0 max_window_kib ''
offers "ecn delay default" dev set mr0 cc ''
offers "auto strict relaxed default" dev set mr0 paths 4 ordering ''
result "the program was asked for what there is" "conn show mr9" "$(cat "$scratch/nonsense")"
echo "1..$count"
[ "$failed" = 0 ]
