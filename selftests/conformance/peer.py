# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The scripted peer: one side of a connection, as well-behaved as a row lets it be.

It answers what the protocol wants answered. A row bends that: net_in and net_out stand
for the network (drop, delay), auto_ack off leaves acknowledging to the row, mute is a
peer that is not there. Times are those of the kernel's receive stamps (CLOCK_REALTIME,
seconds), so a verdict does not depend on when Python came round to a packet.

Where it has several addresses each is a plane, with sockets of its own. A connection has
the first one only, unless a row says n_planes. What came by a plane is answered there.
"""
import array
import collections
import heapq
import itertools
import random
import select
import socket
import struct
import time

import codec
from codec import ACK, DATA, HELLO, HELLO_ACK, NAMES, PORT, PROBE, PROBE_ACK, UNKNOWN

DROP = "drop"
SO_TIMESTAMPNS, SO_RCVBUFFORCE, IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, PMTUDISC_DO = 35, 33, 10, 23, 2
UDP_SEGMENT = 103
ECT0, CE = 2, 3
ACK_DELAY_S = 0.0002
PTO_MIN_S = 0.001
RTTVAR_MIN_S = 0.00001
BACK_REPEAT_S = 0.2
TICK_S = 0.001
PAUSE_S = 0.003


def clock():
    return time.clock_gettime(time.CLOCK_REALTIME)


class Packet:
    """A datagram of the device: when, from which source port, with which TOS, on which plane"""

    def __init__(self, when, sport, tos, raw, plane=0):
        self.when, self.sport, self.tos, self.raw, self.plane = when, sport, tos, raw, plane
        try:
            self.body, self.error = codec.decode(raw), None
        except codec.DecodeError as error:
            self.body, self.error = None, str(error)

    @property
    def kind(self):
        return self.body.kind if self.body else 0

    def __repr__(self):
        return "%s of %d bytes" % (NAMES.get(self.kind, "garbage"), len(self.raw))


class RoundTrip:
    """What the device knows of a path's round trip: RFC 6298, fed with our answers"""

    def __init__(self):
        self.srtt = self.rttvar = 0.0

    def sample(self, rtt):
        if not self.srtt:
            self.srtt, self.rttvar = rtt, max(rtt / 2, RTTVAR_MIN_S)
            return
        self.rttvar = max(self.rttvar * 3 / 4 + abs(rtt - self.srtt) / 4, RTTVAR_MIN_S)
        self.srtt += (rtt - self.srtt) / 8

    def pto(self):
        """After so long without an answer a busy path is probed."""
        return max(2 * self.srtt + 4 * self.rttvar + ACK_DELAY_S, PTO_MIN_S)


class RxPath:
    """A path of the device: which of its numbers have arrived"""

    def __init__(self):
        self.first = self.highest = None
        self.rcvd = self.refused = self.ce_count = 0
        self.when = self.sport = None
        self.news = False
        self.rtt = RoundTrip()
        self.sampled = None
        self.reported = None		# highest number in an ACK that was sent
        self.back = None		# our port for its ACKs
        self.probed = None
        self.plane = 0			# by which its last packet came

    def mark(self, seq, refused=False, ce=False, when=None):
        """Return: whether the number is new; None: it is no number of this window."""
        self.news = True
        if self.highest is None or codec.before(self.highest, seq):
            ahead = 0 if self.highest is None else seq - self.highest & 0xffffffff
            self.rcvd = (self.rcvd << ahead | 1) & codec.VEC_MASK
            self.refused = self.refused << ahead & codec.VEC_MASK
            self.highest, self.when = seq, when
            self.first = seq if self.first is None else self.first
        else:
            bit = self.highest - seq & 0xffffffff
            if bit >= codec.VEC_BITS:
                return None
            if self.rcvd >> bit & 1:
                return False
            self.rcvd |= 1 << bit
        if refused:
            self.refused |= 1 << (self.highest - seq & 0xffffffff)
        self.ce_count += ce
        return True

    def part(self, path):
        return codec.Part(path, self.highest, self.rcvd, self.refused, self.ce_count)


