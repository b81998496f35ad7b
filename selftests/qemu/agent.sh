#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The second of two machines: a shell for the first one, on the network that only the two share. The first one ends it.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
trap - EXIT

setup_machine b
echo "agent: ready" >&2
exec busybox nc -ll -p "$AGENT_PORT" -e /bin/bash
