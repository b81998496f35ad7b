# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rows 2 to 5: where data goes, and in which order messages complete."""
import codec
from agent import (LOC_LEN_ERR, RNR_RETRY_EXC_ERR, SUCCESS, WR_FLUSH_ERR, AgentError, pattern)
from codec import DATA
from peer import DROP, PTO_MIN_S, clock
from rig import Skipped, ms, require, row

GUARD = 256
NOTHING_S = 0.03		# so long something must not happen


def orders(rng, count):
    yield "in order", list(range(count))
    yield "reversed", list(range(count - 1, -1, -1))
    for _ in range(3):
        order = list(range(count))
        rng.shuffle(order)
        yield "random", order


def not_refused(t, qp):
    """Nothing was held back or turned away: no buffer grows."""
    for number, path in t.peer.tx.items():
        require(not path.refused, "packets of path %d refused" % number)
    bad = [rec for _, rec in qp.records if rec.syndrome]
    require(not bad, "record with syndrome %s" % (bad and codec.SYNDROMES[bad[0].syndrome]))


def placed_but_one(t, dut, qp, region, opcode, order):
    """One message, one packet of which comes last, much later: the others are in place before."""
    length, key = 24 * 1024 + 77, t.key()
    blank = t.key()
    region.fill(blank, length + 2 * GUARD)
    if opcode != codec.WRITE:
        dut.recv(region, length, GUARD, wr_id=17)
    data = pattern(key, length)
    target = {} if opcode == codec.SEND else {"addr": region.addr + GUARD, "rkey": region.rkey}
    packets = qp.packets(opcode, data, imm=0xcafe if opcode == codec.WRITE_IMM else 0, **target)
    late = order[-1]
    for i, index in enumerate(order[:-1]):
        t.peer.emit(packets[index], i % 4)
    first = packets[0].psn
    t.peer.run(0.01)
    require(not dut.poll(1), "complete without packet %d" % late)
    for index in range(len(packets)):
        at, size = index * 1024, len(packets[index].payload)
        if index == late:
            require(region.differs(blank, size, GUARD + at, GUARD + at) == -1,
                    "bytes of packet %d, which is missing" % index)
        else:
            require(region.differs(key, size, GUARD + at, at) == -1,
                    "packet %d is not in place while %d is missing" % (index, late))
    require(not codec.before(first + late & 0xffffffff, qp.accepted()[0]),
            "accepted beyond what is missing")
    t.peer.emit(packets[late], len(order) % 4)
    t.accepted(qp)
    require(region.differs(key, length, GUARD) == -1, "bytes differ")
    for at in (0, GUARD + length):
        require(region.differs(blank, GUARD, at, at) == -1, "bytes around the message changed")
    if opcode == codec.WRITE:
        return
    done, = t.completions(dut, 1)
    require(done.id == 17 and done.length == length, "completion %s of %d bytes" %
            (done, done.length))
    require(opcode == codec.SEND or done.imm == 0xcafe, "immediate %#x" % done.imm)


@row("2", "placement", whole=True)
def placement(t):
    dut, qp = t.open(paths=4)
    region = t.region()
    count = 0
    for opcode in (codec.WRITE, codec.WRITE_IMM, codec.SEND):
        for name, order in orders(t.rng, 25):
            placed_but_one(t, dut, qp, region, opcode, order)
            count += 1
            require(not dut.poll(1), "a second completion (%s)" % name)
    not_refused(t, qp)
    return "%d messages of 25 packets, in order, reversed, random, over 4 paths" % count


