#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Mutate live packets: what a host on the way could do to a connection.

  mroce_fuzz.py [--seed N] [--rate PACKETS_PER_S] [--seconds S] [--family 4|6] IFACE

Listens on IFACE for mroce packets that leave there, and sends mutated copies after
them: bits flipped, fields set to values at an edge or taken from another packet,
header and payload of different packets, the id of another connection, other types
and opcodes, truncated, longer, old ones again. Checksums are right but for a few.
The last line is "sent N packets, ...".
"""
import argparse
import collections
import random
import struct
import sys
import time

import rawlink
from rawlink import DATA, HEADER

POOL = 2048
EDGES = (0, 1, 2, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff)
SMALL = (-4096, -257, -256, -255, -2, -1, 1, 2, 255, 256, 257, 4095, 4096, 65536)


def header_of(payload):
    """How many bytes are worth a mutation"""
    kind = payload[0] & 15
    return min(len(payload), HEADER.get(kind, 16) + (0 if kind == DATA else 60))


class Fuzzer:
    """A pool of what has passed, and the ways to spoil it."""

    def __init__(self, rng):
        self.rng = rng
        self.pool = collections.deque(maxlen=POOL)
        self.ways = [self.flip, self.edge, self.near, self.other_field, self.splice, self.other_id,
                     self.retype, self.reopcode, self.truncate, self.shorten, self.lengthen,
                     self.again]

    def other(self):
        return self.rng.choice(self.pool).payload

    def at(self, data, align):
        return self.rng.randrange(max(header_of(data) // align, 1)) * align

    def flip(self, data):
        for _ in range(self.rng.choice((1, 1, 1, 2, 4, 16))):
            data[self.at(data, 1)] ^= 1 << self.rng.randrange(8)

    def edge(self, data):
        size = self.rng.choice((1, 2, 4))
        at = self.at(data, size)
        data[at:at + size] = struct.pack("!I", self.rng.choice(EDGES))[4 - size:]

    def near(self, data):
        at = self.at(data, 4)
        if at + 4 <= len(data):
            value = struct.unpack_from("!I", data, at)[0] + self.rng.choice(SMALL)
            struct.pack_into("!I", data, at, value & 0xffffffff)

    def other_field(self, data):
        size = self.rng.choice((1, 2, 4, 8))
        at = self.at(data, size)
        data[at:at + size] = self.other()[at:at + size] or b"\0"

    def splice(self, data):
        cut = self.rng.choice((8, HEADER.get(data[0] & 15, 16), self.at(data, 4)))
        data[cut:] = self.other()[cut:]

    def other_id(self, data):
        data[4:8] = self.other()[4:8]

    def retype(self, data):
        data[0] = data[0] & 0xf0 | self.rng.randrange(1, 9)

    def reopcode(self, data):
        data[1] = self.rng.randrange(12)

    def truncate(self, data):
        del data[self.rng.randrange(len(data)):]

    def shorten(self, data):
        """DATA whose length field agrees, whatever the message wants"""
        if data[0] & 15 == DATA and len(data) > 64:
            left = self.rng.randrange(len(data) - 64)
            del data[64 + left:]
            struct.pack_into("!H", data, 56, left)

    def lengthen(self, data):
        data += self.rng.randbytes(self.rng.randrange(1, 128))
        if data[0] & 15 == DATA and len(data) >= 64 and self.rng.randrange(2):
            struct.pack_into("!H", data, 56, (len(data) - 64) & 0xffff)

    def again(self, data):
        data[:] = self.other()

    def mutate(self):
        """A packet that never was, and the names of what was done to it"""
        base = self.rng.choice(self.pool)
        data = bytearray(base.payload)
        done = []
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            way = self.rng.choice(self.ways)
            if len(data) < 8:
                break
            way(data)
            done.append(way.__name__)
        return rawlink.Packet(base.macs, base.src, base.dst, self.any_port(base), bytes(data)), done

    def any_port(self, base):
        return base.sport if self.rng.randrange(8) else self.rng.randrange(1024, 65536)


def run(link, fuzzer, args):
    end, count = time.monotonic() + args.seconds, collections.Counter()
    start = time.monotonic()
    address_bytes = 4 if args.family == 4 else 16
    while time.monotonic() < end:
        packet = link.receive(0.002)
        while packet:
            if packet.outgoing and packet.kind and len(packet.src) == address_bytes:
                fuzzer.pool.append(packet)
            ahead = link.sent >= (time.monotonic() - start) * args.rate
            packet = link.receive(0) if ahead else None
        for _ in range(64):
            if not fuzzer.pool or link.sent + link.refused > (time.monotonic() - start) * args.rate:
                break
            mutant, done = fuzzer.mutate()
            link.send(mutant, not fuzzer.rng.randrange(100))
            count.update(done)
            count[rawlink.NAMES.get(mutant.kind, "other")] += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interface")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=2000, help="packets a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--family", type=int, choices=(4, 6), default=4)
    args = parser.parse_args()
    link = rawlink.Link(args.interface)
    count = run(link, Fuzzer(random.Random(args.seed)), args)
    if not link.sent:
        sys.exit("no mroce packet seen on %s" % args.interface)
    print(", ".join("%s %d" % item for item in count.most_common()))
    print("sent %d packets, %d refused by the link" % (link.sent, link.refused))


if __name__ == "__main__":
    main()
