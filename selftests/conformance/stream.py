# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The peer's queue pairs: numbering of what it sends, acceptance of what it gets."""
import random
import struct

import codec

REPEAT = 3		# a record rides in so many ACKs


class RxStream:
    """Receiving end of a stream"""

    def __init__(self, psn):
        self.first = self.cum = psn
        self.got = set()
        self.incarnation = None
        self.recno = self.refusals = self.repeat = 0
        self.syndrome, self.rnr_timer, self.limit = codec.OK, 0, None

    def take(self, psn):
        """Return: whether it is new"""
        if codec.before(psn, self.cum) or psn in self.got:
            return False
        self.got.add(psn)
        while self.cum in self.got:
            self.got.discard(self.cum)
            self.cum = self.cum + 1 & 0xffffffff
        return True

    def touch(self):
        self.recno += 1
        self.repeat = REPEAT


class Qp:
    """One of the peer's queue pairs, connected to one of the device"""

    def __init__(self, peer, qpn, dut_qpn, psn, dut_psn, window=codec.WINDOW):
        self.peer, self.qpn, self.dut_qpn = peer, qpn, dut_qpn
        self.incarnation = random.SystemRandom().randrange(1, 65536)
        # what we ask for, and the answers to it
        self.first_psn = self.next_psn = self.next_resp_psn = psn
        self.next_rsn = self.next_fetch = 0
        self.oldest_fetch = 0		# a row that fetches counts what is complete
        self.responses = RxStream(psn)
        self.results = {}
        # what the device asks for
        self.requests = RxStream(dut_psn)
        self.window = window
        self.arrivals = []		# (time, Data) of everything the network has let through
        self.base, self.memory = 0, bytearray()
        self.receives = {}		# receive number: bytes of a SEND
        self.fetched = []
        self.verdict = lambda data: "accept"
        self.records = []		# (time, Rec) the device has sent about our requests

    # ---- as requester ----
    def packets(self, opcode, data=b"", *, length=None, addr=0, rkey=0, imm=0, flags=0, unit=None):
        """Number a message. Return: its packets, to be sent in any order. The last asks."""
        unit = unit or self.peer.payload
        length = len(data) if length is None else length
        fetch = opcode in codec.FETCHES
        count = 1 if fetch else max(1, -(-length // unit))
        first, self.next_psn = self.next_psn, self.next_psn + count & 0xffffffff
        rsn = 0
        if opcode in codec.RECEIVES:
            rsn, self.next_rsn = self.next_rsn, self.next_rsn + 1
        if fetch:
            rsn, self.next_fetch = self.next_fetch, self.next_fetch + 1
            imm, self.next_resp_psn = self.next_resp_psn, \
                self.next_resp_psn + max(1, -(-length // unit)) & 0xffffffff
        result = []
        for i in range(count):
            piece = data if fetch else data[i * unit:(i + 1) * unit]
            at = i * unit + (0 if opcode in (codec.SEND, codec.SEND_IMM) else addr)
            last = codec.ACK_REQ if i == count - 1 else 0
            result.append(codec.Data(
                opcode, self.dut_qpn, self.qpn, first + i & 0xffffffff, first, length, piece, at,
                rkey, imm, rsn, self.oldest_fetch, unit, 0, self.incarnation, flags | last))
        return result

    # ---- what arrives ----
    def arrive(self, when, data):
        """Return: whether it is refused"""
        self.arrivals.append((when, data))
        stream = self.responses if data.stream else self.requests
        if stream.incarnation is None:
            stream.incarnation = data.incarnation
        if data.stream == 0 and self.verdict(data) != "accept":
            stream.touch()
            return self.verdict(data) == "refuse"
        if stream.take(data.psn):
            if data.stream:
                self.results.setdefault(data.rsn, {})[data.addr] = data.payload
            else:
                self.place(data)
        stream.touch()
        return False

    def place(self, data):
        if data.opcode in (codec.SEND, codec.SEND_IMM):
            buffer = self.receives.setdefault(data.rsn, bytearray(data.msg_len))
            buffer[data.addr:data.addr + len(data.payload)] = data.payload
        elif data.opcode in (codec.WRITE, codec.WRITE_IMM):
            at = data.addr - self.base
            if 0 <= at <= len(self.memory) - len(data.payload):
                self.memory[at:at + len(data.payload)] = data.payload
            if data.opcode == codec.WRITE_IMM:
                self.receives.setdefault(data.rsn, bytearray())
        else:
            self.fetched.append(data)

    def serve(self):
        """Answer fetches whose turn it is. Return: packets of responses."""
        out = []
        while self.fetched and codec.before(self.fetched[0].psn, self.requests.cum):
            request = self.fetched.pop(0)
            at = request.addr - self.base
            if request.opcode == codec.READ_REQ:
                out += self.read_response(request, bytes(self.memory[at:at + request.msg_len]))
                continue
            old, = struct.unpack_from("=Q", self.memory, at)
            first, second = struct.unpack("!QQ", request.payload)
            new = old + first & (1 << 64) - 1 if request.opcode == codec.ATOMIC_FA else \
                second if old == first else old
            struct.pack_into("=Q", self.memory, at, new)
            out.append(self.response(request, codec.ATOMIC_RESP, 8, 0, struct.pack("!Q", old)))
        return out

    def response(self, request, opcode, length, index, payload):
        return codec.Data(opcode, self.dut_qpn, self.qpn, request.imm + index & 0xffffffff,
                          request.imm, length, payload, index * request.unit, request.incarnation,
                          0, request.rsn, 0, request.unit, 1, self.incarnation, codec.ACK_REQ)

    def read_response(self, request, data):
        unit = request.unit
        return [self.response(request, codec.READ_RESP, len(data), i, data[i * unit:(i + 1) * unit])
                for i in range(max(1, -(-len(data) // unit)))]

    # ---- records ----
    def record(self, number):
        """The record of a stream the device sends: 0 its requests, 1 its responses"""
        stream = self.responses if number else self.requests
        limit = stream.cum + self.window if stream.limit is None else stream.limit
        return codec.Rec(self.dut_qpn, self.qpn, stream.incarnation or 0, stream.cum, number,
                         stream.syndrome, stream.rnr_timer, stream.refusals & 0xffff, stream.recno,
                         limit & 0xffffffff)

    def due_records(self):
        out = []
        for number, stream in enumerate((self.requests, self.responses)):
            if stream.repeat and stream.incarnation is not None:
                stream.repeat -= 1
                out.append(self.record(number))
        return out

    def accepted(self):
        """Cumulative psn of our requests by the newest record, and its syndrome"""
        own = [rec for _, rec in self.records if rec.stream == 0]
        return (own[-1].cum_psn, own[-1].syndrome) if own else (self.first_psn, codec.OK)

    def copies(self, psn):
        """Times at which a packet of the device's requests has arrived"""
        return [when for when, data in self.arrivals if data.stream == 0 and data.psn == psn]