@row("3", "send match", whole=True)
def send_match(t):
    dut, qp = t.open(paths=2)
    region = t.region()
    lengths = (5000, 3000, 0, 7000)
    keys = [t.key() for _ in lengths]
    blank = t.key()
    region.fill(blank, 4 * 8192)
    for i in range(4):
        dut.recv(region, 8192, i * 8192, wr_id=100 + i)
    messages = [qp.packets(codec.SEND, pattern(key, length))
                for key, length in zip(keys, lengths)]
    for i in (3, 1, 2):
        for packet in reversed(messages[i]):
            t.peer.emit(packet, i % 2)
        t.peer.run(0.01)
        require(region.differs(keys[i], lengths[i], i * 8192) == -1,
                "message %d is not in its own buffer while message 0 is missing" % i)
    require(region.differs(blank, 8192) == -1, "the buffer of message 0 was touched")
    t.peer.run(NOTHING_S)
    require(not dut.poll(1), "a completion before message 0")
    require(qp.accepted()[0] == messages[0][0].psn, "accepted before message 0 has come")
    not_refused(t, qp)
    for packet in messages[0]:
        t.peer.emit(packet, 0)
    done = t.completions(dut, 4)
    require([item.id for item in done] == [100, 101, 102, 103], "completions %s" % done)
    require([item.length for item in done] == list(lengths), "lengths %s" %
            [item.length for item in done])
    for i in range(4):
        require(region.differs(keys[i], lengths[i], i * 8192) == -1, "bytes of message %d" % i)
    return "messages 3, 1, 2 in their own buffers before 0; completions 0, 1, 2, 3"


def refused_without_receive(t, dut, qp, region):
    """No buffer: arrived and refused, an RNR record; welcome again when there is one."""
    peer, timer = t.peer, 20
    data = [pattern(t.key(), 1500), pattern(t.key(), 1000)]
    messages = [qp.packets(codec.SEND, item) for item in data]
    for expected in (1, 2):
        sent = [peer.emit(packet) for message in messages for packet in message]
        peer.run(0.5, lambda: {item.path_seq for item in sent} <= peer.path(0).refused)
        missing = [item.psn for item in sent if item.path_seq not in peer.path(0).refused]
        require(not missing, "%d packets without a buffer are not reported as refused" %
                len(missing))
        when, rec = qp.records[-1]
        del when
        require(rec.syndrome == codec.RNR, "syndrome %s" % codec.SYNDROMES[rec.syndrome])
        require(rec.cum_psn == messages[0][0].psn, "the cumulative psn has moved")
        require(rec.limit_psn == messages[0][0].psn, "limit %#x is not the psn refused" %
                rec.limit_psn)
        require(rec.rnr_timer == timer, "RNR timer %d, the queue pair has %d" %
                (rec.rnr_timer, timer))
        require(rec.refusals == expected, "refusal count %d after %d tries" %
                (rec.refusals, expected))
        peer.run(NOTHING_S)
    require(not dut.poll(1), "a completion without a receive")
    for i in range(2):
        dut.recv(region, 4096, i * 4096, wr_id=i)
    for message in messages:
        for packet in message:
            peer.emit(packet)
    done = t.completions(dut, 2)
    require([item.id for item in done] == [0, 1], "completions %s" % done)
    require(all(region.read(len(item), i * 4096) == item for i, item in enumerate(data)),
            "bytes of a message that was refused before")
    t.accepted(qp)
    require(qp.accepted()[1] == codec.OK, "syndrome %d afterwards" % qp.accepted()[1])


def too_short(t, dut, qp, region):
    """An error takes effect in its turn, and only there."""
    dut.recv(region, 4096, 0, wr_id=0)
    dut.recv(region, 1000, 4096, wr_id=1)
    dut.recv(region, 4096, 8192, wr_id=2)
    first, second = qp.packets(codec.SEND, b"a" * 2000), qp.packets(codec.SEND, b"b" * 2000)
    blank = t.key()
    region.fill(blank, 4096, 4096)
    for packet in second:
        t.peer.emit(packet)
    t.peer.run(NOTHING_S)
    require(not dut.poll(1), "the error is ahead of the message before")
    require(qp.accepted()[1] in (codec.OK, codec.BUSY), "syndrome %d ahead of its turn" %
            qp.accepted()[1])
    for packet in first:
        t.peer.emit(packet)
    done = dut.poll(3, 2000)
    require([(item.id, item.status) for item in done] ==
            [(0, SUCCESS), (1, LOC_LEN_ERR), (2, WR_FLUSH_ERR)], "completions %s" % done)
    require(region.differs(blank, 3096, 5096, 1000) == -1, "bytes behind the short buffer")
    t.peer.run(0.5, lambda: qp.accepted()[1] == codec.INV_REQ)
    require(qp.accepted() == (second[0].psn, codec.INV_REQ), "record: psn %#x, syndrome %d" %
            qp.accepted())


