#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The provider as a library for programs: names, what it exports, its header.
#
#   library.sh DIR        DIR holds libmroce.so.1 and what links to it
set -u

dir=$1
header=$dir/include/infiniband/mrocedv.h
num=0
failed=0

# expect NAME WANTED GOT
expect() {
	num=$((num + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $num $1"
	else
		echo "# wanted '$2', got '$3'"
		echo "not ok $num $1"
		failed=1
	fi
}

# compile LANGUAGE OPTIONS...: the header alone
compile() {
	language=$1
	shift
	echo '#include <infiniband/mrocedv.h>' | ${CC:-cc} -x "$language" "$@" -Wall -Wextra -Werror \
		-I"$dir/include" -fsyntax-only - 2>&1
}

echo "KTAP version 1"
echo "1..7"
# functions of the header that are not inline
expect exports_what_the_header_declares \
	"$(sed -n 's/^[a-z].*[ *]\(mrocedv_[a-z_]*\)(.*/\1/p' "$header" | grep -v '^mrocedv_query_paths$' | sort)" \
	"$(nm -D --defined-only "$dir/libmroce.so.1" | sed -n 's/.* T \(.*\)@@MROCE_1\.0$/\1/p' | sort)"
expect exports_nothing_else "" "$(nm -D --defined-only "$dir/libmroce.so.1" | grep -v '@@MROCE_1\.0$' | grep -v ' A MROCE_1\.0$')"
expect has_its_name libmroce.so.1 "$(objdump -p "$dir/libmroce.so.1" | sed -n 's/^ *SONAME *//p')"
expect provider_is_the_same_file libmroce.so.1 "$(readlink "$dir/libmroce-rdmav34.so")"
expect programs_need_that_name libmroce.so.1 \
	"$(objdump -p "$dir/examples/mroce_paths" | sed -n 's/^ *NEEDED *\(libmroce.*\)/\1/p')"
expect header_is_c "" "$(compile c -std=c99 -pedantic)"
expect header_is_cxx "" "$(compile c++ -std=c++11)"
exit "$failed"