class TxPath:
    """A path of ours: what was numbered, what the device says of it"""

    def __init__(self, rng, taken):
        self.next_seq = rng.getrandbits(32)
        self.sport = rng.choice([port for port in range(codec.FIRST_SPORT, codec.FIRST_SPORT +
                                                        codec.SPORTS, 7) if port not in taken])
        self.arrived, self.refused = set(), set()
        self.parts = []			# (time, Part)
        self.sent = {}			# number: time

    def take(self):
        seq = self.next_seq
        self.next_seq = seq + 1 & 0xffffffff
        self.sent[seq] = clock()
        return seq

    def told(self, when, part):
        self.parts.append((when, part))
        for vector, numbers in ((part.rcvd, self.arrived), (part.refused, self.refused)):
            while vector:
                bit = vector.bit_length() - 1
                numbers.add(part.highest - bit & 0xffffffff)
                vector ^= 1 << bit


class Peer:
    """One instance: a socket for each plane, one connection, its queue pairs"""

    def __init__(self, local, dut, seed=1, interface=None):
        """Addresses of the planes, ours and the device's, and our interfaces, if they matter"""
        self.local, self.dut, self.interface = local, dut, interface or [None] * len(local)
        self.v6 = ":" in local[0]
        self.family = socket.AF_INET6 if self.v6 else socket.AF_INET
        self.rng = random.Random(seed)	# of what a row draws
        self.socks = [self.open_socket(PORT, plane) for plane in range(len(local))]
        for sock in self.socks:
            sock.setblocking(False)
        self.senders = {}
        self.timers, self.order = [], itertools.count()
        self.agent = None
        self.trace = None		# of packets both ways, if it is a list
        self.errors = []		# of packets that are none, in all instances
        self.now = clock()		# when we have last looked
        self.late = 0.0			# how much later than planned we were, at worst,
        self.late_all = 0.0		# and each time together
        self.pauses = []		# (from, to), of the longer ones
        self.reset()

    def reset(self):
        """A new instance of the peer: what it was is forgotten."""
        # never what an earlier instance had, whatever the seed
        rng = random.SystemRandom()
        self.scid, self.nonce = rng.randrange(1, 1 << 32), rng.randrange(1, 1 << 64)
        self.cookie_key = rng.randrange(1, 1 << 64)
        self.paths, self.payload, self.window = 4, 1024, codec.WINDOW
        self.ver_min = self.ver_max = codec.VERSION
        self.features, self.planes = 0, None
        self.n_planes, self.planes_no, self.plane_flags = 1, 0, {}
        self.dcid = self.dut_nonce = self.their_cookie = 0
        self.agreed = self.dut_hello = None
        self.rx = {}
        self.most_rtt = {}		# of each plane, of late
        self.tx = {}
        self.qps = {}
        self.forget()
        self.sent_acks = []		# (time, Ack)
        self.auto_ack, self.each_ack, self.mute = True, False, False
        self.delay = 0.0
        self.net_in = lambda packet: None
        self.net_out = lambda kind, body, sport, plane: None
        self.on_packet = None
        self.share_mbps = 0
        self.max_span = 0
        self.timers.clear()

    # ---- sockets ----
    def open_socket(self, port, plane):
        sock = socket.socket(self.family, socket.SOCK_DGRAM)
        if self.interface[plane]:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE,
                            self.interface[plane].encode())
        sock.bind((self.local[plane], port))
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        try:
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        except OSError:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        if self.v6:
            sock.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_DO)
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
        else:
            sock.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DO)
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        return sock

    def sender(self, sport, plane):
        if sport == PORT:
            return self.socks[plane]
        if (sport, plane) not in self.senders:
            if len(self.senders) > 200:
                self.senders.popitem()[1].close()
            self.senders[sport, plane] = self.open_socket(sport, plane)
        return self.senders[sport, plane]

    def free_port(self):
        taken = {path.sport for path in self.tx.values()} | {path.back for path in self.rx.values()}
        while True:
            port = codec.FIRST_SPORT + self.rng.randrange(codec.SPORTS)
            if port not in taken:
                return port

    def send(self, raw, sport, tos=0, segment=0, plane=0):
        """Bytes to the device, from a source port"""
        level, kind = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if self.v6 else \
            (socket.IPPROTO_IP, socket.IP_TOS)
        control = [(level, kind, struct.pack("i", tos))]
        if segment:
            control.append((socket.IPPROTO_UDP, UDP_SEGMENT, struct.pack("H", segment)))
        self.sender(sport, plane).sendmsg([raw], control, 0, (self.dut[plane], PORT))

    def transmit(self, body, sport, tos=0, plane=0):
        """A packet, through the network that the row has made"""
        lost = self.mute or self.net_out(body.kind, body, sport, plane) == DROP
        if self.trace is not None:
            self.trace.append((self.now, ">x" if lost else "> ", sport, body))
        if lost:
            return False
        try:
            self.send(body.pack(), sport, tos, 0, plane)
        except OSError:
            if not plane:
                raise
            return False		# its interface is down
        return True

    # ---- the loop ----
    def was_late(self, planned, now):
        """Something was to be done at that time, and is done now."""
        self.late = max(self.late, now - planned)
        self.late_all += max(0.0, now - planned)
        if now - planned < PAUSE_S:
            return
        while self.pauses and self.pauses[-1][1] >= planned:
            planned = min(planned, self.pauses.pop()[0])
        self.pauses.append((planned, now))

    def at(self, when, action):
        heapq.heappush(self.timers, (when, next(self.order), action))

    def read_socket(self, plane, limit=64):
        for _ in range(limit):
            try:
                raw, control, _, source = self.socks[plane].recvmsg(65536, 256)
            except BlockingIOError:
                return
            except OSError:
                if not plane:
                    raise
                continue		# its interface has gone down
            when, tos = self.now, 0
            for level, kind, value in control:
                if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                    seconds, nanoseconds = struct.unpack("qq", value[:16])
                    when = seconds + nanoseconds / 1e9
                elif level in (socket.IPPROTO_IP, socket.IPPROTO_IPV6):
                    tos = array.array("B", value)[0]
            if source[0] == self.dut[plane]:
                self.network(Packet(when, source[1], tos, raw, plane))

    def step(self, until):
        """Deal with what is due; wait for a packet, but not beyond the time. Return: the time.

        To ask for it is a system call, which takes long in some guests: no more than needed.
        """
        now = self.now = clock()
        while self.timers and self.timers[0][0] <= now:
            when, _, action = heapq.heappop(self.timers)
            self.was_late(when, now)
            action()
            now = self.now = clock()
        self.flush_acks()
        # often, so that a pause of the whole machine is noticed
        wake = min([until, now + TICK_S] + [timer[0] for timer in self.timers[:1]])
        readers = self.socks + ([self.agent] if self.agent else [])
        ready = select.select(readers, [], [], max(0.0, wake - now))[0]
        self.now = clock()
        # a pause, whether or not a packet has come in it
        self.was_late(wake, self.now)
        if not ready:
            return self.now
        for plane, sock in enumerate(self.socks):
            if sock in ready:
                self.read_socket(plane)
        self.flush_acks()
        if self.agent in ready:
            self.agent.read()
        return self.now

    def run(self, seconds, until=None):
        """Return: whether until() came true within the time (without it: True)."""
        now = clock()
        end = now + seconds
        while not (until and until()):
            if now >= end:
                return not until
            now = self.step(end)
        return True

    def pump(self, seconds):
        """For the agent: go on until it has answered."""
        self.run(seconds, self.agent.ready)

    # ---- arrival ----
    def network(self, packet):
        self.log.append(packet)
        self.count[packet.kind] += 1
        if packet.error:
            self.errors.append(packet.error)
        if packet.kind in (DATA, PROBE):
            self.watch_span(packet.body)
        fate = self.net_in(packet)
        if self.trace is not None:
            self.trace.append((packet.when, "<x" if fate == DROP else "< ", packet.sport,
                               packet.body or packet.error))
        if fate == DROP:
            return
        delay = self.delay if fate is None else fate
        if delay:
            self.at(packet.when + delay, lambda: self.deliver(packet))
        else:
            self.was_late(packet.when, self.now)
            self.deliver(packet)

    def watch_span(self, body):
        """How far beyond what we have told it the device goes"""
        path = self.rx.setdefault(body.path, RxPath())
        if path.reported is None:
            path.reported = body.path_seq - 1 & 0xffffffff
        ahead = body.path_seq - path.reported & 0xffffffff
        if ahead < 1 << 31:
            self.max_span = max(self.max_span, ahead)

    def deliver(self, packet):
        if self.mute or not packet.body:
            return
        body = packet.body
        if packet.kind == HELLO:
            self.on_hello(body, packet)
        elif packet.kind == HELLO_ACK:
            self.on_hello_ack(body)
        elif packet.kind != UNKNOWN and body.dcid != self.scid:
            return
        elif packet.kind == DATA:
            self.on_data(packet, body)
        elif packet.kind == PROBE:
            self.on_probe(packet, body)
        elif packet.kind in (ACK, PROBE_ACK):
            self.on_ack(packet, body)
        if self.on_packet:
            self.on_packet(packet)

    def numbered(self, packet, body):
        """A packet with a number: its path; which port its acknowledgements take"""
        path = self.rx.setdefault(body.path, RxPath())
        again = packet.kind == PROBE and path.probed is not None and \
            packet.when - path.probed < BACK_REPEAT_S
        if path.back is None or again or path.sport not in (None, packet.sport):
            path.back = self.free_port()
        path.probed = packet.when if packet.kind == PROBE else None
        path.sport, path.plane = packet.sport, packet.plane
        return path

    def on_data(self, packet, body):
        path = self.numbered(packet, body)
        qp = self.qps.get(body.dst_qpn)
        refused = qp.arrive(packet.when, body) if qp else False
        path.mark(body.path_seq, refused, packet.tos & 3 == CE, packet.when)
        if qp:
            for response in qp.serve():
                self.emit(response, 0)
        if self.each_ack:
            self.flush_acks()

    def on_probe(self, packet, body):
        path = self.numbered(packet, body)
        path.mark(body.path_seq, False, packet.tos & 3 == CE, packet.when)
        for ask in body.asks:
            qp = self.qps.get(ask.dst_qpn)
            if qp and ask.src_qpn == qp.dut_qpn:
                (qp.responses if ask.stream else qp.requests).touch()
        if self.auto_ack:
            self.acknowledge([body.path], probe=body)

    def on_ack(self, packet, body):
        for part in body.parts:
            if part.path in self.tx:
                self.tx[part.path].told(packet.when, part)
        for rec in body.recs:
            for qp in self.qps.values():
                if (qp.dut_qpn, qp.qpn) == (rec.src_qpn, rec.dst_qpn):
                    qp.records.append((packet.when, rec))

    # ---- acknowledging ----
    def flush_acks(self):
        if not self.auto_ack:
            return
        for number in [number for number, path in self.rx.items() if path.news and path.highest
                       is not None]:
            if self.rx[number].news:
                self.acknowledge([number])

    def acknowledge(self, first, probe=None, recs=True):
        """An ACK that begins with these paths; others with news ride along."""
        numbers = list(first)
        numbers += [number for number, path in self.rx.items()
                    if path.news and path.highest is not None and number not in numbers]
        ack = codec.Ack(self.dcid, kind=PROBE_ACK if probe else ACK, share_mbps=self.share_mbps)
        if probe:
            ack.echo_path, ack.echo_seq = probe.path, probe.path_seq
        for number in numbers[:codec.MAX_PARTS]:
            ack.parts.append(self.rx[number].part(number))
            self.rx[number].news = False
        if recs:
            ack.recs = [rec for qp in self.qps.values() for rec in qp.due_records()]
            ack.recs = ack.recs[:codec.MAX_RECS]
        return self.send_ack(ack, self.rx[first[0]].back or PORT, self.rx[first[0]].plane)

    def send_ack(self, ack, sport, plane=0):
        now = clock()
        if not self.transmit(ack, sport, 0, plane):
            return None
        self.sent_acks.append((now, ack))
        for part in ack.parts:
            path = self.rx.setdefault(part.path, RxPath())
            if path.sampled != part.highest and path.when and part.highest == path.highest:
                rtt = max(now - path.when, 1e-5)
                most = self.most_rtt.get(plane, 0.0)
                self.most_rtt[plane] = max(rtt, most - (most - rtt) / 8)
                path.rtt.sample(rtt)
                path.sampled = part.highest
            path.reported = part.highest
        return now

    # ---- sending ----
    def path(self, number):
        if number not in self.tx:
            self.tx[number] = TxPath(self.rng, {path.sport for path in self.tx.values()})
        return self.tx[number]

    def number(self, data, path):
        """The packet as it goes on that path: with the path's next number"""
        return data.copy(path=path, path_seq=self.path(path).take(), dcid=self.dcid)

    def emit(self, data, path=0, tos=ECT0):
        """Number a packet and send it. Return: what was sent."""
        sent = self.number(data, path)
        self.transmit(sent, self.path(path).sport, tos)
        return sent

    def probe(self, path=0, asks=()):
        probe = codec.Probe(self.dcid, path, self.path(path).take(), list(asks),
                            flags=codec.ACK_REQ)
        self.transmit(probe, self.path(path).sport, ECT0)
        return probe

    # ---- handshake ----
    def cookie_of(self, hello):
        mixed = hello.nonce * 0x9e3779b97f4a7c15 ^ hello.scid ^ self.cookie_key
        return mixed & (1 << 64) - 1 or 1

    def gid(self, address):
        raw = socket.inet_pton(self.family, address)
        return raw if self.v6 else bytes(10) + b"\xff\xff" + raw

    def hello(self, kind=HELLO, **changes):
        hello = codec.Hello(kind, dcid=self.dcid if kind == HELLO_ACK else 0, paths=self.paths,
                            scid=self.scid, nonce=self.nonce, peer_nonce=self.dut_nonce,
                            cookie=self.their_cookie, payload=self.payload, window=self.window,
                            features=self.features, ver_min=self.ver_min, ver_max=self.ver_max,
                            length=64 + self.payload)
        hello.planes_no = self.planes_no
        hello.planes = [codec.Plane(i, 6 if self.v6 else 4, self.gid(self.local[i]),
                                    flags=self.plane_flags.get(i, 0))
                        for i in range(self.n_planes)] if self.planes is None else self.planes
        if self.n_planes > 1:
            hello.src_gid, hello.dst_gid = self.gid(self.local[0]), self.gid(self.dut[0])
        for key, value in changes.items():
            setattr(hello, key, value)
        return hello

    def on_hello(self, hello, packet):
        """Answer as a responder: a cookie first, then all of it."""
        mine = self.cookie_of(hello)
        if hello.cookie != mine:
            self.transmit(codec.Hello(
                HELLO_ACK, codec.COOKIE_ONLY, hello.scid, paths=hello.paths, payload=hello.payload,
                peer_nonce=hello.nonce, cookie=mine, window=hello.window,
                src_gid=hello.dst_gid, dst_gid=hello.src_gid), PORT, 0, packet.plane)
            return
        self.adopt(hello)
        self.transmit(self.hello(
            HELLO_ACK, dcid=hello.scid, cookie=mine, peer_nonce=hello.nonce,
            payload=self.agreed.payload, paths=self.agreed.paths, window=self.agreed.window,
            features=self.features & hello.features,
            length=min(len(packet.raw), 64 + self.agreed.payload)), packet.sport, 0, packet.plane)

    def on_hello_ack(self, hello):
        if hello.dcid != self.scid or hello.peer_nonce != self.nonce:
            return
        if hello.flags & codec.COOKIE_ONLY:
            fresh = self.their_cookie != hello.cookie
            self.their_cookie = hello.cookie
            if fresh:
                self.transmit(self.hello(), PORT)
            return
        if hello.cookie == self.their_cookie:
            self.dut_hello = hello
            self.adopt(hello)

    def adopt(self, hello):
        """The device's numbers, and what both agree on"""
        self.dcid, self.dut_nonce = hello.scid, hello.nonce
        if not self.agreed:
            self.agreed = codec.Hello(payload=self.payload, paths=self.paths, window=self.window)
        for key in ("payload", "paths", "window"):
            setattr(self.agreed, key, min(getattr(self.agreed, key), getattr(hello, key)))

    def open(self, limit_s=3.0):
        """Ask until the device has answered in full, and has nothing more to ask itself."""
        end, wait = clock() + limit_s, 0.02
        while not self.dut_hello and clock() < end:
            self.transmit(self.hello(), PORT)
            self.run(wait, lambda: self.dut_hello)
            wait = min(2 * wait, 0.5)
        if not self.dut_hello:
            return False
        asked = clock()
        while clock() < min(asked + 0.05, end):
            self.step(clock() + 0.01)
            asked = max([asked] + [packet.when for packet in self.log if packet.kind == HELLO])
        return True

    # ---- looking back ----
    def forget(self):
        """What has arrived so far is of no interest."""
        self.log, self.count = [], collections.Counter()

    def seen(self, kind, since=0.0):
        """Packets of a type that have arrived at our interface since"""
        out = []
        for packet in reversed(self.log):
            if packet.when < since:
                break
            if packet.kind == kind:
                out.append(packet)
        out.reverse()
        return out

    def close(self):
        for sock in self.socks + list(self.senders.values()):
            sock.close()
