# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rows 12 and 13: the ends of the windows, and what comes twice."""
import codec
from agent import pattern
from codec import ACK, DATA
from peer import clock
from rig import require, row
from rows_loss import acknowledge_all_but, hold_everything

VEC_BITS = codec.VEC_BITS


def full_flight(t, dut, region):
    """As much as the device sends on one path without an ACK"""
    peer = t.peer
    peer.forget()
    hold_everything(t)
    for i in range(3):
        t.write(dut, region, 1 << 16, id=500 + i)
    t.settle(0.008)
    # with nothing new in it: for a device that goes on sending only when an ACK comes
    old = [ack for _, ack in peer.sent_acks if ack.kind == ACK]
    peer.transmit(old[-1], peer.rx[0].back or codec.PORT)
    return t.settle(0.008)


def span_is_bounded(t):
    """The device has 256 numbers at most beyond what we report; the farthest of them is lost."""
    dut, _ = t.open(paths=1, payload=128, timeout=20, dut_psn=0xffff80)
    region = t.region()
    t.peer.delay = 0.02
    t.warm(dut, region, 6)
    t.peer.delay = 0.0
    flight = full_flight(t, dut, region)
    require(len(flight) >= 128, "only %d packets without an ACK: this says nothing" % len(flight))
    oldest = flight[0]
    sent = acknowledge_all_but(t, flight, [oldest])
    part = t.peer.sent_acks[-1][1].parts[0]
    require(part.says(oldest.body.path_seq) is False, "the vector does not reach the oldest")
    after = t.gather(1, since=sent)
    require(after[0].body.psn == oldest.body.psn and after[0].body.path == oldest.body.path,
            "bit %d of the vector is missing; psn %#x was sent, not %#x" % (
                len(flight) - 1, after[0].body.psn, oldest.body.psn))
    # now the newest: only a later number or a PROBE can show it
    t.settle(0.004)
    packets = t.peer.seen(DATA, sent)
    newest = packets[-1]
    sent = acknowledge_all_but(t, packets, [newest])
    t.peer.auto_ack, t.peer.net_in = True, lambda packet: None
    t.completions(dut, 3)
    again = t.repeats(since=sent)
    require(len(again) == 1 and again[0][1] == newest.body.psn,
            "sent again: %s, the newest was %#x" % (again, newest.body.psn))
    require(t.peer.max_span <= VEC_BITS, "%d numbers beyond what was reported" % t.peer.max_span)
    psns = [packet.body.psn for packet in t.peer.seen(DATA)]
    require(max(psns) > 1 << 24, "psns begin anew after 24 bits")
    return t.peer.max_span, len(flight)


def number_of(packet, peer, seq):
    """A packet of ours under a number of the row's choice"""
    sent = packet.copy(dcid=peer.dcid, path=0, path_seq=seq & 0xffffffff)
    peer.transmit(sent, peer.path(0).sport, 2)
    return sent


def told(t, seq):
    """What the newest ACK about path 0 says of a number"""
    return t.peer.path(0).parts[-1][1].says(seq & 0xffffffff)


def wait_highest(t, seq):
    good = t.peer.run(0.5, lambda: t.peer.path(0).parts and
                      t.peer.path(0).parts[-1][1].highest == seq & 0xffffffff)
    require(good, "no ACK with %#x as the highest number" % (seq & 0xffffffff))


def edges_of_vector(t):
    """A packet that is 255 numbers late is taken, one that is 256 late is not. Numbers wrap."""
    dut, qp = t.open(paths=1, payload=128, psn=0xffffc0)
    del dut
    peer = t.peer
    region = t.region()
    first = 0xffffff80
    packets = qp.packets(codec.WRITE, bytes(128 * 400), addr=region.addr, rkey=region.rkey)
    for i in range(1, VEC_BITS):
        number_of(packets[i], peer, first + i)
        if i % 32 == 0:
            peer.run(0.001)
    probe = first + VEC_BITS - 1
    wait_highest(t, probe)
    part = peer.path(0).parts[-1][1]
    require(part.rcvd == codec.VEC_MASK >> 1, "vector %x" % part.rcvd)
    number_of(packets[0], peer, first)
    good = peer.run(0.5, lambda: told(t, first))
    require(good, "a packet 255 numbers late is not taken")
    t.accepted(qp, packets[VEC_BITS].psn)
    # two more, and then one that has left the vector: whatever it is, it is not taken
    low = first + VEC_BITS
    for i in range(VEC_BITS + 1):
        if i:
            number_of(packets[VEC_BITS + i] if VEC_BITS + i < 400 else packets[1], peer, low + i)
        if i % 32 == 0:
            peer.run(0.001)
    wait_highest(t, low + VEC_BITS)
    number_of(packets[VEC_BITS], peer, low)
    peer.run(0.02)
    require(qp.accepted()[0] == packets[VEC_BITS].psn, "a packet 256 numbers late was taken")
    high = low + VEC_BITS
    number_of(packets[VEC_BITS], peer, high + codec.MAX_JUMP + 1)
    peer.run(0.02)
    require(qp.accepted()[0] == packets[VEC_BITS].psn, "a number %d ahead was taken" %
            (codec.MAX_JUMP + 1))
    require(peer.path(0).parts[-1][1].highest == high & 0xffffffff,
            "a number too far ahead is acknowledged")
    number_of(packets[VEC_BITS], peer, high + codec.MAX_JUMP)
    wait_highest(t, high + codec.MAX_JUMP)
    t.accepted(qp, packets[-1].psn + 1 & 0xffffffff)


