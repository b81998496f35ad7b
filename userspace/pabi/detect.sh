#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Print the provider ABI number of the installed libibverbs; refuse any that
# verbs_pabi.h does not describe.  Usage: detect.sh [path of libibverbs.so]
set -eu

known=34
lib=${1:-}
if [ -z "$lib" ]; then
	lib=$(${CC:-cc} -print-file-name=libibverbs.so)
fi
if [ ! -r "$lib" ]; then
	echo "mroce: libibverbs.so was not found: install libibverbs-dev." >&2
	exit 1
fi
found=$(nm -D "$lib" | sed -n 's/.* verbs_register_driver_\([0-9]*\)@@.*/\1/p')
if [ "$found" != "$known" ]; then
	echo "mroce: libibverbs has provider ABI ${found:-unknown}, but this" \
	     "provider is written for ABI $known only." >&2
	exit 1
fi
echo "$found"
