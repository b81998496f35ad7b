#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Do packets leave in the order of their numbers? From a capture of what an interface sends.

  mroce_order.py FILE

path_seq of each path of each connection has to go up by one with each packet. Prints
"packets=N paths=N reordered=N stalled=N missing=N", and the first few that are out of order.
Missing are numbers that never left. Stalled are those that a PROBE has overtaken after a
millisecond or more without a packet of the path: it is due then, and what was numbered before had
left, had the virtual processor that was to send it not stood still for as long.
"""
import sys

import capture
import rawlink

SHOWN = 5
PROBE_NS = 1000000		# of silence, at least (MROCE_PTO_MIN_NS)


def main():
    newest, by_kind, packets, reordered, stalled, missing = {}, {}, 0, 0, 0, 0
    last_ns = {}
    for packet in capture.packets(sys.argv[1]):
        number = capture.numbered(packet)
        if not number:
            continue
        dcid, path, seq = number
        packets += 1
        kind = rawlink.NAMES[capture.kind(packet)]
        before, overtaker, silent_ns = newest.get((dcid, path), (seq - 1, kind, 0))
        step = capture.seq_diff(seq, before)
        if step > 0:
            newest[dcid, path] = seq, kind, packet.time_ns - last_ns.get((dcid, path), 0)
            last_ns[dcid, path] = packet.time_ns
            missing += step - 1
            continue
        missing -= 1
        if overtaker == "PROBE" and silent_ns >= PROBE_NS:
            stalled += 1
            continue
        reordered += 1
        by_kind[kind, overtaker] = by_kind.get((kind, overtaker), 0) + 1
        if reordered <= SHOWN:
            print("connection %#x path %d: %s %d after %s %d, at %d ns" %
                  (dcid, path, kind, seq, overtaker, before, packet.time_ns))
    for (kind, overtaker), count in by_kind.items():
        print("%d times %s after a later %s" % (count, kind, overtaker))
    print("packets=%d paths=%d reordered=%d stalled=%d missing=%d" %
          (packets, len(newest), reordered, stalled, missing))


main()
