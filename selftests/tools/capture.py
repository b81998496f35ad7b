# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""mroce packets in a capture file (pcap, Ethernet), for tools that look at what was on the wire.

include/mroce/wire.h has the format.
"""
import collections
import struct

from rawlink import ACK, DATA, PORT, PROBE, PROBE_ACK, UDP

ACK_REQ, RETX = 1, 4
ACK_DELAY_NS = 200000
PARTS_AT, PART_BYTES, REFUSED_BYTES = 24, 44, 32
ENDIAN = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}

# time in ns of the wall clock; payload: of UDP, as far as it was captured
Packet = collections.namedtuple("Packet", "time_ns src dst sport payload")
Part = collections.namedtuple("Part", "path highest delay_ns received")


class Data(collections.namedtuple("Data", "dcid path path_seq dst incarnation psn flags bytes")):
    """What a DATA packet says of itself."""

    @property
    def identity(self):
        """The same for each transmission of it"""
        return self.dcid, self.dst, self.incarnation, self.psn


def seq_diff(a, b):
    """a - b, of 32 bit numbers that wrap"""
    return (a - b + (1 << 31)) % (1 << 32) - (1 << 31)


def records(name):
    """(time in ns, frame) of each packet of the file; one that was cut off at the end is none"""
    with open(name, "rb") as file:
        data = file.read()
    for order in "<>":
        scale = ENDIAN.get(struct.unpack_from(order + "I", data)[0])
        if scale:
            break
    else:
        raise ValueError("%s is no pcap file" % name)
    if struct.unpack_from(order + "I", data, 20)[0] != 1:
        raise ValueError("%s: not Ethernet" % name)
    head, at = struct.Struct(order + "IIII"), 24
    while at + head.size <= len(data):
        seconds, fraction, captured, _ = head.unpack_from(data, at)
        at += head.size
        if at + captured > len(data):
            return
        yield seconds * 1000000000 + fraction * scale, data[at:at + captured]
        at += captured


def packets(name):
    """All mroce packets of a file, in its order"""
    for time_ns, frame in records(name):
        if frame[12:14] == b"\x08\x00" and frame[23] == UDP:
            udp, src, dst = 14 + (frame[14] & 15) * 4, frame[26:30], frame[30:34]
        elif frame[12:14] == b"\x86\xdd" and frame[20] == UDP:
            udp, src, dst = 54, frame[22:38], frame[38:54]
        else:
            continue
        if len(frame) < udp + 16:
            continue
        sport, dport = struct.unpack_from("!HH", frame, udp)
        if dport == PORT:
            yield Packet(time_ns, src, dst, sport, frame[udp + 8:])


def kind(packet):
    """Of the types in rawlink"""
    return packet.payload[0] & 15


def data_of(packet):
    """Data, or None if it is another packet"""
    p = packet.payload
    if p[0] & 15 != DATA or len(p) < 58:
        return None
    flags, dcid, path, _, incarnation, seq, dst, _, psn = struct.unpack_from("!HIBBHIIII", p, 2)
    return Data(dcid, path, seq, dst, incarnation, psn, flags, struct.unpack_from("!H", p, 56)[0])


def numbered(packet):
    """(connection id, path, path_seq) of what has one, else None"""
    p = packet.payload
    if p[0] & 15 not in (DATA, PROBE) or len(p) < 16:
        return None
    return struct.unpack_from("!I", p, 4)[0], p[8], struct.unpack_from("!I", p, 12)[0]


def parts_of(packet):
    """Parts of an ACK or PROBE_ACK; none of another packet"""
    p = packet.payload
    if p[0] & 15 not in (ACK, PROBE_ACK):
        return
    at = PARTS_AT
    for _ in range(p[1]):
        if at + PART_BYTES > len(p):
            return
        path, flags, delay_us, highest, _ = struct.unpack_from("!BBHII", p, at)
        words = struct.unpack_from("!4Q", p, at + 12)
        received = sum(word << 64 * i for i, word in enumerate(words))
        yield Part(path, highest, delay_us * 1000, received)
        at += PART_BYTES + (REFUSED_BYTES if flags & 1 else 0)


def says_received(part, seq):
    """True, False, or None if the part says nothing of it"""
    age = seq_diff(part.highest, seq)
    return bool(part.received >> age & 1) if 0 <= age < 256 else None
