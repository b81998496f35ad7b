# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rows 20 to 22: paths that die, on the way there or back, and source ports that change."""
import codec
from agent import pattern
from codec import ACK, DATA, PROBE, PROBE_ACK
from peer import DROP, clock
from rig import Traffic, ms, require, row

def nothing_left_behind(t, dropped, port, since):
    """After the PROBE on the dead port no data goes there; what went before is sent elsewhere."""
    probes = [item for item in dropped if item.kind == PROBE and item.when > since]
    require(probes, "no PROBE on the old port")
    late = [item for item in dropped if item.kind == DATA and item.when > probes[0].when + t.slop]
    require(not late, "%d packets of new data on a path under suspicion" % len(late))
    lost = {item.body.psn for item in dropped if item.kind == DATA}
    require(lost <= {item.body.psn for item in t.peer.seen(DATA) if item.sport != port},
            "some of what was lost was never sent elsewhere")


def dead_port(t, both):
    """Nothing that is sent from one source port arrives; with both, no ACK to it either."""
    dut, _ = t.open(paths=4, timeout=20)
    region, peer = t.region(), t.peer
    # long enough that pauses of a busy machine do not decide
    peer.delay = 0.02
    t.warm(dut, region, 30)
    # what the dead path holds up must not end the traffic on others: that would be another case
    traffic = Traffic(t, dut, region, 60, 2048, every_s=0.003)
    require(traffic.until(lambda: len(t.by_path(peer.seen(DATA)[-300:])) > 1, 5),
            "one path carries everything")
    victim = peer.seen(DATA)[-1].body.path
    port = peer.rx[victim].sport
    dropped = []

    def kill(packet):
        if packet.sport != port or packet.kind not in (DATA, PROBE):
            return None
        dropped.append(packet)
        return DROP

    peer.net_in = kill
    if both:
        back = peer.rx[victim].back
        peer.net_out = lambda kind, body, sport, plane: DROP if sport == back else None
    require(traffic.until(lambda: [item for item in dropped if item.kind == DATA], 5),
            "the path is not used")
    first = [item for item in dropped if item.kind == DATA][0]
    rtt = peer.rx[victim].rtt
    pto = rtt.pto()
    # what was sent before is acknowledged for another round trip; then the silence begins
    limit = max(3 * rtt.srtt, 0.002, rtt.srtt + pto)

    def elsewhere():
        return [item for item in peer.seen(DATA, first.when) if item.sport != port and
                item.body.psn == first.body.psn]

    require(traffic.until(elsewhere, 2), "what the dead path carried is not sent elsewhere")
    moved = elsewhere()[0].when - first.when

    def fresh(kinds=(DATA, PROBE)):
        return sorted([item for kind in kinds for item in peer.seen(kind, first.when)
                       if item.body.path == victim and item.sport != port],
                      key=lambda item: item.when)

    require(traffic.until(fresh, 2), "no new source port for path %d" % victim)
    port_after = fresh()[0].when - first.when
    require(traffic.until(lambda: len(fresh((PROBE,))) >= 3, 2),
            "%d PROBEs on the new port, 3 have to prove it" % len(fresh((PROBE,))))
    early = [item for item in fresh((DATA,)) if item.when <= fresh((PROBE,))[2].when]
    require(not early, "data on the new port before 3 PROBEs were answered")
    traffic.finish()
    nothing_left_behind(t, dropped, port, first.when + pto / 2)
    latest = rtt.srtt + 2 * pto
    require(port_after <= t.within(latest), "new source port after %s; srtt + 2 PTO are %s" %
            (ms(port_after), ms(latest)), port_after - t.within(latest))
    require(moved <= t.within(limit), "sent elsewhere after %s; srtt + PTO is %s, 3 srtt %s" %
            (ms(moved), ms(rtt.srtt + pto), ms(3 * rtt.srtt)), moved - t.within(limit))
    return moved, t.within(limit), port_after


@row("20", "path death")
def path_death(t):
    seen = [t.steady(dead_port, both) for both in (False, True, False)]
    moved, limit, port_after = max(seen)
    return "sent elsewhere after %s (limit %s), new port after %s, proved by 3 PROBEs, no error" % (
        ms(moved), ms(limit), ms(port_after))


