# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rows 23 to 25: planes that fail and come back, are slow, or lose. The device sends."""
import fcntl
import socket
import struct

import codec
from codec import DATA, HELLO, HELLO_ACK, PROBE
from fabric import MARK_PKTS, Fabric, Losses, percent
from peer import clock
from rig import Failed, Skipped, Traffic, ms, require, row

PLANES = 4
ENOUGH = 0.95			# of what there is
AT_ONCE_S = 0.01		# for the others to carry on
AGAIN_S = 1.0			# for one that is repaired to be used as before
SETTLE_S = 6.0			# within this all planes are in full use
PROOFS = 3			# PROBEs before anything else
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


class Trial:
    """A connection over all planes, and more to send than they carry"""

    def __init__(self, t, **wrong):
        self.t, self.peer, self.wrong = t, t.peer, wrong
        self.fabric = None
        dut, _ = t.open(paths=4 * PLANES, planes=PLANES, payload=8192, timeout=20,
                        network=self.network)
        self.traffic = Traffic(t, dut, t.region(), 16, 1 << 17)
        self.room = [link.speed for link in self.fabric.links]
        end, uses, queue = clock() + SETTLE_S * t.patience, [0.0], 0
        # the queues of the beginning are gone, too
        while sum(uses) < ENOUGH * sum(self.room) or queue > 2 * MARK_PKTS:
            require(clock() < end, "after %.0f s the planes carry %s of what they can, and %d "
                    "packets wait" % (SETTLE_S * t.patience, percent(uses), queue))
            since = clock()
            uses = self.measure(0.5)
            queue = self.fabric.queued(since)

    def network(self):
        self.fabric = Fabric(self.peer, PLANES, self.t.patience)
        for key, value in self.wrong.items():
            setattr(self.fabric.links[self.wrong["plane"]], key, value)

    def uses(self, since, until):
        """What each plane has carried: the part of what a good one can"""
        require(self.fabric.fair_s(since, until) > (until - since) / 10,
                "the peer stood still itself nearly all the time")
        return [self.fabric.used(plane, since, until) for plane in range(PLANES)]

    def fair_time(self, since, seconds):
        """Go on until the peer itself was there for so long since that time. Return: the time."""
        end = clock() + 8 * seconds
        until = self.traffic.go_on(since + seconds - clock())
        while self.fabric.fair_s(since, until) < seconds and until < end:
            until = self.traffic.go_on(seconds / 10)
        return until

    def measure(self, seconds):
        since = clock()
        return self.uses(since, self.fair_time(since, seconds))

    def others(self, plane, uses):
        return [use for i, use in enumerate(uses) if i != plane]

    def goes_on(self, victim, since, until):
        """The planes that work carry what they can, all the time"""
        uses = self.others(victim, self.uses(since, until))
        require(sum(uses) >= ENOUGH * (PLANES - 1),
                "without plane %d the others carry %s" % (victim, percent(uses)))
        return sum(uses) / (PLANES - 1)

    def patience_s(self, victim):
        """How long a path's silence may pass unnoticed, as in row 20, where the round trips are
        the longest its plane has had of late: its paths share a queue. By path, of this plane"""
        limits = {}
        for number, path in self.peer.rx.items():
            if path.plane == victim:
                more = max(0.0, self.peer.most_rtt[victim] - path.rtt.srtt)
                srtt = path.rtt.srtt + more
                limits[number] = max(0.002, 3 * srtt, srtt + path.rtt.pto() + 2 * more)
        return limits

    def back(self, victim, since):
        """Repaired at that time: proved, then used like the others, no later than AGAIN_S"""
        self.traffic.until(lambda: self.fabric.sent(DATA, victim, since), AGAIN_S)
        data = self.fabric.sent(DATA, victim, since)
        require(data, "nothing is sent on plane %d %s after its repair" % (victim, ms(AGAIN_S)))
        proofs = [probe for probe in self.fabric.sent(PROBE, victim, since)
                  if probe.when < data[0].when]
        require(len(proofs) >= PROOFS, "data on plane %d after %d PROBEs, %d have to prove it" %
                (victim, len(proofs), PROOFS))
        require(max(len(probe.raw) for probe in proofs) >= len(data[0].raw),
                "data on plane %d, and no PROBE of that size before" % victim)
        again = since + AGAIN_S * self.t.patience
        self.traffic.go_on(again - clock())
        uses = self.measure(1.0)
        require(min(uses) >= ENOUGH, "%s after the repair of plane %d the planes carry %s" %
                (ms(again - since), victim, percent(uses)))
        return data[0].when - since

    def finish(self):
        """No error: go_on() looks for that; and all of it arrives."""
        self.traffic.finish()


