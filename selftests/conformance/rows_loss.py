# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rows 6 to 11: what is lost, what is not, and how soon that is known. The device sends."""
import codec
from codec import ACK, DATA, PROBE, PROBE_ACK
from peer import DROP, clock
from rig import ms, require, row


# Of round trips before a row acknowledges by itself: so that no probe timeout disturbs it
SLOW_S = 0.015


def acknowledge_all_but(t, packets, dropped):
    """One ACK about every path, holes where packets were dropped. Return: when it was sent."""
    peer = t.peer
    for packet in packets:
        if packet not in dropped:
            path = peer.rx[packet.body.path]
            path.mark(packet.body.path_seq, when=packet.when)
            path.back = path.back or peer.free_port()
            peer.qps[packet.body.dst_qpn].arrive(packet.when, packet.body)
    paths = sorted(t.by_path(packets))
    when = clock()
    for number in paths:
        if peer.rx[number].news:
            peer.acknowledge([number])
    return when


def hold_everything(t):
    """From now on the row says what has arrived."""
    t.peer.auto_ack = False
    t.peer.net_in = lambda packet: DROP if packet.kind in (DATA, PROBE) else None


def victims(packets):
    """One packet of each path, not its last one and not its first"""
    return [group[len(group) // 2] for group in packets.values() if len(group) > 2]


def up_to_the_next(packets, lost):
    """Of each path what came before the one that is lost, and the packet after it"""
    limit = {packet.body.path: packet.body.path_seq + 1 & 0xffffffff for packet in lost}
    return [packet for packet in packets if packet not in lost and packet.body.path in limit and
            not codec.before(limit[packet.body.path], packet.body.path_seq)]


def one_gap_on_each_path(t, dut, region):
    peer = t.peer
    peer.forget()
    t.write(dut, region, 1 << 16)
    packets = t.gather(64)
    lost = victims(t.by_path(packets))
    require(lost, "no path has three packets")
    told = up_to_the_next(packets, lost)
    sent = acknowledge_all_but(t, told, [])
    again = t.gather(len(lost), since=sent)
    rest = [packet for packet in packets if packet not in told and packet not in lost]
    acknowledge_all_but(t, rest + again, [])
    peer.run(0.03)
    again = peer.seen(DATA, sent)
    want = sorted((packet.body.path, packet.body.psn) for packet in lost)
    got = sorted((packet.body.path, packet.body.psn) for packet in again)
    require(got == want, "after the ACK (path, psn) %s was sent, missing was %s" % (got, want))
    for packet in again:
        require(packet.body.flags & codec.RETX, "sent again without the flag RETX")
        original = [item for item in lost if item.body.psn == packet.body.psn][0]
        require(packet.raw[64:] == original.raw[64:], "sent again with other bytes")
    worst = max(packet.when for packet in again) - sent
    require(worst <= t.slop, "sent again %s after the ACK" % ms(worst))
    t.completions(dut, 1)
    return len(lost), worst


def gap_before_new_data(t, dut, region):
    """With more to send than the window takes, what is lost goes first."""
    peer = t.peer
    peer.forget()
    for _ in range(8):
        t.write(dut, region, 1 << 16)
    first = t.settle(0.01)
    lost = victims(t.by_path(first))
    sent = acknowledge_all_but(t, first, lost)
    t.gather(len(lost) + 1, since=sent)
    after = peer.seen(DATA, sent)
    repeated = {packet.body.psn for packet in lost}
    for number, group in t.by_path(after).items():
        mine = [packet.body.psn for packet in lost if packet.body.path == number]
        if mine:
            require(group[0].body.psn in mine, "path %d sends new data before the lost packet" %
                    number)
    require(repeated <= {packet.body.psn for packet in after}, "lost packets were not sent again")
    peer.auto_ack, peer.net_in = True, lambda packet: None
    acknowledge_all_but(t, after, [])
    t.completions(dut, 8)
    again = t.repeats()
    require(len(again) == len(lost), "%d packets lost, %d sent again" % (len(lost), len(again)))


def gaps(t):
    dut, _ = t.open(paths=4, timeout=20)
    region = t.region()
    t.warm(dut, region, 12, SLOW_S)
    hold_everything(t)
    return one_gap_on_each_path(t, dut, region)


def gaps_in_full_window(t):
    dut, _ = t.open(paths=4, timeout=20)
    region = t.region()
    t.warm(dut, region, 12, SLOW_S)
    hold_everything(t)
    gap_before_new_data(t, dut, region)


@row("6", "gap")
def gap(t):
    results = [t.steady(gaps) for _ in range(4)]
    t.steady(gaps_in_full_window)
    return "%d gaps: exactly these packets, same path, %s after the ACK at worst; before new data" \
        % (sum(count for count, _ in results), ms(max(worst for _, worst in results)))


def skewed(t, paths, base_s):
    dut, _ = t.open(paths=paths, timeout=20)
    region = t.region()
    slow = paths - 1
    t.peer.delay = base_s

    def delay(packet):
        return base_s + 0.010 if packet.kind in (DATA, PROBE) and packet.body.path == slow else None
    t.peer.net_in = delay
    t.flow(dut, region, 60, 1 << 16, depth=4)
    carried = t.by_path(t.peer.seen(DATA))
    require(len(carried) == paths, "paths used: %s of %d" % (sorted(carried), paths))
    again = t.repeats()
    require(not again, "%d packets sent again, none was lost: (path, psn) %s" %
            (len(again), again[:4]))
    return len(t.peer.seen(DATA)), len(carried[slow])


@row("7", "no false loss")
def no_false_loss(t):
    counts = [t.steady(skewed, paths, base_s) for paths, base_s in ((2, 0.0), (4, 0.002))]
    return "%d packets, %d of them 10 ms late with their path, none sent again" % (
        sum(count for count, _ in counts), sum(slow for _, slow in counts))


def swap_once(t, dut, region, at):
    """32 packets on one path, two of them in the wrong order. Return: how many went again."""
    peer = t.peer
    peer.forget()
    t.write(dut, region, 1 << 15)
    packets = t.gather(32)
    early, late = packets[at], packets[at + 1]
    acknowledge_all_but(t, packets[:at] + [late], [])
    acknowledge_all_but(t, [early], [])
    acknowledge_all_but(t, packets[at + 2:], [])
    peer.run(0.02)
    again = peer.seen(DATA)[32:]
    require(all(packet.body.psn == early.body.psn for packet in again),
            "sent again: psn %s, swapped was %#x" % ([hex(packet.body.psn) for packet in again],
                                                     early.body.psn))
    acknowledge_all_but(t, again, [])
    t.completions(dut, 1)
    return len(again)


def swaps(t):
    dut, _ = t.open(paths=1, timeout=20)
    region = t.region()
    t.warm(dut, region, 12, SLOW_S)
    hold_everything(t)
    counts = [swap_once(t, dut, region, at) for at in (7, 12, 20, 3)]
    require(counts[0] <= 1, "%d repetitions for one swap" % counts[0])
    require(not any(counts[1:]), "repetitions for four swaps: %s; it does not adapt" % counts)
    return counts


def device_sees_swap(t):
    """What the device receives in the wrong order, and the needless repetition"""
    dut, qp = t.open(paths=1)
    data, receive = bytes(range(250)) * 16, t.region(8192)
    dut.recv(receive, 8192, wr_id=3)
    packets = qp.packets(codec.SEND, data)
    numbered = [t.peer.number(packet, 0) for packet in packets]
    numbered[1], numbered[2] = numbered[2], numbered[1]
    for packet in numbered:
        t.peer.transmit(packet, t.peer.path(0).sport, 2)
    again = t.peer.emit(packets[1], 0)
    t.accepted(qp)
    done, = t.completions(dut, 1)
    require(done.length == len(data) and receive.read(len(data)) == data, "bytes differ")
    t.peer.run(0.5, lambda: again.path_seq in t.peer.path(0).arrived)
    require({packet.path_seq for packet in numbered} | {again.path_seq} <=
            t.peer.path(0).arrived, "packets that have arrived are not acknowledged")
    gaps = [part for _, part in t.peer.path(0).parts
            if part.says(numbered[2].path_seq) is False]
    require(gaps, "the gap was not acknowledged at once")
    t.peer.run(0.02)
    require(not dut.poll(1), "completed twice")


@row("8", "reordering in a path")
def reordering(t):
    counts = t.steady(swaps)
    t.steady(device_sees_swap)
    return "swaps of neighbours: repetitions %s; a late duplicate does nothing" % counts


def lose_copies(t, count):
    """Drop a packet of a stream that goes on, and its first repetitions. Return: the waits."""
    dut, qp = t.open(paths=2, timeout=18)
    peer, region = t.peer, t.region()
    # long round trips: only the gap can be as quick as the row wants it
    peer.delay = 0.008
    t.warm(dut, region, 12)
    peer.forget()
    peer.each_ack = True
    state = {"psn": None, "left": count + 1, "when": [], "numbers": []}

    def drop(packet):
        if packet.kind != DATA:
            return None
        if state["psn"] is None and len(peer.log) > 40:
            state["psn"] = packet.body.psn
        if packet.body.psn != state["psn"]:
            return None
        state["when"].append(packet)
        state["left"] -= 1
        return DROP if state["left"] >= 0 else None

    peer.net_in = drop
    t.flow(dut, region, 12, 1 << 16, depth=4)
    peer.net_in = lambda packet: None
    copies = state["when"]
    require(len(copies) == count + 2, "%d copies of a packet lost %d times" %
            (len(copies), count + 1))
    waits = [reaction(t, earlier, later) for earlier, later in zip(copies, copies[1:])]
    others = [item for item in t.repeats(qp) if item[1] != state["psn"]]
    require(not others, "sent again without loss: %s" % others[:4])
    limit = t.slop if count <= 3 else t.slop + 0.1
    require(max(waits) <= limit, "%d times lost: sent again %s after its gap was shown" %
            (count, ", ".join(map(ms, waits))))
    return waits


def reaction(t, earlier, later):
    """How long after the ACK that shows the gap, or after a probe timeout, the next copy came"""
    known = [when for when, ack in t.peer.sent_acks for part in ack.parts
             if part.path == earlier.body.path and when > earlier.when and
             codec.before(earlier.body.path_seq, part.highest)]
    shown = min(known) if known else earlier.when
    return later.when - shown


@row("9", "lost retransmission")
def lost_retransmission(t):
    worst = 0
    for count in range(1, 6):
        waits = t.steady(lose_copies, count)
        worst = max([worst] + waits[:3])
    return "a packet lost 2 to 6 times: each copy within %s of the ACK that shows its gap" % \
        ms(worst)


def lose_tail(t, paths, delay, count):
    """The last packets of a message do not arrive. Return: time to the PROBE, and its limit."""
    dut, _ = t.open(paths=paths, timeout=20)
    peer, region = t.peer, t.region()
    peer.delay = delay
    t.warm(dut, region, 30)
    peer.forget()
    state = {"seen": 0}
    dropped = []

    def drop(packet):
        if packet.kind != DATA:
            return None
        state["seen"] += 1
        if 16 - count < state["seen"] <= 16:
            dropped.append(packet)
            return DROP
        return None

    peer.net_in = drop
    t.write(dut, region, 1 << 14)
    require(peer.run(2, lambda: len(dropped) == count), "message of 16 packets is not out")
    pto = max(peer.rx[packet.body.path].rtt.pto() for packet in dropped)
    since = dropped[0].when
    require(peer.run(2, lambda: t.probes(since)), "no PROBE")
    took = t.probes(since)[0].when - since
    require(took <= t.within(pto),
            "last %d of 16 lost: PROBE after %s, 2 srtt + 4 rttvar + ack delay is %s" %
            (count, ms(took), ms(pto)))
    t.completions(dut, 1)
    again = peer.seen(DATA)[16:]
    require(sorted(packet.body.psn for packet in again) ==
            sorted(packet.body.psn for packet in dropped), "sent again: %s, lost were %s" % (
                [packet.body.psn for packet in again], [packet.body.psn for packet in dropped]))
    paths = {packet.body.psn: packet.body.path for packet in dropped}
    require(all(paths[packet.body.psn] == packet.body.path for packet in again),
            "sent again on another path")
    answered = [when for when, ack in peer.sent_acks if ack.kind == PROBE_ACK and when > since]
    if len({packet.body.path for packet in dropped}) == 1:
        late = max(packet.when for packet in again) - answered[0]
        require(late <= t.slop, "sent again %s after the answer to the PROBE" % ms(late))
    return took, pto


@row("10", "tail")
def tail(t):
    seen = [t.steady(lose_tail, paths, delay, count)
            for paths, delay in ((1, 0.004), (4, 0.004), (1, 0.0)) for count in (1, 2, 5, 16)]
    return "PROBE after %s at worst (its limit %s); then exactly what was lost" % \
        tuple(map(ms, max(seen)))


def most_acks_lost(t):
    """Nine of ten ACKs; those that answer a PROBE get there."""
    dut, _ = t.open(paths=4, timeout=20)
    region = t.region()
    t.peer.delay = 0.01
    t.warm(dut, region)
    t.peer.forget()
    count = {"all": 0, "lost": 0}

    def drop(kind, body, sport, plane):
        del body, sport, plane
        if kind != ACK:
            return None
        count["all"] += 1
        if count["all"] % 10:
            count["lost"] += 1
            return DROP
        return None

    t.peer.net_out, t.peer.each_ack = drop, True
    t.flow(dut, region, 20, 1 << 16, depth=4)
    again = t.repeats()
    require(count["lost"] > 100, "only %d ACKs were lost" % count["lost"])
    require(not again, "%d packets sent again; all had arrived, %d of %d ACKs were lost" %
            (len(again), count["lost"], count["all"]))
    return count["lost"], count["all"]


def all_acks_lost(t, rtt):
    """For five round trips nothing comes back."""
    dut, _ = t.open(paths=4, timeout=20)
    peer, region = t.peer, t.region()
    peer.delay = rtt
    t.warm(dut, region, 30)
    peer.forget()
    peer.net_out = lambda kind, body, sport, plane: DROP if kind in (ACK, PROBE_ACK) else None
    start = clock()
    for _ in range(24):
        t.write(dut, region, 1 << 16)
    peer.run(start + 5 * rtt - clock())
    had = peer.count[DATA]
    peer.net_out = lambda kind, body, sport, plane: None
    resumed = clock()
    pto = max(path.rtt.pto() for path in peer.rx.values())
    t.completions(dut, 24)
    again = t.repeats()
    require(not again, "%d packets sent again after %s without ACKs" %
            (len(again), ms(resumed - start)))
    require(had < 24 * 64, "everything was out already")
    first = [packet for packet in peer.seen(DATA, resumed)]
    require(first, "no data after the ACKs came again")
    went = first[0].when - resumed
    require(went <= t.within(pto + rtt), "data goes on %s after ACKs came again, the PTO is %s" %
            (ms(went), ms(pto)))
    return resumed - start, went


@row("11", "ACK loss")
def ack_loss(t):
    lost, count = t.steady(most_acks_lost)
    outage, went = t.steady(all_acks_lost, 0.02)
    return "%d of %d ACKs lost, then all for %s: nothing sent again, goes on after %s" % (
        lost, count, ms(outage), ms(went))
