# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Row 1: the bytes."""
import codec
from codec import ACK, DATA, HELLO, HELLO_ACK, PROBE, PROBE_ACK, UNKNOWN, VERSION
from peer import ECT0
from rig import BASE, RKEY, require, row

# A PROBE_ACK is expected after each of our PROBEs; HELLO_ACKs of both kinds are told apart
WANTED = {HELLO, HELLO_ACK, DATA, ACK, PROBE, PROBE_ACK, UNKNOWN}
DUT_OPCODES = set(range(codec.SEND, codec.ATOMIC_RESP + 1))
QUIET_S = 0.03


def requests_of_device(t, dut, qp, region):
    """Every opcode that a verbs program can ask for; READs and atomics are answered."""
    for op in ("send", "send_imm", "write", "write_imm"):
        dut.post(op, region, 3000, imm=0xa1b2c3d4, raddr=BASE, rkey=RKEY)
        t.completions(dut, 1)
    qp.memory[:64] = bytes(range(64))
    dut.post("read", region, 2500, 8192, raddr=BASE, rkey=RKEY)
    t.completions(dut, 1)
    dut.post("cas", region, 8, raddr=BASE + 8, rkey=RKEY, compare_add=1, swap=2)
    t.completions(dut, 1)
    dut.post("faa", region, 8, raddr=BASE + 16, rkey=RKEY, compare_add=1)
    t.completions(dut, 1)
    require(region.read(64, 8192) == bytes(range(64)), "the READ has returned other bytes")


def fetches_of_peer(t, qp, region):
    """The device as responder: READ and atomics"""
    region.fill(7, 4096)
    for opcode, payload, length in ((codec.READ_REQ, b"", 2500), (codec.ATOMIC_FA, bytes(16), 8),
                                    (codec.ATOMIC_CS, bytes(16), 8)):
        packet, = qp.packets(opcode, payload, length=length, addr=region.addr, rkey=region.rkey)
        t.peer.emit(packet)
        number = packet.rsn
        got = t.peer.run(1.0, lambda: sum(map(len, qp.results.get(number, {}).values())) >= length)
        require(got, "no response to %s" % codec.OPCODES[opcode])
        qp.oldest_fetch = number + 1


def exact(t):
    """Each packet of the device, decoded and encoded anew, is the same bytes."""
    kinds, opcodes, cookies = set(), set(), 0
    for packet in t.peer.log:
        require(packet.body, "undecodable: %s" % packet.error)
        again = packet.body.pack()
        require(again == packet.raw, "%r is %s, should be %s" % (
            packet, packet.raw[:96].hex(), again[:96].hex()))
        kinds.add(packet.kind)
        ecn = packet.tos & 3
        require((ecn == ECT0) == (packet.kind in (DATA, PROBE)), "%r with ECN field %d" %
                (packet, ecn))
        if packet.kind == DATA:
            opcodes.add(packet.body.opcode)
        if packet.kind == HELLO_ACK:
            cookies += packet.body.flags & codec.COOKIE_ONLY
    require(kinds == WANTED, "types seen: %s" % sorted(kinds))
    require(opcodes == DUT_OPCODES, "opcodes seen: %s" % sorted(opcodes))
    require(cookies, "no HELLO_ACK with a cookie only")
    return len(t.peer.log)


def provoke(t, dut, qp, region):
    """What the device says by itself only at times: PROBE, UNKNOWN"""
    peer = t.peer
    asked = len(peer.seen(PROBE_ACK))
    ask = codec.Ask(qp.dut_qpn, qp.qpn, qp.incarnation)
    peer.probe(0, [ask])
    require(peer.run(0.5, lambda: len(peer.seen(PROBE_ACK)) > asked), "no answer to a PROBE")
    # nobody's id
    stray = codec.Probe(peer.dcid ^ 0x5a5a5a5a, 0, 1, flags=codec.ACK_REQ)
    peer.send(stray.pack(), peer.path(0).sport, ECT0)
    require(peer.run(0.5, lambda: peer.seen(UNKNOWN)), "no UNKNOWN for an id nobody has")
    require(peer.seen(UNKNOWN)[0].body.bad_cid == stray.dcid, "UNKNOWN about another id")
    # a tail that is lost
    peer.net_in = lambda packet: "drop" if packet.kind == DATA else None
    t.write(dut, region, 100)
    require(peer.run(1.0, lambda: peer.seen(PROBE)), "no PROBE after a lost packet")
    peer.net_in = lambda packet: None
    t.completions(dut, 1)