def way_back_moves(t):
    """The device acknowledges on a port of its own choice. It leads nowhere: another one."""
    dut, qp = t.open(paths=2)
    del dut
    peer, region = t.peer, t.region()

    def answers(since, kinds=(ACK, PROBE_ACK)):
        return [item for item in peer.log if item.kind in kinds and item.when >= since and
                item.body.parts and item.body.parts[0].path == 0]

    t.deliver(qp, qp.packets(codec.WRITE, bytes(4096), addr=region.addr, rkey=region.rkey))
    ports = {item.sport for item in answers(0)}
    require(len(ports) == 1, "ACKs of one path come from ports %s" % sorted(ports))
    dead = ports.pop()
    require(dead >= codec.FIRST_SPORT, "ACKs come from port %d" % dead)
    peer.net_in = lambda packet: DROP if packet.sport == dead else None
    data = pattern(t.key(), 4096)
    for packet in qp.packets(codec.WRITE, data, addr=region.addr, rkey=region.rkey):
        peer.emit(packet, 0)
    peer.run(0.01)
    since = clock()
    peer.probe(0)
    peer.run(0.02)
    lost = answers(since)
    require({item.sport for item in lost} == {dead}, "the port was changed after one PROBE")
    again = clock()
    peer.probe(0)
    require(peer.run(0.2, lambda: [item for item in answers(again, (PROBE_ACK,))
                                   if item.sport != dead]),
            "a PROBE repeated after 20 ms: still answered from the dead port")
    took = [item for item in answers(again, (PROBE_ACK,))][0].when - again
    ask = codec.Ask(qp.dut_qpn, qp.qpn, qp.incarnation)
    peer.probe(0, [ask])
    t.accepted(qp)
    require(region.read(4096) == data, "bytes differ")
    # a new port of ours may mean that the old way back is dead as well
    before = answers(0)[-1].sport
    peer.path(0).sport = peer.free_port()
    moved = clock()
    t.deliver(qp, qp.packets(codec.WRITE, bytes(2048), addr=region.addr, rkey=region.rkey))
    after = answers(moved)[-1].sport
    require(after != before, "our source port has changed, its ACKs come from the old one")
    return took


def data_is_not_lost(t):
    """ACKs of one path never get there; what it carries is told by those of the others."""
    dut, _ = t.open(paths=4, timeout=20)
    region, peer = t.region(), t.peer
    peer.delay = 0.02
    t.warm(dut, region, 20)
    victim = max(t.by_path(peer.seen(DATA)).items(), key=lambda item: len(item[1]))[0]
    dead = peer.rx[victim].back
    lost = []

    def way_back(kind, body, sport, plane):
        del plane
        if sport != dead or kind not in (ACK, PROBE_ACK):
            return None
        # the packet is gone; its news may still go with others
        for part in body.parts:
            peer.rx[part.path].news = True
        lost.append(body)
        return DROP

    def acknowledge(packet):
        if packet.kind in (DATA, PROBE):
            probe = packet.body if packet.kind == PROBE else None
            peer.acknowledge([packet.body.path], probe=probe)

    peer.forget()
    peer.auto_ack, peer.on_packet, peer.net_out = False, acknowledge, way_back
    t.flow(dut, region, 40, 1 << 15, depth=4)
    carried = t.by_path(peer.seen(DATA))
    require(len(carried.get(victim, [])) >= 20, "path %d has carried %d packets only" %
            (victim, len(carried.get(victim, []))))
    again = t.repeats()
    require(not again, "%d packets were declared lost; only ACKs were: %s" % (
        len(again), again[:4]))
    require(len(lost) >= 10, "only %d ACKs were lost" % len(lost))
    return len(lost), len(carried[victim])


@row("21", "way back dead")
def way_back_dead(t):
    took = t.steady(way_back_moves)
    lost, carried = t.steady(data_is_not_lost)
    return "another port of the device %s after the second PROBE; %d packets of a path whose " \
        "%d ACKs were lost: none sent again" % (ms(took), carried, lost)


