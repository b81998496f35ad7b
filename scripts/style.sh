#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Source checks, as KTAP: what the compilers, checkpatch, sparse, shellcheck and codespell say, and the size limits.
set -uo pipefail
. "$(dirname "$0")/env.sh"
# whatever lanes it runs beside
use_uml_variant plain
use_stock_series ""
count=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# result DESCRIPTION COMMAND...: ok if the command succeeds and prints nothing
result() {
	local description=$1

	shift
	count=$((count + 1))
	if "$@" > "$scratch/output" 2>&1 && [ ! -s "$scratch/output" ]; then
		echo "ok $count $description"
	else
		echo "not ok $count $description"
		head -60 "$scratch/output" | sed 's/^/# /'
	fi
}

# sources PATTERN...: tracked or new files, not what is built
sources() {
	# only text; directories as a whole
	git -C "$TOP" ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
		[ ! -f "$TOP/$file" ] || echo "$file"
	done
}

# checkpatch IGNORED-TYPES PATTERN...
# Everywhere ignored: the helpers of newer kernels that 6.1 lacks (SPDX lines and spelling have checks of their own).
checkpatch() {
	local ignored=$1

	shift
	# it leaves a cache file where it runs
	(cd "$scratch" && sources "$@" | sed "s|^|$TOP/|" |
		xargs perl "$UML_SOURCE/scripts/checkpatch.pl" --strict --no-tree --root="$UML_SOURCE" --no-summary --terse \
			--quiet --show-types --max-line-length=100 --ignore "ALLOC_WITH_SIZEOF,TYPO_SPELLING,$ignored" -f)
}

check_checkpatch_kernel() {
	checkpatch FILE_PATH_CHANGES 'drivers/*.[ch]' 'include/*.[ch]' 'kunit/*.[ch]' ':!kunit/host' ':!*_trace.h'
	# macros that look like nothing else
	checkpatch FILE_PATH_CHANGES,PARENTHESIS_ALIGNMENT,OPEN_ENDED_LINE 'drivers/*_trace.h'
}

# kunit/host/kernel.h defines what checkpatch wants to see used
check_checkpatch_user() {
	checkpatch PREFER_KERNEL_TYPES,CAMELCASE,VOLATILE,PREFER_DEFINED_ATTRIBUTE_MACRO,USE_NEGATIVE_ERRNO,ARRAY_SIZE,BIT_MACRO \
		'userspace/*.[ch]' 'selftests/*.[ch]' 'kunit/host/*.[ch]' ':!kunit/host/kernel.h' ':!kunit/host/test.h'
}

check_sizes() {
	cd "$TOP" || return 1
	sources '*.[ch]' '*.sh' '*.py' | xargs wc -l | awk '$2 != "total" && $1 > 800 {print $2 ": " $1 " lines, limit 800"}'
	# a function body is what stands between a line '{' and the next line '}'
	# shellcheck disable=SC2016
	sources '*.c' | xargs awk '
		FNR == 1 { start = 0; name = "" }
		/^[a-zA-Z_].*\(/ && !/;$/ { name = $0 }
		/^{/ { start = FNR; dispatch = 0 }
		start && /^\tswitch \(/ { dispatch = 1 }
		/^}/ && start {
			limit = dispatch ? 120 : 60
			if (FNR - start - 1 > limit)
				print FILENAME ":" start ": " FNR - start - 1 " lines, limit " limit ": " name
			start = 0
		}'
}

check_spdx() {
	local file kernel='GPL-2.0' user='GPL-2.0 OR Linux-OpenIB' want

	cd "$TOP" || return 1
	sources '*.[ch]' '*.sh' '*.py' '*.awk' Makefile '*/Makefile' '*Kbuild*' '*Kconfig' .ci/run | while read -r file; do
		case $file in
		include/uapi/*) want='SPDX-License-Identifier' ;;
		include/* | drivers/* | kunit/* | Kbuild) want="SPDX-License-Identifier: $kernel" ;;
		*) want="SPDX-License-Identifier: $user" ;;
		esac
		head -2 "$file" | grep -q "$want" || echo "$file: no line '$want'"
	done
}

check_versions() {
	cd "$TOP" || return 1
	sources '*.[ch]' | grep -v '/compat/' | xargs grep -nE 'KERNEL_VERSION\(|LINUX_VERSION_CODE'
	return 0
}

# The package python3-yaml is for the system's python3, which need not be the first one
check_netlink() {
	cd "$TOP" || return 1
	/usr/bin/python3 scripts/netlink.py Documentation/netlink/specs/mroce.yaml include/uapi/linux/mroce.h
}

check_private_text() {
	cd "$TOP" || return 1
	sources | grep -v '^scripts/style.sh$' | xargs grep -nIE '(^|[^a-zA-Z0-9_.-])/(work|root|home)/'
	return 0
}

check_shell() {
	cd "$TOP" || return 1
	sources '*.sh' .ci/run userspace/tool/completion/mroce | xargs shellcheck -x -e SC1090,SC1091
}

check_spelling() {
	cd "$TOP" || return 1
	sources | grep -vE '\.(json|txt)$' | xargs codespell --ignore-words-list=mroce,ect,nak
}

# W=1e: what W=1 warns of is an error. The modules of the lanes qemu and uml are built like this, too, and are these.
check_build_stock() {
	"$TOP/scripts/build-module.sh" "$OUT/build/qemu" -C "$kernel" W=1e 2>&1 | grep -E 'warning|error|ERROR'
	[ -s "$OUT/build/qemu/drivers/infiniband/sw/mroce/mroce.ko" ]
}

# sparse alone: everything is compiled already
check_sparse() {
	"$TOP/scripts/build-module.sh" "$OUT/build/qemu" -C "$kernel" W=1e C=2 CF=-D__CHECK_ENDIAN__ \
		2>&1 | grep -E 'warning|error' | grep -vE '^(\./|/usr/src/|\.\./)?(arch|include|net|kernel|lib)/'
	[ "${PIPESTATUS[0]}" = 0 ]
}

check_build_uml() {
	"$TOP/scripts/build-module.sh" "$OUT/build/uml" -C "$UML_SOURCE" O="$UML_KERNEL" ARCH=um W=1e \
		2>&1 | grep -E 'warning|error|ERROR' | grep -v 'pahole version'
	[ -s "$OUT/build/uml/kunit/mroce_kunit.ko" ]
}

kernel=/lib/modules/$(stock_kernel)/build
"$TOP/scripts/uml-kernel.sh" > /dev/null

echo "KTAP version 1"
result "checkpatch --strict, kernel code" check_checkpatch_kernel
result "checkpatch --strict, user code" check_checkpatch_user
result "file and function sizes" check_sizes
result "license lines" check_spdx
result "kernel versions in compat only" check_versions
result "netlink: specification and header agree" check_netlink
result "no private paths" check_private_text
result "shellcheck" check_shell
result "codespell" check_spelling
result "W=1, Debian's kernel" check_build_stock
result "sparse, Debian's kernel" check_sparse
result "W=1, Linux $UML_VERSION" check_build_uml
echo "1..$count"