def device_is_refused(t):
    """The device as sender: the RNR time is kept, the retries are counted."""
    timer_s, tries = 0.00512, 3
    dut, qp = t.pair(rnr_retry=tries - 1)
    region = t.region(4096)
    stream = qp.requests
    stream.syndrome, stream.rnr_timer = codec.RNR, 18

    def refuse(data):
        stream.limit = data.msg_psn
        return "refuse"

    def count(packet):
        if packet.kind == DATA and packet.body.psn == stream.first:
            stream.refusals += 1

    t.peer.net_in = count
    qp.verdict = refuse
    posted = dut.post("send", region, 500)
    done = dut.poll(1, 3000)
    t.peer.net_in = lambda packet: None
    require([(item.id, item.status) for item in done] == [(posted, RNR_RETRY_EXC_ERR)],
            "completions %s, RNR retry exceeded is due" % done)
    when = qp.copies(stream.first)
    require(len(when) == tries, "sent %d times with %d RNR retries" % (len(when), tries - 1))
    waits = [later - earlier for earlier, later in zip(when, when[1:])]
    require(min(waits) >= timer_s, "sent again after %s, the RNR time is %s" %
            (ms(min(waits)), ms(timer_s)))
    require(max(waits) <= 2 * timer_s + t.slop, "sent again only after %s, the RNR time is %s" %
            (ms(max(waits)), ms(timer_s)))
    require(dut.state() == "err", "state %s after the error" % dut.state())
    return max(waits)


@row("4", "send errors", whole=True)
def send_errors(t):
    dut, qp = t.open(paths=1, min_rnr_timer=20)
    region = t.region()
    refused_without_receive(t, dut, qp, region)
    other, other_qp = t.pair()
    too_short(t, other, other_qp, region)
    require(other.state() == "err", "the queue pair with the error is in state %s" % other.state())
    # the stream beside it survives
    dut.recv(region, 4096, 0, wr_id=5)
    t.deliver(qp, qp.packets(codec.SEND, b"still there"))
    done, = t.completions(dut, 1)
    require(done.id == 5 and done.length == 11, "completion %s" % done)
    waited = device_is_refused(t)
    return "refused, record and timer right; length error in its turn; RNR waits up to %s" % \
        ms(waited)


def shared_pairs(t, receives):
    """Two queue pairs of one connection on one shared queue. Return: it and both pairs."""
    t.open(paths=2)
    try:
        srq = t.srq(receives)
    except AgentError as error:
        raise Skipped("the agent has no shared receive queues: %s" % error) from error
    return srq, t.pair(srq=srq, min_rnr_timer=20), t.pair(srq=srq, min_rnr_timer=20)


def only(t, dut, wr_id, length):
    """The next completion, and no other"""
    done, = t.completions(dut, 1)
    require((done.id, done.length) == (wr_id, length), "completion %s of %d bytes, not %d of %d" %
            (done, done.length, wr_id, length))
    require(not dut.poll(1), "more completions")


