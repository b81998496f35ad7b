#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Goodput over time, from captures of what arrived: how long did it suffer from an event?

  mroce_bins.py [--event NS --until NS] [--left SHARE] [--dark FILE] [--bin-ms 10] [--settle-ms 1000] [--limit-ms 50] FILE...

Bytes of messages, each counted when it arrives first, whichever file (interface) it comes
through. NS: nanoseconds of the wall clock. What is in the dark FILE from the event to its end
does not count: the interface threw it away behind the capture. Prints one line of NAME=VALUE:

  before        MB/s (2^20) of the second before the event
  settled       the same between settle-ms after the event and its end (--until): what is
                left carries this
  wanted        settled; with --left, that share of 'before'
  back_ms       from the event on until the mean of the next five bins is 95 % of 'wanted', and so is that
                of everything from then until settle-ms; a billion: never
  kept          mean between limit-ms and settle-ms after the event / wanted
  worst         least bin between event and end, MB/s; worst_ms: when
  gap_ms        longest time without any byte
  again_ms      from the end on until the mean of the next five bins is 95 % of 'before', and so is that of
                everything later; a billion: not in this capture
  after         MB/s of what follows 'limit-ms' after the end
"""
import argparse
import sys

import capture

SMOOTH = 5
SHARE = 0.95
MIB = 1 << 20
NEVER_MS = 1e9


def arrivals(args):
    """(time, bytes) of every first arrival"""
    all_packets = []
    for name in args.file:
        for packet in capture.packets(name):
            data = capture.data_of(packet)
            if data and not (name == args.dark and args.event <= packet.time_ns < args.until):
                all_packets.append((packet.time_ns, data.identity, data.bytes))
    all_packets.sort()
    seen = set()
    for time_ns, identity, size in all_packets:
        if identity not in seen:
            seen.add(identity)
            yield time_ns, size


class Bins:
    """Bytes by time, relative to an event."""

    def __init__(self, pairs, event_ns, bin_ms):
        self.ns = bin_ms * 1000000
        self.event_ns = event_ns
        self.times = [time_ns for time_ns, _ in pairs]
        self.count = {}
        for time_ns, size in pairs:
            index = (time_ns - event_ns) // self.ns
            self.count[index] = self.count.get(index, 0) + size

    def rate(self, first, last):
        """MB/s of bins first to last - 1"""
        if last <= first:
            return 0
        total = sum(self.count.get(i, 0) for i in range(first, last))
        return total * 1e9 / MIB / ((last - first) * self.ns)

    def index(self, ms):
        return int(ms * 1000000 // self.ns)

    def back(self, first, end, wanted):
        """Bins after the first until the mean reaches what is wanted, of some and to the end; None: never"""
        for i in range(first, end - SMOOTH + 1):
            if min(self.rate(i, i + SMOOTH), self.rate(i, end)) >= SHARE * wanted:
                return i - first
        return None

    def worst(self, end):
        return min((self.rate(i, i + 1), i) for i in range(0, end))

    def longest_gap_ns(self, until_ns):
        """Between the event and the end"""
        inside = [self.event_ns, *(t for t in self.times if self.event_ns <= t <= until_ns), until_ns]
        return max(b - a for a, b in zip(inside, inside[1:]))


def measure(bins, args):
    """What is printed, as (name, value)"""
    ms = bins.ns / 1e6
    end = int((args.until - args.event) // bins.ns)
    settle, limit = bins.index(args.settle_ms), bins.index(args.limit_ms)
    last = max(bins.count)
    before, settled = bins.rate(bins.index(-1000), 0), bins.rate(settle, end)
    wanted = args.left * before if args.left else settled
    back, again = bins.back(0, settle, wanted), bins.back(end, last, before)
    worst, when = bins.worst(end)
    return (("before", before), ("settled", settled), ("wanted", wanted),
            ("back_ms", NEVER_MS if back is None else back * ms),
            ("kept", bins.rate(limit, settle) / wanted if wanted else 0),
            ("worst", worst), ("worst_ms", when * ms),
            ("gap_ms", bins.longest_gap_ns(args.until) / 1e6),
            ("again_ms", NEVER_MS if again is None else again * ms),
            ("after", bins.rate(end + limit, last)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="+")
    parser.add_argument("--event", type=int, help="when something happened")
    parser.add_argument("--until", type=int, help="when it was undone")
    parser.add_argument("--left", type=float, help="share of what was before that is to be kept")
    parser.add_argument("--dark", help="one of the files, see above")
    parser.add_argument("--bin-ms", type=int, default=10)
    parser.add_argument("--settle-ms", type=float, default=1000)
    parser.add_argument("--limit-ms", type=float, default=50)
    parser.add_argument("--show", action="store_true", help="the bins, too")
    args = parser.parse_args()
    pairs = list(arrivals(args))
    if not pairs:
        sys.exit("no mroce data in %s" % ", ".join(args.file))
    if args.event is None:
        span = (pairs[-1][0] - pairs[0][0]) / 1e9
        print("mean=%.2f" % (sum(size for _, size in pairs) / MIB / max(span, 1e-9)))
        return
    bins = Bins(pairs, args.event, args.bin_ms)
    if args.show:
        for i in range(min(bins.count), max(bins.count) + 1):
            print("bin %d ms: %.2f MB/s" % (i * args.bin_ms, bins.rate(i, i + 1)))
    print(" ".join("%s=%.3f" % item for item in measure(bins, args)))


if __name__ == "__main__":
    main()
