# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The wire format, both ways: what include/mroce/wire.h says, as classes.

pack() sends reserved fields as zero; decode() does not look at them, so that
decode(raw).pack() == raw shows that a sender keeps to the format to the last byte.
"""
import os
import struct
import sys
from dataclasses import dataclass, field, replace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
# pylint: disable=wrong-import-position,unused-import
from rawlink import (ACK, COOKIE_ONLY, DATA, DGRAM, HEADER, HELLO, HELLO_ACK, NAMES, PORT,  # noqa
                     PROBE, PROBE_ACK, UNKNOWN, VERSION)

SEND, SEND_IMM, WRITE, WRITE_IMM, READ_REQ, ATOMIC_CS, ATOMIC_FA, READ_RESP, ATOMIC_RESP, \
    SEND_INV = range(1, 11)
OPCODES = {1: "SEND", 2: "SEND_IMM", 3: "WRITE", 4: "WRITE_IMM", 5: "READ_REQ", 6: "ATOMIC_CS",
           7: "ATOMIC_FA", 8: "READ_RESP", 9: "ATOMIC_RESP", 10: "SEND_INV"}
RECEIVES = (SEND, SEND_IMM, WRITE_IMM)
FETCHES = (READ_REQ, ATOMIC_CS, ATOMIC_FA)
RESPONSES = (READ_RESP, ATOMIC_RESP)

ACK_REQ, MORE, RETX, SOLICITED = 1, 2, 4, 8
OK, RNR, BUSY, INV_REQ, ACCESS, OP_ERR, GONE, NO_QP = range(8)
SYNDROMES = ("OK", "RNR", "BUSY", "INV_REQ", "ACCESS", "OP_ERR", "GONE", "NO_QP")
PART_REFUSED = 1
PLANE_DOWN, PLANE_LEAVING = 1, 2

MAX_PATHS = 32
VEC_BITS = 256
VEC_MASK = (1 << VEC_BITS) - 1
WINDOW = 4096
MAX_JUMP = 65536
MAX_PARTS, MAX_RECS = 8, 16
FIRST_SPORT, SPORTS = 49152, 16384

DATA_FORMAT = struct.Struct("!BBHIBBHIIIIIIIQIIHHI")
ACK_FORMAT = struct.Struct("!BBHIIBBHII")
PART_FORMAT = struct.Struct("!BBHII")
REC_FORMAT = struct.Struct("!IIHBBHHIII")
PROBE_FORMAT = struct.Struct("!BBHIBBHIII")
ASK_FORMAT = struct.Struct("!IIHH")
HELLO_FORMAT = struct.Struct("!BBHIBBBBIQQQHHIII16s16s")
PLANE_FORMAT = struct.Struct("!BBHI16s")
UNKNOWN_FORMAT = struct.Struct("!BBHIII")


class DecodeError(Exception):
    """Bytes that are no packet of version 1"""


def before(a, b):
    """Serial arithmetic: a is before b."""
    return (a - b) & 0xffffffff >= 0x80000000


def ver_type(kind):
    return VERSION << 4 | kind


def words(vector):
    """Bit i of a vector is bit i % 64 of word i / 64."""
    return struct.pack("!4Q", *[vector >> 64 * i & (1 << 64) - 1 for i in range(4)])


def vector_of(raw):
    return sum(word << 64 * i for i, word in enumerate(struct.unpack("!4Q", raw)))


@dataclass
class Data:
    """DATA; unit in bytes, imm as the number on the wire"""
    opcode: int
    dst_qpn: int
    src_qpn: int
    psn: int
    msg_psn: int
    msg_len: int
    payload: bytes = b""
    addr: int = 0
    rkey: int = 0
    imm: int = 0
    rsn: int = 0
    oldest: int = 0
    unit: int = 1024
    stream: int = 0
    incarnation: int = 0
    flags: int = 0
    dcid: int = 0
    path: int = 0
    dscp: int = 0
    path_seq: int = 0
    kind = DATA

    def pack(self):
        return DATA_FORMAT.pack(
            ver_type(DATA), self.opcode, self.flags, self.dcid, self.path, self.dscp,
            self.incarnation, self.path_seq, self.stream << 24 | self.dst_qpn,
            self.unit // 128 << 24 | self.src_qpn, self.psn, self.msg_psn, self.msg_len, self.rsn,
            self.addr, self.rkey, self.imm, len(self.payload), 0, self.oldest) + self.payload

    @classmethod
    def decode(cls, raw):
        (_, opcode, flags, dcid, path, dscp, incarnation, path_seq, dst, src, psn, msg_psn, msg_len,
         rsn, addr, rkey, imm, length, _, oldest) = DATA_FORMAT.unpack_from(raw)
        if opcode not in OPCODES:
            raise DecodeError("DATA opcode %d" % opcode)
        if len(raw) != DATA_FORMAT.size + length:
            raise DecodeError("DATA of %d bytes says %d of payload" % (len(raw), length))
        return cls(opcode, dst & 0xffffff, src & 0xffffff, psn, msg_psn, msg_len,
                   raw[DATA_FORMAT.size:], addr, rkey, imm, rsn, oldest, (src >> 24) * 128,
                   dst >> 24, incarnation, flags, dcid, path, dscp, path_seq)

    def copy(self, **changes):
        return replace(self, **changes)

    def __str__(self):
        return "%s path %d seq %#x psn %#x of %#x+%d qpn %#x>%#x stream %d flags %#x %d bytes" % (
            OPCODES[self.opcode], self.path, self.path_seq, self.psn, self.msg_psn, self.msg_len,
            self.src_qpn, self.dst_qpn, self.stream, self.flags, len(self.payload))


@dataclass
class Part:
    """A path part; rcvd and refused are numbers, bit i stands for highest - i"""
    path: int
    highest: int
    rcvd: int = 1
    refused: int = 0
    ce_count: int = 0
    ack_delay_us: int = 0

    def pack(self):
        raw = PART_FORMAT.pack(self.path, PART_REFUSED if self.refused else 0, self.ack_delay_us,
                               self.highest, self.ce_count) + words(self.rcvd)
        return raw + words(self.refused) if self.refused else raw

    def __str__(self):
        return "path %d to %#x %x refused %x ce %d" % (self.path, self.highest, self.rcvd,
                                                      self.refused, self.ce_count)

    def says(self, seq):
        """True: arrived; False: not; None: the vector does not reach there"""
        bit = self.highest - seq & 0xffffffff
        return None if bit >= VEC_BITS else bool(self.rcvd >> bit & 1)

    def refuses(self, seq):
        bit = self.highest - seq & 0xffffffff
        return bit < VEC_BITS and bool(self.refused >> bit & 1)


@dataclass
class Rec:
    """A stream record"""
    dst_qpn: int
    src_qpn: int
    incarnation: int
    cum_psn: int
    stream: int = 0
    syndrome: int = OK
    rnr_timer: int = 0
    refusals: int = 0
    recno: int = 0
    limit_psn: int = 0

    def __str__(self):
        return "qpn %#x stream %d %s psn %#x limit %#x refusals %d no %d" % (
            self.dst_qpn, self.stream, SYNDROMES[self.syndrome], self.cum_psn, self.limit_psn,
            self.refusals, self.recno)

    def pack(self):
        return REC_FORMAT.pack(self.stream << 24 | self.dst_qpn, self.src_qpn, self.incarnation,
                               self.syndrome, self.rnr_timer, self.refusals, 0, self.recno,
                               self.cum_psn, self.limit_psn)


@dataclass
class Ack:
    """ACK or PROBE_ACK"""
    dcid: int
    parts: list = field(default_factory=list)
    recs: list = field(default_factory=list)
    kind: int = ACK
    share_mbps: int = 0
    echo_path: int = 0
    echo_seq: int = 0
    flags: int = 0

    def __str__(self):
        return "%s %s" % (NAMES[self.kind], "; ".join(map(str, self.parts + self.recs)))

    def pack(self):
        return ACK_FORMAT.pack(ver_type(self.kind), len(self.parts), self.flags, self.dcid,
                               self.share_mbps, len(self.recs), self.echo_path, 0, self.echo_seq,
                               0) + b"".join(item.pack() for item in self.parts + self.recs)

    @classmethod
    def decode(cls, raw):
        first, n_parts, flags, dcid, share, n_recs, echo_path, _, echo_seq, _ = \
            ACK_FORMAT.unpack_from(raw)
        ack = cls(dcid, kind=first & 15, share_mbps=share, echo_path=echo_path, echo_seq=echo_seq,
                  flags=flags)
        if n_parts > MAX_PARTS or n_recs > MAX_RECS:
            raise DecodeError("%d parts, %d records" % (n_parts, n_recs))
        at = ACK_FORMAT.size
        try:
            for _ in range(n_parts):
                path, part_flags, delay, highest, ce_count = PART_FORMAT.unpack_from(raw, at)
                if part_flags & ~PART_REFUSED:
                    raise DecodeError("part flags %#x" % part_flags)
                at += PART_FORMAT.size
                part = Part(path, highest, vector_of(raw[at:at + 32]), 0, ce_count, delay)
                at += 32
                if part_flags & PART_REFUSED:
                    part.refused = vector_of(raw[at:at + 32])
                    at += 32
                ack.parts.append(part)
            for _ in range(n_recs):
                dst, src, incarnation, syndrome, timer, refusals, _, recno, cum, limit = \
                    REC_FORMAT.unpack_from(raw, at)
                at += REC_FORMAT.size
                if syndrome > NO_QP or dst >> 24 > 1 or timer > 31:
                    raise DecodeError("record: syndrome %d, stream %d" % (syndrome, dst >> 24))
                ack.recs.append(Rec(dst & 0xffffff, src, incarnation, cum, dst >> 24, syndrome,
                                    timer, refusals, recno, limit))
        except struct.error as error:
            raise DecodeError("ACK of %d bytes is too short" % len(raw)) from error
        if at != len(raw):
            raise DecodeError("%d bytes follow the ACK" % (len(raw) - at))
        return ack


@dataclass
class Ask:
    """A question about a stream"""
    dst_qpn: int
    src_qpn: int
    incarnation: int
    for_life: int = 0
    stream: int = 0

    def pack(self):
        return ASK_FORMAT.pack(self.stream << 24 | self.dst_qpn, self.src_qpn, self.incarnation,
                               self.for_life)


@dataclass
class Probe:
    """PROBE"""
    dcid: int
    path: int
    path_seq: int
    asks: list = field(default_factory=list)
    dscp: int = 0
    flags: int = 0
    pad_bytes: int = 0
    kind = PROBE

    def pack(self):
        return PROBE_FORMAT.pack(ver_type(PROBE), len(self.asks), self.flags, self.dcid, self.path,
                                 self.dscp, 0, self.path_seq, self.pad_bytes, 0) + \
            b"".join(ask.pack() for ask in self.asks) + bytes(self.pad_bytes)

    @classmethod
    def decode(cls, raw):
        _, n_asks, flags, dcid, path, dscp, _, path_seq, pad_bytes, _ = \
            PROBE_FORMAT.unpack_from(raw)
        if len(raw) != PROBE_FORMAT.size + n_asks * ASK_FORMAT.size + pad_bytes:
            raise DecodeError("PROBE of %d bytes: %d asks, %d padding" %
                              (len(raw), n_asks, pad_bytes))
        probe = cls(dcid, path, path_seq, dscp=dscp, flags=flags, pad_bytes=pad_bytes)
        for i in range(n_asks):
            dst, src, incarnation, for_life = \
                ASK_FORMAT.unpack_from(raw, PROBE_FORMAT.size + i * ASK_FORMAT.size)
            probe.asks.append(Ask(dst & 0xffffff, src, incarnation, for_life, dst >> 24))
        return probe


@dataclass
class Plane:
    """One address of a HELLO"""
    label: int
    family: int
    addr: bytes
    speed_mbps: int = 0
    flags: int = 0

    def pack(self):
        return PLANE_FORMAT.pack(self.label, self.family, self.flags, self.speed_mbps, self.addr)


@dataclass
class Hello:
    """HELLO or HELLO_ACK; length = bytes in all, padding fills what is missing"""
    kind: int = HELLO
    flags: int = 0
    dcid: int = 0
    ver_min: int = VERSION
    ver_max: int = VERSION
    dscp: int = 0
    paths: int = 8
    scid: int = 0
    nonce: int = 0
    peer_nonce: int = 0
    cookie: int = 0
    payload: int = 8192
    window: int = WINDOW
    features: int = 0
    src_gid: bytes = bytes(16)
    dst_gid: bytes = bytes(16)
    planes: list = field(default_factory=list)
    length: int = 0
    planes_no: int = 0

    def pack(self):
        fixed = HELLO_FORMAT.size + PLANE_FORMAT.size * len(self.planes)
        pad = max(0, self.length - fixed)
        head = HELLO_FORMAT.pack(
            ver_type(self.kind), len(self.planes), self.flags, self.dcid, self.ver_min,
            self.ver_max, self.dscp, self.paths, self.scid, self.nonce, self.peer_nonce,
            self.cookie, self.payload, self.planes_no, self.window, self.features, pad,
            self.src_gid, self.dst_gid)
        return head + b"".join(plane.pack() for plane in self.planes) + bytes(pad)

    @classmethod
    def decode(cls, raw):
        (first, n_planes, flags, dcid, ver_min, ver_max, dscp, paths, scid, nonce, peer_nonce,
         cookie, payload, planes_no, window, features, pad, src_gid,
         dst_gid) = HELLO_FORMAT.unpack_from(raw)
        at = HELLO_FORMAT.size
        if n_planes > 8 or len(raw) != at + n_planes * PLANE_FORMAT.size + pad:
            raise DecodeError("HELLO of %d bytes: %d planes, %d padding" %
                              (len(raw), n_planes, pad))
        hello = cls(first & 15, flags, dcid, ver_min, ver_max, dscp, paths, scid, nonce, peer_nonce,
                    cookie, payload, window, features, src_gid, dst_gid, [], len(raw),
                    planes_no)
        for i in range(n_planes):
            label, family, plane_flags, speed, addr = PLANE_FORMAT.unpack_from(raw, at + 24 * i)
            hello.planes.append(Plane(label, family, addr, speed, plane_flags))
        return hello


@dataclass
class Unknown:
    """UNKNOWN"""
    bad_cid: int
    kind = UNKNOWN

    def pack(self):
        return UNKNOWN_FORMAT.pack(ver_type(UNKNOWN), 0, 0, 0, self.bad_cid, 0)

    @classmethod
    def decode(cls, raw):
        if len(raw) != UNKNOWN_FORMAT.size:
            raise DecodeError("UNKNOWN of %d bytes" % len(raw))
        return cls(UNKNOWN_FORMAT.unpack(raw)[4])


CLASSES = {HELLO: Hello, HELLO_ACK: Hello, DATA: Data, ACK: Ack, PROBE_ACK: Ack, PROBE: Probe,
           UNKNOWN: Unknown}


def decode(raw):
    """The packet in these bytes; DecodeError if there is none."""
    if len(raw) < 8 or raw[0] >> 4 != VERSION:
        raise DecodeError("%d bytes that begin with %s" % (len(raw), raw[:4].hex()))
    kind = raw[0] & 15
    if kind not in CLASSES:
        raise DecodeError("type %d" % kind)
    if len(raw) < HEADER[kind]:
        raise DecodeError("%s of %d bytes" % (NAMES[kind], len(raw)))
    return CLASSES[kind].decode(raw)
