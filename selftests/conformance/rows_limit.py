# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Rows 27, 28, 31 and 32: patience, sizes, smaller peers, odd networks."""
import codec
from agent import RETRY_EXC_ERR, SUCCESS, WR_FLUSH_ERR, pattern
from codec import ACK, DATA, HELLO_ACK
from peer import CE, ECT0, clock
from rig import BASE, Skipped, ms, require, row

TIMEOUT, RETRIES = 15, 2
PERIOD_S = 4.096e-6 * (1 << TIMEOUT)


def silence(t, dut, region, limit_s):
    """Three requests to a peer that says nothing. Return: after how long they fail."""
    t.peer.mute = True
    for i in range(2):
        dut.recv(region, 64, wr_id=70 + i)
    since = clock()
    for i in range(3):
        dut.post("write", region, 3000, raddr=BASE, rkey=1, id=i + 1)
    done = dut.poll(1, int(limit_s * 3000))
    took = clock() - since
    require(done, "no completion after %.1f s" % took)
    require((done[0].id, done[0].status) == (1, RETRY_EXC_ERR), "completion %s" % done[0])
    rest = dut.poll(4, 1000)
    require([(item.id, item.status) for item in rest] ==
            [(2, WR_FLUSH_ERR), (3, WR_FLUSH_ERR), (70, WR_FLUSH_ERR), (71, WR_FLUSH_ERR)],
            "after it %s" % rest)
    t.peer.run(0.05)
    require(not dut.poll(1), "more completions than requests")
    require(dut.state() == "err", "state %s" % dut.state())
    # what was sent late does not go on
    count = len(t.peer.seen(DATA))
    t.peer.run(0.1)
    require(len(t.peer.seen(DATA)) == count, "data is sent for a queue pair in error")
    return took


def dies(t):
    budget = (RETRIES + 1) * PERIOD_S
    dut, _ = t.open(paths=4, timeout=TIMEOUT, retry_cnt=RETRIES)
    region = t.region()
    t.warm(dut, region, 4)
    took = silence(t, dut, region, budget * 1.5)
    require(budget - 0.002 <= took <= budget * 1.5 + t.slop,
            "error after %s, the budget of timeout and retries is %s" % (ms(took), ms(budget)))
    # the same peer, there again: a new instance, and new queue pairs
    dut, qp = t.open(paths=4)
    region = t.region()
    t.warm(dut, region, 2)
    dut.recv(region, 4096, wr_id=4)
    t.deliver(qp, qp.packets(codec.SEND, bytes(1000)))
    t.completions(dut, 1)
    return took, budget


def pauses(t):
    """A silence that ends before the limit is no error."""
    budget = (RETRIES + 1) * PERIOD_S
    dut, _ = t.open(paths=4, timeout=TIMEOUT, retry_cnt=RETRIES)
    region = t.region()
    t.warm(dut, region, 4)
    t.peer.mute = True
    t.write(dut, region, 5000)
    t.peer.run(budget * 0.6)
    t.peer.mute = False
    done = dut.poll(1, 2000)
    require(done and done[0].status == SUCCESS, "after a silence of %s: %s" %
            (ms(budget * 0.6), done))


@row("27", "retry limit")
def retry_limit(t):
    took, budget = t.steady(dies)
    t.steady(pauses)
    return "error after %s of %s, flushed in order; a shorter silence is none; connects again" % (
        ms(took), ms(budget))


SIZES = (0, 1, 127, 128, 129)


def sizes_both_ways(t, payload):
    """Messages around the payload size, from the device and to it, these as super-packets"""
    dut, qp = t.open(paths=4, payload=payload, recv_wr=64)
    peer, region, receive = t.peer, t.region(), t.region()
    key = t.key()
    region.fill(key)
    want = pattern(key, 1 << 16)
    for size in SIZES + (payload - 1, payload, payload + 1, 3 * payload + 7, 20 * payload):
        size = min(size, 1 << 16)
        peer.forget()
        qp.memory = bytearray(1 << 17)
        t.write(dut, region, size)
        t.completions(dut, 1)
        require(bytes(qp.memory[:size]) == want[:size], "payload %d: bytes of a WRITE of %d" %
                (payload, size))
        for packet in peer.seen(DATA):
            require(packet.body.unit == payload and len(packet.raw) <= 64 + payload,
                    "a packet of %d bytes, unit %d; agreed are %d" %
                    (len(packet.raw), packet.body.unit, payload))
        t.deliver(qp, [])
        packets = qp.packets(codec.WRITE_IMM, want[:size], addr=receive.addr, rkey=receive.rkey,
                             imm=size)
        dut.recv(receive, 0, wr_id=size)
        merged(t, packets, ECT0)
        t.accepted(qp)
        done, = t.completions(dut, 1)
        require((done.id, done.imm) == (size, size), "completion %s of size %d" % (done, size))
        require(receive.differs(key, size) == -1, "payload %d: bytes of a merged WRITE of %d" %
                (payload, size))
    return qp, receive