def short_ones(sample):
    """Every length that is too short, of each type"""
    for kind, header in codec.HEADER.items():
        for length in range(header):
            yield bytes([VERSION << 4 | kind]) + sample[1:length] if length else b""


def wrong_first_bytes(sample):
    for version in range(16):
        if version != VERSION:
            for kind in codec.HEADER:
                yield bytes([version << 4 | kind]) + sample[1:]
    for kind in [kind for kind in range(16) if kind not in codec.CLASSES]:
        yield bytes([VERSION << 4 | kind]) + sample[1:]
    for opcode in [0] + list(range(11, 256)):
        yield sample[:1] + bytes([opcode]) + sample[2:]


def contradictions(sample):
    """A true packet of a WRITE with one field that cannot be"""
    for at, value in ((8, 32), (9, 64), (16, 1), (16, 7), (20, 0), (20, 65), (56, 0xff), (57, 1)):
        changed = bytearray(sample)
        changed[at] = value
        yield bytes(changed)
    yield sample[:-1]
    yield sample + b"\0"
    yield sample[:32] + b"\xff" * 4 + sample[36:]
    yield sample[:40] + b"\xff" * 8 + sample[48:]
    for kind in codec.HEADER:
        ones = bytes([VERSION << 4 | kind, 255]) + b"\xff" * 2 + sample[4:8] + b"\xff" * 200
        yield ones[:codec.HEADER[kind]]
        yield ones


def garbage(t, dut, qp, region):
    """Silently dropped: no answer, no number taken, the connection goes on."""
    peer = t.peer
    key = t.key()
    data = bytes(range(256)) * 4
    packet, = qp.packets(codec.WRITE, data, addr=region.addr, rkey=region.rkey)
    region.fill(key, 1024)
    seq = peer.path(0).take()
    sample = packet.copy(dcid=peer.dcid, path_seq=seq).pack()
    since, sent = len(peer.log), 0
    for raw in list(short_ones(sample)) + list(wrong_first_bytes(sample)) + \
            list(contradictions(sample)):
        peer.send(raw, peer.path(0).sport, ECT0)
        sent += 1
        if sent % 32 == 0:
            peer.run(0.001)
    peer.run(QUIET_S)
    answers = [item for item in peer.log[since:] if item.kind != HELLO]
    require(not answers, "%d answers to %d malformed packets, the first: %r" %
            (len(answers), sent, answers[0] if answers else None))
    require(region.differs(key, 1024) == -1, "a malformed packet was placed")
    require(seq not in peer.path(0).arrived, "a malformed packet is acknowledged")
    # reserved bits and unknown flags are not looked at; the number is still free
    odd = bytearray(packet.copy(dcid=peer.dcid, path_seq=seq, flags=0xfff1).pack())
    odd[58:60] = b"\xff\xff"
    peer.send(bytes(odd), peer.path(0).sport, ECT0)
    t.accepted(qp)
    require(region.read(1024) == data, "a packet with reserved bits was not placed")
    t.write(dut, region, 5000)
    t.completions(dut, 1)
    return sent


@row("1", "codec", whole=True)
def codec_row(t):
    dut, qp = t.open(payload=1024, rd_atomic=4, dest_rd_atomic=4)
    region = t.region()
    receive = t.region(8192)
    dut.recv(receive, 8192)
    requests_of_device(t, dut, qp, region)
    fetches_of_peer(t, qp, region)
    provoke(t, dut, qp, region)
    # the handshake's packets came before: have them again, from another instance
    log = list(t.peer.log)
    dut.destroy()
    t.peer.reset()
    t.peer.paths, t.peer.payload = 4, 1024
    log_start = t.pair()
    require(t.peer.open(), "the connection does not open again")
    # and its own HELLO, which an UNKNOWN provokes
    t.peer.transmit(codec.Unknown(t.peer.scid), codec.PORT)
    require(t.peer.run(1.0, lambda: t.peer.seen(HELLO)), "no HELLO after an UNKNOWN")
    t.peer.run(0.1)
    t.peer.log[:0] = log
    count = exact(t)
    sent = garbage(t, log_start[0], log_start[1], t.region())
    return "%d packets of 7 types and 9 opcodes exact, %d malformed ones dropped in silence" % (
        count, sent)
