# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Whole frames on an interface: what passes, and what never was sent.

For tools that forge packets; include/mroce/wire.h has the format of what is in them.
"""
import ctypes
import select
import socket
import struct
import time

PORT = 4799
VERSION = 1
HELLO, HELLO_ACK, DATA, ACK, PROBE, PROBE_ACK, DGRAM, UNKNOWN = range(1, 9)
NAMES = {1: "HELLO", 2: "HELLO_ACK", 3: "DATA", 4: "ACK", 5: "PROBE", 6: "PROBE_ACK",
         7: "DGRAM", 8: "UNKNOWN"}
HEADER = {1: 88, 2: 88, 3: 64, 4: 24, 5: 24, 6: 24, 7: 8, 8: 16}
COOKIE_ONLY = 1
# Nobody else sends with it: so a tap tells forged packets from true ones
FORGED_TTL = 63
OUTGOING = 4
SO_ATTACH_FILTER = 26
UDP = 17


def checksum(data):
    """Of RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


class Packet:
    """An mroce datagram with all of its addresses; src and dst are 4 or 16 bytes."""

    def __init__(self, macs, src, dst, sport, payload, outgoing=True):
        self.macs, self.src, self.dst, self.sport = macs, src, dst, sport
        self.payload, self.outgoing = payload, outgoing

    @property
    def kind(self):
        return self.payload[0] & 15 if self.payload else 0

    def frame(self, bad_checksum=False):
        udp = struct.pack("!HHHH", self.sport, PORT, 8 + len(self.payload), 0) + self.payload
        if len(self.src) == 4:
            pseudo = self.src + self.dst + struct.pack("!BBH", 0, UDP, len(udp))
            ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0x4000, FORGED_TTL, UDP, 0) + \
                self.src + self.dst
            ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
            ether = b"\x08\x00"
        else:
            pseudo = self.src + self.dst + struct.pack("!IHBB", len(udp), 0, 0, UDP)
            ip = struct.pack("!IHBB", 6 << 28, len(udp), UDP, FORGED_TTL) + self.src + self.dst
            ether = b"\x86\xdd"
        total = checksum(pseudo + udp) or 0xffff
        if bad_checksum:
            total ^= 0x1234
        return self.macs + ether + ip + udp[:6] + struct.pack("!H", total) + udp[8:]


def parse(frame, outgoing):
    """A true mroce datagram, or None."""
    kind = frame[12:14]
    if kind == b"\x08\x00":
        ip_bytes, protocol, ttl = (frame[14] & 15) * 4, frame[23], frame[22]
        src, dst = frame[26:30], frame[30:34]
    elif kind == b"\x86\xdd":
        ip_bytes, protocol, ttl = 40, frame[20], frame[21]
        src, dst = frame[22:38], frame[38:54]
    else:
        return None
    udp = frame[14 + ip_bytes:]
    if protocol != UDP or ttl == FORGED_TTL or len(udp) < 9 or \
            struct.unpack("!H", udp[2:4])[0] != PORT:
        return None
    sport, _, length = struct.unpack("!HHH", udp[:6])
    return Packet(frame[:12], src, dst, sport, udp[8:length], outgoing)


class Link:
    """Tap and injector on one interface."""

    def __init__(self, interface):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.sock.bind((interface, 0))
        self.sent = self.refused = 0

    def only(self, src, dst):
        """Tap nothing else from now on: a reader in Python falls behind a connection at work.
        Addresses of IPv4. The filter: Documentation/networking/filter.rst in the kernel."""
        load_u16, load_u32, equal, end = 0x28, 0x20, 0x15, 0x06
        code = ((load_u16, 0, 0, 12), (equal, 0, 5, 0x0800),
                (load_u32, 0, 0, 26), (equal, 0, 3, int.from_bytes(src, "big")),
                (load_u32, 0, 0, 30), (equal, 0, 1, int.from_bytes(dst, "big")),
                (end, 0, 0, 65535), (end, 0, 0, 0))
        lines = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                             struct.pack("@HP", len(code), ctypes.addressof(lines)))
        # what was there before
        self.sock.setblocking(False)
        try:
            while True:
                self.sock.recv(1)
        except BlockingIOError:
            self.sock.setblocking(True)

    def send(self, packet, bad_checksum=False):
        self.send_frame(packet.frame(bad_checksum))

    def send_frame(self, frame):
        try:
            self.sock.send(frame)
            self.sent += 1
        except OSError:
            # too long for the link, or its queue is full
            self.refused += 1

    def receive(self, limit_s):
        """The next true mroce packet, or None after the time."""
        end = time.monotonic() + limit_s
        while True:
            if not select.select([self.sock], [], [], max(0, end - time.monotonic()))[0]:
                return None
            frame, address = self.sock.recvfrom(65535)
            packet = parse(frame, address[2] == OUTGOING)
            if packet:
                return packet
            if time.monotonic() > end:
                return None


def address(text):
    """4 or 16 bytes"""
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def mac(text):
    return bytes(int(part, 16) for part in text.split(":"))


def hello(kind=HELLO, *, flags=0, dcid=0, dscp=0, scid=1, nonce=1, peer_nonce=0, cookie=0,
          payload=8192, paths=8, window=4096, length=88, gids=bytes(32)):
    """A HELLO or HELLO_ACK between two GIDs, or else the packet's addresses, without planes, of
    that many bytes"""
    return struct.pack("!BBHIBBBBIQQQHHIII", VERSION << 4 | kind, 0, flags, dcid, 1, 1, dscp, paths,
                       scid, nonce, peer_nonce, cookie, payload, 0, window, 0,
                       length - 88) + gids + bytes(length - 88)