def merged(t, packets, tos, path=0):
    """As super-packets, which the stack cuts or passes on whole"""
    peer = t.peer
    size = 64 + packets[0].unit
    room = max(1, min(60, 60000 // size))
    for at in range(0, len(packets), room):
        raw = b"".join(peer.number(packet, path).pack() for packet in packets[at:at + room])
        try:
            peer.send(raw, peer.path(path).sport, tos, size if len(raw) > size else 0)
        except OSError as error:
            raise Skipped("the peer's kernel sends no super-packets: %s" % error) from error


def marks_of_segments(t, qp, receive):
    """Every segment of a marked super-packet counts, none of the others."""
    peer = t.peer
    peer.run(0.01)
    before = peer.path(0).parts[-1][1].ce_count
    payload = peer.payload
    for tos, count in ((ECT0, 7), (CE, 5), (ECT0, 3), (CE, 2)):
        merged(t, qp.packets(codec.WRITE, bytes(payload * count), addr=receive.addr,
                             rkey=receive.rkey), tos)
    t.accepted(qp)
    probe = peer.probe(0)
    peer.run(0.5, lambda: probe.path_seq in peer.path(0).arrived)
    counted = peer.path(0).parts[-1][1].ce_count - before & 0xffffffff
    require(counted == 7, "%d packets with CE are counted, 7 were sent" % counted)


@row("28", "sizes and super-packets", whole=True)
def sizes(t):
    payloads = (128, 256, 1024, 1408, 4096, 8192)
    for payload in payloads:
        qp, receive = sizes_both_ways(t, payload)
        if payload <= 1408:
            marks_of_segments(t, qp, receive)
    return "payloads %s, messages around their size, super-packets, CE of each segment" % \
        ", ".join(map(str, payloads))


def both_ways(t, dut, qp, region):
    """Some data in each direction"""
    key = t.key()
    region.fill(key)
    t.write(dut, region, 60000)
    dut.recv(region, 20000, 1 << 17, wr_id=1)
    data = pattern(key, 20000)
    packets = qp.packets(codec.SEND, data)
    for i, packet in enumerate(packets):
        t.peer.emit(packet, i % t.peer.agreed.paths)
        if i % 16 == 15:
            t.peer.run(0.002)
    done = t.completions(dut, 2)
    require({item.status for item in done} == {SUCCESS}, "completions %s" % done)
    require(bytes(qp.memory[:60000]) == pattern(key, 60000), "bytes of the device's WRITE")
    require(region.differs(key, 20000, 1 << 17) == -1, "bytes of the device's receive")


def smaller_peer(t, paths, payload, window):
    dut, qp = t.open(paths=paths, payload=payload, window=window, timeout=20)
    peer = t.peer
    answer = peer.dut_hello
    require((answer.paths <= paths, answer.payload <= payload, answer.window <= window) ==
            (True, True, True), "the HELLO_ACK says %d paths, %d bytes, window %d" %
            (answer.paths, answer.payload, answer.window))
    worst = {"psn": 0}

    def told(before):
        """The cumulative psn that the device can have known at a time"""
        for when, ack in reversed(peer.sent_acks):
            for rec in ack.recs if when < before else ():
                if rec.src_qpn == qp.qpn and rec.stream == 0:
                    return rec.cum_psn
        return qp.requests.first

    def watch(packet):
        if packet.kind == DATA and packet.body.stream == 0:
            ahead = packet.body.psn - told(packet.when) & 0xffffffff
            worst["psn"] = max(worst["psn"], ahead if ahead < 1 << 31 else 0)
    peer.net_in = watch
    both_ways(t, dut, qp, t.region())
    used = {packet.body.path for packet in peer.log if packet.kind == DATA}
    require(max(used) < paths, "data on path %d, agreed are %d" % (max(used), paths))
    longest = max(len(packet.raw) for packet in peer.seen(DATA))
    require(longest <= 64 + payload, "a packet of %d bytes, agreed are %d" % (longest, payload))
    require(worst["psn"] < window, "psn %d beyond the first missing one, the window is %d" %
            (worst["psn"], window))
    require(not t.repeats(), "packets sent again: %s" % t.repeats()[:4])
    return longest


def v4_plane(label, first=10):
    """A plane with an address of its own, which nobody has"""
    return codec.Plane(label, 4, bytes(10) + bytes((0xff, 0xff, first, 255, label, 1)))


def offers(t):
    """What of a HELLO is taken, and what is not answered"""
    peer = t.peer
    dut, qp = t.open(paths=2)
    del dut, qp
    cookie = peer.their_cookie

    def ask(**changes):
        peer.forget()
        peer.transmit(peer.hello(**changes), codec.PORT)
        peer.run(0.05, lambda: peer.seen(HELLO_ACK))
        return [packet.body for packet in peer.seen(HELLO_ACK)]

    for text, changes in (
            ("versions 2 to 3", {"ver_min": 2, "ver_max": 3}), ("no paths", {"paths": 0}),
            ("no payload", {"payload": 0}), ("payload 1000", {"payload": 1000}),
            ("no window", {"window": 0}), ("no padding", {"length": 88}),
            ("no connection id", {"scid": 0}),
            ("a plane of no address", {"planes": [v4_plane(0), codec.Plane(1, 4, bytes(16))]}),
            ("a plane of a group's address", {"planes": [v4_plane(0, 224)]})):
        full = [hello for hello in ask(**changes) if not hello.flags & codec.COOKIE_ONLY]
        require(not full, "a HELLO with %s is answered in full" % text)
    answer = ask(cookie=cookie ^ 1)
    require(answer and answer[0].flags & codec.COOKIE_ONLY and len(answer[0].pack()) == 88,
            "a HELLO with a wrong cookie: %s" % answer)
    for text, changes in (
            ("versions 1 to 15", {"ver_max": 15}), ("all features", {"features": 0xffffffff}),
            ("unknown flags", {"flags": 0xfffe}), ("no planes", {"planes": []}),
            ("8 planes", {"planes": [v4_plane(i) for i in range(8)]})):
        answer = ask(**changes)
        require(answer and not answer[0].flags & codec.COOKIE_ONLY, "a HELLO with %s: %s" %
                (text, answer))
        require(answer[0].features == 0 or answer[0].features & 0xffffffff != 0xffffffff,
                "features nobody knows are agreed on: %#x" % answer[0].features)


def slow_acknowledger(t):
    """A peer that acknowledges what asks for it, 2 ms late, and nothing else"""
    dut, qp = t.open(paths=2, timeout=20)
    peer, region = t.peer, t.region()
    asked = set()
    peer.auto_ack = False

    def later(packet):
        if packet.kind == codec.PROBE:
            peer.acknowledge([packet.body.path], probe=packet.body)
        elif packet.kind == DATA and packet.body.flags & codec.ACK_REQ:
            asked.add(packet.body.path)
            peer.at(clock() + 0.002, lambda: peer.acknowledge([packet.body.path]))

    peer.on_packet = later
    both_ways(t, dut, qp, region)
    require(asked, "nothing asked for an ACK")
    require(not t.repeats(), "packets sent again: %s" % t.repeats()[:4])


def no_share(t):
    """The field says nothing in an ACK of version 1."""
    dut, qp = t.open(paths=2, timeout=20)
    t.peer.share_mbps = 0
    both_ways(t, dut, qp, t.region())
    require(not t.repeats(), "with no share packets are sent again: %s" % t.repeats()[:4])


def eager_acknowledger(t):
    """A peer with an ACK for every packet"""
    dut, qp = t.open(paths=2, timeout=20)
    t.peer.each_ack = True
    both_ways(t, dut, qp, t.region())
    require(not t.repeats(), "packets sent again: %s" % t.repeats()[:4])


@row("31", "smaller peers")
def smaller_peers(t):
    for paths, payload, window in ((1, 8192, 4096), (3, 1024, 64), (8, 128, 4096), (2, 256, 16)):
        t.steady(smaller_peer, paths, payload, window)
    offers(t)
    t.steady(no_share)
    t.steady(slow_acknowledger)
    t.steady(eager_acknowledger)
    return "1 to 8 paths, payload from 128, window from 16; odd HELLOs; no share; two ACK policies"


def trimmed(t):
    """Switches that cut packets: what is left of one is dropped, the whole one is still welcome."""
    dut, qp = t.open(paths=2)
    peer, receive = t.peer, t.region(65536)
    blank, key = t.key(), t.key()
    receive.fill(blank)
    dut.recv(receive, 65536, wr_id=6)
    packets = qp.packets(codec.SEND, pattern(key, 20 * 1024))
    numbered = [peer.number(packet, i % 2) for i, packet in enumerate(packets)]
    for i, packet in enumerate(numbered):
        keep = (64, 65, 8, 63, 64 + 512, 40)[i % 6]
        # another class, as switches mark what they have trimmed
        peer.send(packet.pack()[:keep], peer.path(packet.path).sport, (40 + i % 3) << 2 | ECT0)
    since = len(peer.log)
    peer.run(0.03)
    require(receive.differs(blank, 65536) == -1, "part of a trimmed packet was placed")
    told = [packet for packet in peer.log[since:] if packet.kind in (ACK, codec.PROBE_ACK)]
    require(not told and not any(peer.path(packet.path).arrived & {packet.path_seq}
                                 for packet in numbered), "trimmed packets are acknowledged")
    for packet in numbered:
        peer.transmit(packet, peer.path(packet.path).sport, ECT0)
    t.accepted(qp)
    done, = t.completions(dut, 1)
    require(done.length == 20 * 1024 and receive.differs(key, done.length) == -1, "bytes differ")
    # switches may change the class of what they pass whole
    dut.recv(receive, 65536, wr_id=7)
    for packet in qp.packets(codec.SEND, bytes(3000)):
        sent = peer.number(packet, 0)
        peer.send(sent.pack(), peer.path(0).sport, 46 << 2 | ECT0)
    t.accepted(qp)
    t.completions(dut, 1)


def spray_to_device(t):
    dut, qp = t.open(paths=2)
    peer, receive = t.peer, t.region()
    key = t.key()
    dut.recv(receive, receive.length, wr_id=8)
    packets = [peer.number(packet, i % 2)
               for i, packet in enumerate(qp.packets(codec.SEND, pattern(key, 200 * 1024)))]
    shuffled = sorted(range(len(packets)), key=lambda i: i + t.rng.uniform(0, 12))
    for count, i in enumerate(shuffled):
        peer.transmit(packets[i], peer.path(packets[i].path).sport, ECT0)
        if count % 16 == 15:
            peer.run(0.001)
    t.accepted(qp)
    done, = t.completions(dut, 1)
    require(done.length == 200 * 1024 and receive.differs(key, done.length) == -1, "bytes differ")


def spray_of_device(t):
    """Every packet takes 1 to 4 ms, whatever its path: needless repetitions become rare."""
    dut, qp = t.open(paths=2, timeout=20)
    del qp
    peer, region = t.peer, t.region()
    peer.each_ack = True
    peer.net_in = lambda packet: \
        0.001 + t.rng.uniform(0, 0.003) if packet.kind in (DATA, codec.PROBE) else None
    rates = []
    for _ in range(3):
        peer.forget()
        t.flow(dut, region, 24, 1 << 15, depth=4)
        rates.append(len(t.repeats()) / (24 * 32))
    require(rates[-1] <= 0.03, "spurious repetitions by thirds: %s" %
            ", ".join("%.1f %%" % (100 * rate) for rate in rates))
    return rates


@row("32", "odd fabrics")
def odd_fabrics(t):
    t.steady(trimmed)
    t.steady(spray_to_device)
    rates = t.steady(spray_of_device)
    return "trimmed packets dropped in silence; sprayed: right; repetitions by thirds %s" % \
        ", ".join("%.1f %%" % (100 * rate) for rate in rates)
