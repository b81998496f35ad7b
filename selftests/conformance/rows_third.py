# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Row 33: addresses that the peer only says are its own."""
import random
import socket

import codec
from codec import COOKIE_ONLY, DATA, HELLO_ACK, PORT, PROBE
from peer import clock
from rig import Skipped, require, row

PROBE_BYTES = 24 + 12
STRANGER_S = 0.01		# one PROBE in so long
STRANGER_BURST = 32
NAMED = 100			# HELLOs that name the third party, every other one


class Third:
    """Somebody else's address, on a host that listens there for us"""

    def __init__(self, peer, address):
        self.address, self.peer, self.got = address, peer, []
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        if peer.interface[0]:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE,
                                 peer.interface[0].encode())
        try:
            self.sock.bind((address, PORT))
        except OSError as error:
            self.sock.close()
            raise Skipped("the peer's host has no address %s" % address) from error
        self.sock.setblocking(False)

    def read(self):
        """Return: what has come since, as (bytes, packet)."""
        new = []
        while True:
            try:
                raw = self.sock.recv(65536)
            except BlockingIOError:
                self.got += new
                return new
            new.append((len(raw), codec.decode(raw)))

    def send(self, body):
        self.sock.sendto(body.pack(), (self.peer.dut[0], PORT))


def mapped(address):
    return bytes(10) + b"\xff\xff" + socket.inet_aton(address)


def takes_no_name(peer, third):
    """In the peer's name, from elsewhere: the cookie goes to the peer."""
    forged = codec.Hello(scid=random.getrandbits(32) | 1, nonce=random.getrandbits(64) | 1,
                         src_gid=mapped(peer.local[0]), dst_gid=mapped(peer.dut[0]), payload=1024,
                         length=64 + 1024)
    since = clock()
    third.send(forged)
    require(peer.run(1, lambda: [item for item in peer.seen(HELLO_ACK, since)
                                 if item.body.flags & COOKIE_ONLY and
                                 item.body.peer_nonce == forged.nonce]),
            "no cookie for a HELLO from elsewhere")
    require(not third.read(), "the cookie goes to whoever asks for it")
    # even with a cookie that is good at its own address
    own = codec.Hello(scid=forged.scid, nonce=forged.nonce, payload=1024, length=64 + 1024)
    third.send(own)
    peer.run(0.2)
    cookies = [body.cookie for _, body in third.read() if body.kind == HELLO_ACK]
    require(cookies, "no cookie for somebody else's own HELLO")
    forged.cookie = cookies[0]
    third.send(forged)
    peer.run(0.2)
    require(not [body for _, body in third.read() if not body.flags & COOKIE_ONLY],
            "a HELLO from elsewhere is believed")


def is_named(t, peer, third):
    """Again and again. Return: PROBEs that went there."""
    planes = [codec.Plane(0, 4, mapped(peer.local[0])), codec.Plane(1, 4, mapped(third.address))]
    start = clock()
    for i in range(NAMED):
        peer.transmit(peer.hello(planes=planes[:1 + i % 2], planes_no=i + 1), PORT)
        peer.run(0.004)
        for _, probe in third.read():
            # what it was sent is no secret where numbers go on
            if probe.kind == PROBE:
                peer.transmit(codec.Ack(peer.dcid, [codec.Part(probe.path, probe.path_seq)]), PORT)
    bound = STRANGER_BURST + (clock() - start) / STRANGER_S + 1
    require(third.got, "nothing goes to a plane that was named")
    other = [(size, body) for size, body in third.got
             if body.kind != PROBE or size > PROBE_BYTES]
    require(not other, "more than PROBEs of %d bytes goes there: %s" % (PROBE_BYTES, other[:3]))
    require(len(third.got) <= bound, "%d PROBEs to a third party, %d may be" %
            (len(third.got), bound))
    require(t.peer.dcid, "the connection is gone")
    return len(third.got)


def is_not_the_dut(t, dut, region):
    """What the DUT sent to its own address would come back to it: the GID is what is left."""
    peer = t.peer
    peer.transmit(peer.hello(planes=[codec.Plane(0, 4, mapped(peer.dut[0]))],
                             planes_no=NAMED + 1), PORT)
    peer.run(0.05)
    t.flow(dut, region, 20, 1 << 14)


@row("33", "third party")
def third_party(t):
    if t.peer.v6:
        raise Skipped("of IPv4 only")
    dut, _ = t.open(paths=4)
    peer, region = t.peer, t.region()
    third = Third(peer, str(socket.inet_ntoa(bytes(a + b for a, b in zip(
        socket.inet_aton(peer.local[0]), (0, 0, 0, 1))))))
    try:
        takes_no_name(peer, third)
        third.got = []
        t.flow(dut, region, 20, 1 << 14)
        asked = is_named(t, peer, third)
        t.flow(dut, region, 20, 1 << 14)
        require(not [body for _, body in third.read() if body.kind == DATA],
                "data for a third party")
        # It answers itself: then it is a plane.
        end = clock() + 3 * t.patience
        while clock() < end and not [1 for size, _ in third.got if size > PROBE_BYTES]:
            for _, probe in third.read():
                if probe.kind == PROBE:
                    third.send(codec.Ack(peer.dcid, [codec.Part(probe.path, probe.path_seq)]))
            peer.run(0.002)
        require([1 for size, _ in third.got if size > PROBE_BYTES],
                "an address that answers is no plane")
        is_not_the_dut(t, dut, region)
    finally:
        third.sock.close()
    return "%d PROBEs for %d HELLOs that name it, until it answers; no cookie for somebody else" % (
        asked, NAMED // 2)
