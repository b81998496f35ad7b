#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""UDP source ports in a capture: mroce_ports.py FILE ADDRESS [FROM_NS UNTIL_NS]

Of the mroce packets that address has sent, in that time of the wall clock. A line
"packets port" for each.
"""
import collections
import sys

import capture
import rawlink


def main():
    name, source = sys.argv[1], rawlink.address(sys.argv[2])
    first, last = map(int, sys.argv[3:5]) if len(sys.argv) > 3 else (0, 1 << 64)
    ports = collections.Counter(packet.sport for packet in capture.packets(name)
                                if packet.src == source and first <= packet.time_ns < last)
    for port, count in ports.most_common():
        print(count, port)


main()