def edges_of_stream(t):
    """psns from 4096 beyond the first missing one are not taken, nor acknowledged."""
    dut, qp = t.open(paths=1, payload=128)
    del dut
    peer, region = t.peer, t.region(1 << 20)
    packets = qp.packets(codec.WRITE, bytes(128 * (codec.WINDOW + 2)), addr=region.addr,
                         rkey=region.rkey)
    inside = peer.emit(packets[codec.WINDOW - 1].copy(flags=codec.ACK_REQ))
    peer.run(0.5, lambda: inside.path_seq in peer.path(0).arrived)
    require(inside.path_seq in peer.path(0).arrived, "psn 4095 ahead was not taken")
    outside = peer.emit(packets[codec.WINDOW].copy(flags=codec.ACK_REQ))
    peer.run(0.02)
    require(outside.path_seq not in peer.path(0).arrived, "psn 4096 ahead is acknowledged")


@row("12", "vector edge")
def vector_edge(t):
    span, flight = t.steady(span_is_bounded)
    t.steady(edges_of_vector)
    t.steady(edges_of_stream)
    return "%d packets out without an ACK, %d numbers at most; 255 late taken, 256 late not" % (
        flight, span)


def replays(t):
    """Old DATA: acknowledged, and otherwise nothing"""
    dut, qp = t.open(paths=2)
    peer, region, receive = t.peer, t.region(), t.region(16384)
    for i in range(3):
        dut.recv(receive, 4096, 4096 * i, wr_id=i)
    sent = [peer.emit(packet, i % 2) for i, packet in enumerate(
        qp.packets(codec.WRITE, bytes(8192), addr=region.addr, rkey=region.rkey) +
        qp.packets(codec.SEND, bytes(3000)))]
    t.accepted(qp)
    t.completions(dut, 1)
    key = t.key()
    region.fill(key)
    receive.fill(key)
    for packet in sent:
        acks = len(peer.seen(ACK))
        peer.transmit(packet, peer.path(packet.path).sport, 2)
        require(peer.run(0.1, lambda: len(peer.seen(ACK)) > acks),
                "no ACK for a packet that was there before")
    again = [peer.emit(packet.copy(flags=codec.RETX | codec.ACK_REQ), i % 2)
             for i, packet in enumerate(sent)]
    peer.run(0.5, lambda: all(packet.path_seq in peer.path(packet.path).arrived
                              for packet in again))
    require(all(packet.path_seq in peer.path(packet.path).arrived for packet in again),
            "data that was there before is not acknowledged under its new number")
    peer.run(0.02)
    require(region.differs(key, region.length) == -1, "a WRITE was placed after it was complete")
    require(receive.differs(key, receive.length) == -1, "a SEND was placed after it was complete")
    require(not dut.poll(1), "a replayed SEND has completed again")
    stale = qp.packets(codec.WRITE, b"\xff" * 1024, addr=region.addr, rkey=region.rkey)[0]
    peer.emit(stale.copy(incarnation=stale.incarnation ^ 0x5a5a))
    peer.run(0.02)
    require(region.differs(key, region.length) == -1, "a packet of another life was placed")
    qp.next_psn = stale.psn
    t.deliver(qp, qp.packets(codec.SEND, pattern(key, 2000)))
    done, = t.completions(dut, 1)
    require(done.id == 1, "receive %d has taken the next message" % done.id)
    return len(sent) + len(again)


def old_acks(t):
    """ACKs that say nothing new, and one for another connection: no packet follows."""
    dut, _ = t.open(paths=1, payload=128, timeout=20)
    peer, region = t.peer, t.region()
    peer.delay = 0.02
    t.warm(dut, region, 6)
    peer.delay = 0.0
    old = [ack for _, ack in peer.sent_acks if ack.kind == ACK and ack.parts]
    flight = full_flight(t, dut, region)
    since = clock()
    for ack in old[-40:]:
        peer.transmit(ack, peer.rx[0].back or codec.PORT)
    fake = codec.Ack(peer.dcid ^ 1, [codec.Part(0, flight[-1].body.path_seq, codec.VEC_MASK)])
    peer.transmit(fake, codec.PORT)
    # a number never sent
    ahead = codec.Ack(peer.dcid, [codec.Part(0, flight[-1].body.path_seq + 400 & 0xffffffff,
                                             codec.VEC_MASK)])
    peer.transmit(ahead, codec.PORT)
    peer.run(0.015)
    more = peer.seen(DATA, since)
    require(not more, "%d packets after %d old ACKs: psn %s" % (
        len(more), len(old[-40:]), [hex(packet.body.psn) for packet in more[:4]]))
    acknowledge_all_but(t, flight, [])
    peer.auto_ack, peer.net_in = True, lambda packet: None
    t.completions(dut, 3)
    again = t.repeats()
    require(not again, "packets sent again because of old ACKs: %s" % again[:4])
    return len(old[-40:])


@row("13", "duplicates")
def duplicates(t):
    count = t.steady(replays)
    acks = t.steady(old_acks)
    return "%d packets replayed: acknowledged, not placed; %d old ACKs: nothing" % (count, acks)
