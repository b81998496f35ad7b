#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Run a command as root of a throw-away copy of this machine: what it changes is in DIRECTORY, not in the machine.
#
#   throwaway.sh DIRECTORY COMMAND...
#
# Run it again with the same directory to go on from there. No process outlives the command; there is no network.
set -euo pipefail
if [ "${1:-}" != inside ]; then
	directory=$(realpath -m "$1")
	shift
	mkdir -p "$directory"
	exec unshare --mount --pid --fork --net --kill-child "$0" inside "$directory" "$@"
fi
directory=$2
shift 2
# on a tmpfs, so that nothing is left there: the directories that overlayfs needs
scratch=$(mktemp -d)
mount -t tmpfs throwaway "$scratch"
trap 'umount -R -l "$scratch"; rmdir "$scratch"; rm -rf "$directory.work"' EXIT
mkdir -p "$scratch/root" "$directory.work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$directory,workdir=$directory.work" "$scratch/root"
mount -t proc proc "$scratch/root/proc"
mount --rbind /dev "$scratch/root/dev"
mount --make-rslave "$scratch/root/dev"
# /run stays empty: no service of the machine is asked for anything
env -i PATH="$PATH" HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$scratch/root" "$@"
