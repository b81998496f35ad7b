#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Send malformed packets to an mroce port; include/mroce/wire.h has the format.

  mroce_inject.py [--sniff IFACE] [--seed N] [--set NAME] ADDRESS PORT

Sets: sweep (every type and opcode at every short length), length (length fields
that contradict the packet), random (noise), version, live (mutilated copies of
packets seen on the link), all; stale and replay by name only. With --sniff real connection ids and packets are
taken from the interface, so that the garbage gets past the first look-up.
The last line is "sent N packets, M of them with a live connection id".
"""
import argparse
import random
import select
import socket
import struct
import sys
import time

VERSION = 1
# type: (name, bytes of the fixed header)
TYPES = {1: ("HELLO", 88), 2: ("HELLO_ACK", 88), 3: ("DATA", 64), 4: ("ACK", 24),
         5: ("PROBE", 24), 6: ("PROBE_ACK", 24), 7: ("DGRAM", 64), 8: ("UNKNOWN", 16)}
TYPE_DATA = 3
LONGEST_HEADER = 64
SLACK_BYTES = 8
SAMPLES = 64
# DATA: offsets of the fields whose value decides how much is read or written
DATA_LENGTHS = {"unit": (20, "B"), "message length": (32, "I"), "payload length": (56, "H")}


def sniff(interface, address, port, wanted, limit_s):
    """Payloads of datagrams to address:port seen on the interface."""
    family = socket.inet_pton(socket.AF_INET, address) if ":" not in address else \
        socket.inet_pton(socket.AF_INET6, address)
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    tap.bind((interface, 0))
    seen, end = [], time.monotonic() + limit_s
    while len(seen) < wanted and time.monotonic() < end:
        if not select.select([tap], [], [], 0.2)[0]:
            continue
        packet = tap.recv(65535)
        if packet[0] >> 4 == 4:
            ip_bytes, protocol, destination = (packet[0] & 15) * 4, packet[9], packet[16:20]
        else:
            ip_bytes, protocol, destination = 40, packet[6], packet[24:40]
        udp = packet[ip_bytes:]
        if protocol == 17 and destination == family and len(udp) >= 16 and \
                struct.unpack("!H", udp[2:4])[0] == port:
            # a super-packet is longer than its first datagram's header needs
            seen.append(udp[8:8 + 9000])
    tap.close()
    return seen


class Injector:
    """A few sockets (source ports) and a count."""

    def __init__(self, address, port, rng, samples, source):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.sockets = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(4)]
        for sock in self.sockets:
            if source:
                sock.bind((source, 0))
            sock.connect((address, port))
        self.rng = rng
        self.samples = samples
        self.live_ids = sorted({s[4:8] for s in samples if s[4:8] != bytes(4)})
        self.sent = self.live = 0

    def send(self, payload):
        try:
            self.sockets[self.sent % len(self.sockets)].send(payload)
        except OSError:
            # an ICMP error for an earlier packet, or one too large for the link
            pass
        self.sent += 1
        self.live += payload[4:8] in self.live_ids

    def connection_id(self):
        """Nobody's, everybody's, a guess or a real one."""
        choice = self.rng.randrange(4)
        if choice == 0:
            return bytes(4)
        if choice == 1:
            return b"\xff\xff\xff\xff"
        if choice == 2 or not self.live_ids:
            return self.rng.randbytes(4)
        return self.rng.choice(self.live_ids)

    def fill(self, count):
        choice = self.rng.randrange(3)
        if choice == 2:
            return self.rng.randbytes(count)
        return (b"\xff" if choice else b"\0") * count


def sweep(inj):
    for kind in range(16):
        header = TYPES.get(kind, ("", 16))[1]
        for opcode in range(256):
            for length in range(header + SLACK_BYTES + 1):
                packet = struct.pack("!BBH", VERSION << 4 | kind, opcode,
                                     inj.rng.randrange(65536)) + inj.connection_id()
                inj.send((packet + inj.fill(header + SLACK_BYTES))[:length])


def stale(inj):
    """DATA of live connections, in the windows, but of another life of the queue pair."""
    for sample in inj.samples:
        if sample[0] & 15 == TYPE_DATA:
            packet = bytearray(sample)
            packet[10] ^= 0xa5
            inj.send(bytes(packet))


def replay(inj):
    """What was seen, again; with --source from an address that is not the connection's."""
    for sample in inj.samples:
        for _ in range(4):
            inj.send(sample)


def version(inj):
    for number in range(16):
        for kind in range(16):
            inj.send(struct.pack("!BBH", number << 4 | kind, 1, 0) + inj.connection_id() +
                     inj.fill(LONGEST_HEADER))


def random_noise(inj):
    for _ in range(5000):
        inj.send(inj.rng.randbytes(inj.rng.randrange(0, 1400)))
    for length in list(range(0, 200)) + [1000, 1400, 8000]:
        inj.send(b"\xff" * length)
        inj.send(bytes(length))


def length(inj):
    """DATA whose lengths say more, less or nothing of what is there."""
    base = next((s for s in inj.samples if s[0] & 15 == TYPE_DATA and len(s) > LONGEST_HEADER),
                struct.pack("!BBHI", VERSION << 4 | TYPE_DATA, 3, 0, 0) + bytes(56 + 128))
    for offset, code in DATA_LENGTHS.values():
        size = struct.calcsize(code)
        top = (1 << 8 * size) - 1
        for value in (0, 1, 2, 63, 64, 127, 128, 255, 256, 4095, 4097, 65535, top // 2,
                      top // 2 + 1, top - 1, top):
            for cut in (LONGEST_HEADER, LONGEST_HEADER + 1, LONGEST_HEADER + 64, len(base)):
                packet = bytearray(base[:cut])
                packet[offset:offset + size] = struct.pack("!" + code, value & top)
                # a stale incarnation, so that a packet that is in order does no harm
                packet[10] ^= 0xa5
                inj.send(bytes(packet))


def live(inj):
    """Real packets, truncated, or with header bits flipped and no way to be in order."""
    for sample in inj.samples:
        header = TYPES.get(sample[0] & 15, ("", 16))[1]
        for cut in range(min(header, len(sample))):
            inj.send(sample[:cut])
        if sample[0] & 15 != TYPE_DATA:
            continue
        for _ in range(64):
            packet = bytearray(sample)
            packet[10] ^= 0xa5
            packet[inj.rng.choice([1, 2, 3, 16, 17, 20, 21, 32, 36, 40, 48, 56])] ^= \
                1 << inj.rng.randrange(8)
            inj.send(bytes(packet))


SETS = {"sweep": sweep, "version": version, "random": random_noise, "length": length, "live": live}
# Not part of "all": for what one of them has to lead to
SINGLE = {"stale": stale, "replay": replay}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--sniff", metavar="IFACE", help="take real packets from this interface")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--set", choices=list(SETS) + list(SINGLE) + ["all"], default="all")
    parser.add_argument("--source", help="send from this address of ours")
    args = parser.parse_args()
    samples = []
    if args.sniff:
        samples = sniff(args.sniff, args.address, args.port, SAMPLES, 10)
        if not samples:
            sys.exit("no packet to %s port %d seen on %s" % (args.address, args.port, args.sniff))
    inj = Injector(args.address, args.port, random.Random(args.seed), samples, args.source)
    if args.set in SINGLE:
        SINGLE[args.set](inj)
    for name, run in SETS.items():
        if args.set in (name, "all"):
            run(inj)
    print("sent %d packets, %d of them with a live connection id" % (inj.sent, inj.live))


if __name__ == "__main__":
    main()