def shared_order(t, srq, first, second, region):
    """Message 1 of A, then one of B, then message 0 of A: receives 0 and 1 are A's, 2 is B's."""
    (dut_a, qp_a), (dut_b, qp_b) = first, second
    lengths = (3000, 2500, 2000)
    keys = [t.key() for _ in lengths]
    blank = t.key()
    region.fill(blank, 4 * 4096)
    for i in range(4):
        srq.recv(region, 4096, i * 4096, wr_id=i)
    of_a = [qp_a.packets(codec.SEND, pattern(keys[i], lengths[i])) for i in (0, 1)]
    of_b = qp_b.packets(codec.SEND, pattern(keys[2], lengths[2]))
    for packet in of_a[1]:
        t.peer.emit(packet, 1)
    t.peer.run(0.01)
    require(region.differs(keys[1], lengths[1], 4096) == -1,
            "message 1 of A is not in receive 1 while message 0 is missing")
    t.deliver(qp_b, of_b, 1)
    only(t, dut_b, 2, lengths[2])
    require(region.differs(keys[2], lengths[2], 2 * 4096) == -1, "message of B is not in receive 2")
    require(not dut_a.poll(1), "a completion of A before its message 0")
    t.deliver(qp_a, of_a[0])
    done = t.completions(dut_a, 2)
    require([(item.id, item.length) for item in done] == [(0, lengths[0]), (1, lengths[1])],
            "completions of A %s" % done)
    require(region.differs(keys[0], lengths[0]) == -1, "message 0 of A is not in receive 0")
    require(region.differs(blank, 4096, 3 * 4096, 3 * 4096) == -1, "receive 3 was touched")


def shared_empty(t, srq, first, second, region):
    """A has the last receive, half full: B is refused, A is not; one more is B's, who is done first."""
    (dut_a, qp_a), (dut_b, qp_b) = first, second
    key_a, key_b = t.key(), t.key()
    half, rest = qp_a.packets(codec.SEND, pattern(key_a, 2000))
    whole = qp_b.packets(codec.SEND, pattern(key_b, 900))
    t.peer.emit(half)
    t.peer.run(0.5, lambda: qp_a.accepted()[0] == rest.psn)
    for expected in (1, 2):
        sent = t.peer.emit(whole[0])
        t.peer.run(0.5, lambda: sent.path_seq in t.peer.path(0).refused)
        require(sent.path_seq in t.peer.path(0).refused, "no receive is left, and B not refused")
        require(qp_b.records and qp_b.records[-1][1].syndrome == codec.RNR,
                "no record that says so")
        rec = qp_b.records[-1][1]
        require((rec.rnr_timer, rec.refusals) == (20, expected), "RNR timer %d, refusals %d" %
                (rec.rnr_timer, rec.refusals))
    require(qp_a.accepted()[1] == codec.OK, "A has syndrome %d" % qp_a.accepted()[1])
    require(not dut_b.poll(1), "a completion without a receive")
    srq.recv(region, 4096, 0, wr_id=4)
    t.deliver(qp_b, whole)
    only(t, dut_b, 4, 900)
    require(not dut_a.poll(1), "A is complete without its last packet")
    t.deliver(qp_a, [rest])
    only(t, dut_a, 3, 2000)
    require(region.differs(key_a, 2000, 3 * 4096) == -1 and region.differs(key_b, 900) == -1,
            "bytes differ")


def shared_error(t, srq, first, second, region):
    """A breaks: its receive says so, what was not A's yet is B's."""
    (dut_a, qp_a), (dut_b, qp_b) = first, second
    for i, length in enumerate((500, 4096, 4096)):
        srq.recv(region, length, i * 4096, wr_id=10 + i)
    for packet in qp_a.packets(codec.SEND, b"a" * 900):
        t.peer.emit(packet)
    done, = dut_a.poll(1, 2000) or [None]
    require(done and (done.id, done.status) == (10, LOC_LEN_ERR), "completion of A %s" % done)
    t.peer.run(0.5, lambda: qp_a.accepted()[1] == codec.INV_REQ)
    require(qp_a.accepted()[1] == codec.INV_REQ, "syndrome %d for A" % qp_a.accepted()[1])
    for i in (1, 2):
        t.deliver(qp_b, qp_b.packets(codec.SEND, b"b" * 700))
        only(t, dut_b, 10 + i, 700)
    require(not dut_a.poll(1), "more than its own receive is complete at A")
    require((dut_a.state(), dut_b.state()) == ("err", "rts"), "states %s, %s" %
            (dut_a.state(), dut_b.state()))