def sent_elsewhere(run, victim, event, limits):
    """What the plane has swallowed is sent on others. Return: after how long, and the limit, of
    the path that is nearest to its own."""
    lost = {}
    for packet in run.fabric.links[victim].missing:
        lost.setdefault(packet.body.psn, packet)
    require(lost, "plane %d was not in use" % victim)
    copies = {}
    for packet in run.peer.seen(DATA, event):
        if packet.plane != victim and packet.body.psn in lost:
            copies.setdefault(packet.body.psn, packet)
    missing = set(lost) - set(copies)
    require(not missing, "%d packets that plane %d has lost are not sent elsewhere" %
            (len(missing), victim))
    seen = []
    for path, group in run.t.by_path(lost.values()).items():
        first = min(group, key=lambda packet: packet.when)
        seen.append((copies[first.body.psn].when - first.when, limits[path]))
    took, limit = max(seen, key=lambda item: item[0] - run.t.within(item[1]))
    require(took <= run.t.within(limit), "what plane %d has lost is sent elsewhere after %s, not "
            "%s" % (victim, ms(took), ms(limit)), took - run.t.within(limit))
    return took, run.t.within(limit)


def black_hole(t, victim):
    """It swallows all, both ways, and says nothing."""
    run = Trial(t)
    limits = run.patience_s(victim)
    limit = max(limits.values())
    link = run.fabric.links[victim]
    event = clock()
    link.dark = True
    run.fabric.give_up(victim, event)
    silent = run.traffic.go_on(t.within(limit) + AT_ONCE_S)
    until = run.fair_time(event + max(limit, AT_ONCE_S), 1.0)
    moved, allowed = sent_elsewhere(run, victim, event, limits)
    kept = run.goes_on(victim, event + max(limit, AT_ONCE_S), until)
    late = [packet for packet in link.swallowed if packet.kind == DATA and packet.when > silent]
    require(not late, "%d packets of data on plane %d, which is silent for longer than %s" %
            (len(late), victim, ms(limit)))
    probes = [packet for packet in link.swallowed if packet.kind == PROBE and packet.when > silent]
    require(1 <= len(probes) <= 100 * (until - silent), "%d PROBEs in %s ask for the dead plane" %
            (len(probes), ms(until - silent)))
    repaired = clock()
    link.dark = False
    used = run.back(victim, repaired)
    run.finish()
    return moved, allowed, kept, used


def flap(t, victim):
    """Ten times a second, for two seconds: it does not spread to others, and ends with it."""
    run = Trial(t)
    link = run.fabric.links[victim]
    limit = max(run.patience_s(victim).values())
    event = clock()

    def toggle(left):
        link.dark = not link.dark
        if left:
            run.peer.at(event + (40 - left) * 0.05, lambda: toggle(left - 1))
    toggle(39)
    until = run.traffic.go_on(2.0)
    run.traffic.until(lambda: not link.dark, 1)
    kept = run.goes_on(victim, event + max(limit, AT_ONCE_S), until)
    repaired = clock()
    run.traffic.go_on(AGAIN_S * t.patience)
    uses = run.measure(1.0)
    require(min(uses) >= ENOUGH, "%s after the flaps of plane %d the planes carry %s" %
            (ms(clock() - repaired - 1.0), victim, percent(uses)))
    run.finish()
    return kept


@row("23", "plane loss", quick=False, planes=PLANES)
def plane_loss(t):
    moved, limit, kept, used = max(t.steady(black_hole, victim) for victim in (2, 0))
    flaps = t.steady(flap, 1)
    return "sent elsewhere after %s (limit %s), others at %s, used again after %s; flapping: " \
        "others at %s" % (ms(moved), ms(limit), percent([kept]), ms(used), percent([flaps]))


def set_interface(name, up):
    """As an administrator does; the device's end of a direct link loses its carrier."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH14s", name.encode(), 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(sock, SIOCGIFFLAGS, request))[1]
        flags = flags | IFF_UP if up else flags & ~IFF_UP
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14s", name.encode(), flags, b""))


def says_down(t, victim, since):
    """HELLOs of the device that say so of its own plane"""
    address = t.peer.gid(t.peer.dut[victim])
    return [packet for packet in t.hellos(since) if all(
        plane.flags & codec.PLANE_DOWN for plane in packet.body.planes if plane.addr == address)]


def link_down(t, victim):
    """The device's end loses the carrier: that is known at once."""
    run = Trial(t)
    name = t.peer.interface[victim]
    link = run.fabric.links[victim]
    event = clock()
    try:
        set_interface(name, False)
    except OSError as error:
        raise Skipped("the peer may not take its interface down: %s" % error) from error
    down = clock()
    link.dark = True
    run.fabric.give_up(victim, event)
    try:
        calm = down + AT_ONCE_S + t.slop
        kept = run.goes_on(victim, calm, run.fair_time(calm, 1.0))
        told = says_down(t, victim, event)
        require(told, "no HELLO says that plane %d is down" % victim)
        require(told[0].when - down <= t.within(AT_ONCE_S), "a HELLO says so after %s" %
                ms(told[0].when - down), told[0].when - down - t.within(AT_ONCE_S))
    finally:
        link.dark, repaired = False, clock()
        set_interface(name, True)
    used = run.back(victim, repaired)
    run.finish()
    # the call that takes it down lasts longer than the carrier
    return kept, max(0.0, told[0].when - down), used