def peer_changes_port(t):
    """New packets overtake those of the old port. Nothing is missed, or placed twice."""
    dut, qp = t.open(paths=1)
    peer, region, receive = t.peer, t.region(), t.region(65536)
    key = t.key()
    data = pattern(key, 40 * 1024)
    dut.recv(receive, 65536, wr_id=9)
    packets = [peer.number(packet, 0) for packet in qp.packets(codec.SEND, data)]
    old = peer.path(0).sport
    for packet in packets[:10]:
        peer.transmit(packet, old, 2)
    new = peer.path(0).sport = peer.free_port()
    for packet in packets[20:]:
        peer.transmit(packet, new, 2)
    peer.run(0.01)
    for packet in packets[10:20] + packets[12:14]:
        peer.transmit(packet, old, 2)
    t.accepted(qp)
    done, = t.completions(dut, 1)
    require(done.length == len(data) and receive.differs(key, len(data)) == -1, "bytes differ")
    require({packet.path_seq for packet in packets} <= peer.path(0).arrived,
            "packets of the old port are not acknowledged")
    blank = t.key()
    receive.fill(blank)
    for packet in packets[10:20]:
        peer.transmit(packet, old, 2)
    peer.run(0.02)
    require(receive.differs(blank, 65536) == -1 and not dut.poll(1), "placed, or complete, twice")
    require(peer.path(0).parts[-1][1].highest == packets[-1].path_seq,
            "the numbers have not gone on")
    del region


def gap_in_new_epoch(t, traffic, victim):
    """After the change a gap is a gap again."""
    peer, lost = t.peer, []

    def lose_one(packet):
        if packet.kind == DATA and packet.body.path == victim and not lost:
            lost.append(packet)
            return DROP
        return None

    peer.net_in = lose_one
    require(traffic.until(lambda: lost, 5), "the path carries nothing after its change")
    copies = lambda: [item for item in peer.seen(DATA, lost[0].when + 1e-6)  # noqa
                      if item.body.psn == lost[0].body.psn]
    require(traffic.until(copies, 2), "a packet lost after the change is not sent again")
    peer.net_in = lambda packet: None


class BadRoute:
    """A path of the device that loses 1 in 8 packets, until it changes its port"""

    def __init__(self, peer, victim, rtt, late_s):
        self.peer, self.victim, self.rtt, self.late_s = peer, victim, rtt, late_s
        self.again()

    def again(self):
        self.peer.each_ack = False
        self.count, self.port, self.changed = 0, None, None
        self.lost, self.overtaken = set(), set()

    def __call__(self, packet):
        if packet.kind != DATA or packet.body.path != self.victim:
            return None
        self.port = self.port or packet.sport
        if packet.sport != self.port:
            self.changed = self.changed or packet.when
            # each arrival is told by itself, so that the device sees the gap before it is filled
            self.peer.each_ack = True
            return None
        self.count += 1
        if self.count % 8 == 0 and not self.changed:
            self.lost.add(packet.body.psn)
            return DROP
        self.peer.at(packet.when + self.rtt, lambda: self.release(packet))
        return DROP

    def release(self, packet):
        # those sent shortly before the change arrive after what was sent then
        if self.changed and packet.when > self.changed - 0.8 * self.rtt:
            self.overtaken.add(packet.body.psn)
            self.peer.at(self.changed + self.rtt + self.late_s, lambda: self.peer.deliver(packet))
        else:
            self.peer.deliver(packet)


def device_changes_port(t):
    """A path that loses far more than the others changes its port; what is under way counts."""
    dut, _ = t.open(paths=4, timeout=20)
    region, peer = t.region(), t.peer
    peer.delay = 0.030
    late_s = 0.004
    t.warm(dut, region, 20)
    peer.forget()
    route = peer.net_in = BadRoute(peer, 1, peer.delay, late_s)
    traffic = Traffic(t, dut, region, depth=8)
    for _ in range(8):
        route.again()
        require(traffic.until(lambda: route.changed, 20),
                "path %d loses 1 in 8 of its %d packets, the others none: it keeps its port" %
                (route.victim, route.count))
        end = clock() + 4 * peer.delay
        traffic.until(lambda: clock() > end, 1)
        if route.overtaken - route.lost:
            break
    overtaken = route.overtaken - route.lost
    require(overtaken, "nothing was under way at any change")
    again = [psn for _, psn in t.repeats(since=route.changed) if psn in overtaken]
    require(not again, "%d of %d packets of the old epoch, %s after the new one, were declared lost"
            % (len(again), len(overtaken), ms(late_s)))
    gap_in_new_epoch(t, traffic, route.victim)
    traffic.finish()
    return len(overtaken)


@row("22", "change of port")
def change_of_port(t):
    t.steady(peer_changes_port)
    count = t.steady(device_changes_port)
    return "packets overtaken by a new port: the peer's 10 taken once, the device's %d not lost" % \
        count
