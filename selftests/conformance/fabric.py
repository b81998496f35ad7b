# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The planes' networks, as the peer makes them: a queue, a rate, marks, losses, darkness.

A Link decides about a packet from the kernel's stamp of its arrival and from what came
before it, not from when Python got round to it. So its rate is exact, and how long it stood
idle is known exactly, however late the peer is. What is late then are its answers.
"""
import itertools

from codec import DATA, PROBE
from peer import CE, DROP

# As slow as Python on a busy machine is sure to follow; the delay makes room for the first windows
PACKET_S = 0.012		# that a full packet takes
DELAY_S = 0.020
MARK_PKTS = 16			# a queue longer than this is marked: several bursts
LIMIT_PKTS = 100		# a longer one is cut
PAUSE_S = 0.1			# of the peer; shorter ones empty no queue
AFTER_PAUSE_S = 0.1		# and twice the pause: the device has to hear of us first


def percent(parts):
    return " ".join("%.0f" % (100 * part) for part in parts) + " %"


class Losses:
    """Of every so many packets so many in a row, somewhere: called for each, True: it is lost"""

    def __init__(self, rng, every, burst):
        self.rng, self.every, self.burst = rng, every, burst
        self.count = itertools.count()
        self.first = 0

    def __call__(self):
        at = next(self.count) % self.every
        if not at:
            self.first = self.rng.randrange(self.every - self.burst + 1)
        return self.first <= at < self.first + self.burst


class Passage:
    """A packet on the link: from when to when; whether it was its data's first, and got there"""

    def __init__(self, packet, start, end, new):
        self.packet, self.start, self.end, self.new = packet, start, end, new


class Link:
    """The way to the peer on one plane; the way back is as long as nothing, and loses likewise"""

    def __init__(self):
        self.speed = 1.0	# of one full packet in PACKET_S
        self.loses = lambda: False
        self.loses_back = lambda: False
        self.dark = False
        self.free = 0.0
        self.passed, self.lost, self.cut = [], [], []
        self.swallowed, self.missing = [], []	# in the dark: all; data that nobody has


class Fabric:
    """Links, one for each plane: what a row gives net_in and net_out"""

    def __init__(self, peer, n_planes, patience=1.0):
        self.peer = peer
        self.packet_s = PACKET_S * patience
        self.full_bytes = 64 + peer.payload
        self.links = [Link() for _ in range(n_planes)]
        self.had = {None}	# names of data that has got through
        peer.net_in, peer.net_out = self.arrive, self.leave

    def arrive(self, packet):
        """Return: DROP, or how long it takes"""
        if packet.kind not in (DATA, PROBE):
            return DROP if self.links[packet.plane].dark else DELAY_S
        link = self.links[packet.plane]
        if link.dark:
            if self.name(packet) not in self.had:
                link.missing.append(packet)
            link.swallowed.append(packet)
            return DROP
        start = max(packet.when, link.free)
        size_s = self.packet_s * len(packet.raw) / self.full_bytes / link.speed
        queue = (start - packet.when) * link.speed / self.packet_s
        if queue > LIMIT_PKTS:
            link.cut.append(packet)
            return DROP
        if queue > MARK_PKTS:
            packet.tos |= CE
        link.free = start + size_s
        lost = link.loses()
        link.passed.append(Passage(packet, start, link.free, not lost and self.is_new(packet)))
        if lost:
            # it has taken its time nevertheless
            link.lost.append(packet)
            return DROP
        return link.free - packet.when + DELAY_S

    def name(self, packet):
        """Of the data; PROBEs have none, and are nothing new."""
        body = packet.body
        return (body.dst_qpn, body.stream, body.psn) if packet.kind == DATA else None

    def is_new(self, packet):
        name = self.name(packet)
        if name in self.had:
            return False
        self.had.add(name)
        return True

    def give_up(self, plane, at):
        """The plane's answers end then: what is on its way may come once more, on others."""
        for item in reversed(self.links[plane].passed):
            if item.end + DELAY_S < at:
                break
            self.had.discard(self.name(item.packet))
        self.had.add(None)

    def leave(self, kind, body, sport, plane):
        del kind, body, sport
        link = self.links[plane]
        return DROP if link.dark or link.loses_back() else None

    # ---- what a plane has carried ----
    def fair(self, since, until):
        """The parts of that time in which the peer did not stand still itself: (from, to)"""
        out, at = [], since
        for start, end in self.peer.pauses:
            after = end + AFTER_PAUSE_S + 2 * (end - start)
            if end - start < PAUSE_S or after <= at:
                continue
            if start >= until:
                break
            if start > at:
                out.append((at, start))
            at = after
        if at < until:
            out.append((at, until))
        return out

    def fair_s(self, since, until):
        return sum(end - start for start, end in self.fair(since, until))

    def used(self, plane, since, until):
        """Its goodput in that time: the part of what a plane of full speed carries"""
        link, total = self.links[plane], 0.0
        parts = self.fair(since, until)
        for item in reversed(link.passed):
            if item.end <= since:
                break
            if item.new:
                total += sum(max(0.0, min(item.end, end) - max(item.start, start))
                             for start, end in parts if start < item.end and item.start < end)
        return total * link.speed / max(1e-9, self.fair_s(since, until))

    def queued(self, since):
        """The longest queue a packet has met since then, on any plane, in packets"""
        waits = [0.0]
        for link in self.links:
            for item in reversed(link.passed):
                if item.packet.when < since:
                    break
                waits.append((item.start - item.packet.when) * link.speed / self.packet_s)
        return max(waits)

    def sent(self, kind, plane, since, until=float("inf")):
        """Packets of the device, in the order they came to this plane"""
        link = self.links[plane]
        found = link.swallowed + link.cut
        for item in reversed(link.passed):
            if item.packet.when < since:
                break
            found.append(item.packet)
        return sorted([packet for packet in found if packet.kind == kind and
                       since <= packet.when < until], key=lambda packet: packet.when)