@row("4srq", "send, shared receive queue", whole=True)
def shared_receive_queue(t):
    if not t.agent.device["max_srq"]:
        raise Skipped("the device has no shared receive queues")
    srq, first, second = shared_pairs(t, 4)
    region = t.region()
    shared_order(t, srq, first, second, region)
    shared_empty(t, srq, first, second, region)
    shared_error(t, srq, first, second, region)
    return "bound in the order of arrival, refused when none is left, an error is one queue pair's"


def latencies(t, dut, region, count):
    """From the post to the arrival of the packet, of single messages"""
    out = []
    for _ in range(count):
        since = clock()
        t.write(dut, region, 512)
        t.peer.run(1.0, lambda: any(packet.body.src_qpn == dut.qpn
                                    for packet in t.peer.seen(DATA, since)))
        mine = [packet for packet in t.peer.seen(DATA, since) if packet.body.src_qpn == dut.qpn]
        require(mine, "stream B stands still for a second", 1.0)
        out.append(mine[0].when - since)
        t.completions(dut, 1)
    return sorted(out)


def one_stalls(t, all_lost):
    """A cannot go on: its first packet never arrives, or none does."""
    dut_a, qp_a = t.open(paths=4, timeout=19)
    dut_b, qp_b = t.pair(timeout=19)
    region = t.region()
    t.warm(dut_b, region, 8)
    alone = latencies(t, dut_b, region, 20)
    t.peer.net_in = lambda packet: \
        DROP if packet.kind == DATA and packet.body.src_qpn == dut_a.qpn and \
        (all_lost or packet.body.psn == qp_a.requests.first) else None
    for _ in range(4):
        t.write(dut_a, region, 16384)
    since = clock()
    beside = latencies(t, dut_b, region, 20)
    stalled = [packet for packet in t.peer.seen(DATA, since) if packet.body.src_qpn == dut_a.qpn]
    require(stalled, "stream A has not even tried")
    require(not dut_a.poll(1), "stream A has completed without its packets")
    require(not t.repeats(qp_b), "packets of stream B sent again: %s" % t.repeats(qp_b))
    bound = 2 * alone[10] + PTO_MIN_S
    if all_lost:
        bound += t.slop + max(path.rtt.pto() for path in t.peer.rx.values())
    require(beside[10] <= bound and beside[-2] <= 2 * bound,
            "with A stalled B takes %s (median), %s (worst but one); alone %s" %
            (ms(beside[10]), ms(beside[-2]), ms(alone[10])),
            max(beside[10] - bound, beside[-2] - 2 * bound))
    t.peer.net_in = lambda packet: None
    t.completions(dut_a, 4)
    # and what the device receives
    dut_b.recv(region, 4096, wr_id=1)
    first, second = qp_a.packets(codec.WRITE, bytes(2048), addr=region.addr, rkey=region.rkey)
    t.peer.emit(second)
    t.deliver(qp_b, qp_b.packets(codec.SEND, b"x" * 3000))
    t.completions(dut_b, 1)
    require(qp_a.accepted()[0] == first.psn, "stream A has moved")
    t.peer.emit(first)
    t.accepted(qp_a)
    return beside[10], alone[10]


@row("5", "streams")
def streams(t):
    seen = [t.steady(one_stalls, False) for _ in range(3)]
    lost = t.steady(one_stalls, True)
    return "B %s beside a stalled A, %s alone (median); all of A's lost: %s" % (
        *map(ms, max(seen)), ms(lost[0]))
