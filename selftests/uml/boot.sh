#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Boot one User-Mode Linux guest and wait for its end.
#
#   boot.sh ENVIRONMENT-FILE RESULT-FILE LIMIT_S      the console goes to standard output
#   MEM= CPUS= KERNEL_ARGS=
set -euo pipefail
. "$(dirname "$0")/../../scripts/env.sh"
environment=$1 result=$2 limit_s=$3

ulimit -c 0
# shellcheck disable=SC2086
exec timeout -k 5 "$limit_s" "$UML_KERNEL/linux" mem="${MEM:-2G}" ncpus="${CPUS:-2}" seccomp=on quiet panic=-1 \
	rootfstype=hostfs rootflags=/ ro con=null con0=null,fd:1 con1=null,fd:3 \
	init="$TOP/selftests/uml/init.sh" mroce_env="$environment" ${KERNEL_ARGS:-} 3> "$result" < /dev/null 2>&1