@row("23link", "plane without carrier", quick=False, planes=PLANES)
def plane_without_carrier(t):
    if not t.peer.interface[1]:
        raise Skipped("it takes the names of the peer's interfaces")
    kept, told, used = t.steady(link_down, 1)
    return "others at %s, told after %s, used again after %s" % (
        percent([kept]), ms(told), ms(used))


def tell(run, flags):
    """Say HELLO with these flags of planes until it is answered. Return: when the answer came."""
    peer, since = run.peer, clock()
    peer.plane_flags = flags
    peer.planes_no += 1
    for _ in range(20):
        peer.transmit(peer.hello(), codec.PORT)
        if run.traffic.until(lambda: peer.seen(HELLO_ACK, since), 0.1):
            return peer.seen(HELLO_ACK, since)[0].when
    raise Failed("a HELLO of an open connection is not answered")


def peer_tells(t, victim):
    """The peer says that its plane is down, while it works: nothing comes there any more."""
    run = Trial(t)
    run.fabric.give_up(victim, clock())
    heard = tell(run, {victim: codec.PLANE_DOWN})
    calm = heard + AT_ONCE_S + t.slop
    until = run.fair_time(calm, 1.0)
    late = run.fabric.sent(DATA, victim, heard + t.slop)
    require(not late, "%d packets of data on plane %d, %s after the answer to the HELLO that says "
            "it is down" % (len(late), victim, ms(late[-1].when - heard if late else 0)))
    kept = run.goes_on(victim, calm, until)
    repaired = clock()
    tell(run, {})
    used = run.back(victim, repaired)
    run.finish()
    return kept, used


@row("23told", "plane said to be down", quick=False, planes=PLANES)
def plane_said_down(t):
    kept, used = t.steady(peer_tells, 3)
    return "no data from the answer on, others at %s, used again after %s" % (
        percent([kept]), ms(used))


def slow(t, speed, plane):
    """From the beginning. Nothing is lost, so nothing is sent twice."""
    run = Trial(t, plane=plane, speed=speed)
    run.peer.forget()
    uses = run.measure(2.0)
    part = sum(uses) / sum(run.room)
    require(part >= ENOUGH, "%s of the sum of the rates: planes carry %s, plane %d can %s" %
            (percent([part]), percent(uses), plane, percent([speed])))
    again = t.repeats()
    require(not again, "%d packets sent twice, none was lost" % len(again))
    run.finish()
    return part


@row("24", "slow plane", quick=False, planes=PLANES)
def slow_plane(t):
    parts = [t.steady(slow, speed, plane) for speed, plane in ((0.5, 3), (0.25, 0))]
    return "one plane at 1/2, 1/4: %s of the sum of the rates" % percent(parts)


def lossy(t, plane, every, burst):
    """A plane loses, both ways: it counts for what it gets across, the others are as they were."""
    loss = burst / every
    run = Trial(t, plane=plane, loses=Losses(t.rng, every, burst),
                loses_back=Losses(t.rng, every, burst))
    lost = len(run.fabric.links[plane].lost)
    uses = run.measure(4.0)
    lost = len(run.fabric.links[plane].lost) - lost
    require(lost >= 5, "only %d packets were lost" % lost)
    rest = run.others(plane, uses)
    text = "the planes carry %s, plane %d loses %s" % (percent(uses), plane, percent([loss]))
    require(sum(uses) >= PLANES - 1, "no more than without it: %s" % text)
    require(min(rest) >= ENOUGH, "the others do not carry what they can: %s" % text)
    require(uses[plane] >= 0.75, "of the plane too little is left: %s" % text)
    require(uses[plane] <= (1 - loss / 2) * sum(rest) / len(rest),
            "it is given what the others are given: %s" % text)
    run.finish()
    return uses[plane], sum(rest) / len(rest)


@row("25", "lossy plane", quick=False, planes=PLANES)
def lossy_plane(t):
    seen = [t.steady(lossy, plane, every, burst)
            for plane, every, burst in ((1, 20, 1), (2, 50, 3))]
    return "it carries %s, the others %s each" % (
        percent(item[0] for item in seen), percent(item[1] for item in seen))
