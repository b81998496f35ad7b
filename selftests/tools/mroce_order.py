#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Do packets leave in the order of their numbers? From a capture of what an interface sends.

  mroce_order.py FILE

path_seq of each path of each connection has to go up by one with each packet. Prints
"packets=N paths=N reordered=N missing=N", and the first few that are out of order. Missing are
numbers that never left.
"""
import sys

import capture
import rawlink

SHOWN = 5


def main():
    newest, by_kind, packets, reordered, missing = {}, {}, 0, 0, 0
    for packet in capture.packets(sys.argv[1]):
        number = capture.numbered(packet)
        if not number:
            continue
        dcid, path, seq = number
        packets += 1
        kind = rawlink.NAMES[capture.kind(packet)]
        before, overtaker = newest.get((dcid, path), (seq - 1, kind))
        step = capture.seq_diff(seq, before)
        if step > 0:
            newest[dcid, path] = seq, kind
            missing += step - 1
            continue
        reordered += 1
        missing -= 1
        by_kind[kind, overtaker] = by_kind.get((kind, overtaker), 0) + 1
        if reordered <= SHOWN:
            print("connection %#x path %d: %s %d after %s %d, at %d ns" %
                  (dcid, path, kind, seq, overtaker, before, packet.time_ns))
    for (kind, overtaker), count in by_kind.items():
        print("%d times %s after a later %s" % (count, kind, overtaker))
    print("packets=%d paths=%d reordered=%d missing=%d" % (packets, len(newest), reordered, missing))


main()
