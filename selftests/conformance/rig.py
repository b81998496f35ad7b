# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What rows are made of: the table, and the ends of one connection."""
import random
import sys

from agent import Agent, DutQp, Region, Srq
from codec import DATA, HELLO, HELLO_ACK, PROBE
from peer import Peer, clock
from stream import Qp

ROWS = []
BASE = 0x200000000		# address of the peer's memory, as the device is told it
RKEY = 0x1234


# A trial that fails while the peer itself was later than this against its script proves nothing
LATE_S = 0.003
TRIES = 8


class Failed(Exception):
    """The device does not do what the row requires; margin: by so many seconds"""

    def __init__(self, text, margin=0.0):
        super().__init__(text)
        self.margin = margin


class Skipped(Exception):
    """The device does not have what the row is about"""


class Row:
    """A line of the table"""

    def __init__(self, number, name, run, quick, planes):
        self.number, self.name, self.run, self.quick = number, name, run, quick
        self.planes = planes


def row(number, name, quick=True, whole=False, planes=1):
    """Makes a function a row: it gets a Rig, raises Failed or returns what was seen.

    whole: it is one trial, see steady(); otherwise its parts are. planes: as many at least.
    """
    def add(function):
        run = (lambda t: t.steady(function)) if whole else function
        ROWS.append(Row(number, name, run, quick, planes))
        return function
    return add


def require(condition, text, margin=0.0):
    if not condition:
        raise Failed(text, margin)


def ms(seconds):
    return "%.1f ms" % (seconds * 1000)


class Traffic:
    """Messages of the device without a pause, a few at a time; or one every so often"""

    def __init__(self, t, dut, region, depth=4, length=1 << 14, every_s=0.0):
        self.t, self.dut, self.region, self.depth, self.length = t, dut, region, depth, length
        self.posted = self.done = 0
        self.every_s, self.next = every_s, 0.0

    def turn(self, wait_s=0.001):
        while self.posted - self.done < self.depth:
            if self.every_s and clock() < self.next:
                break
            self.next = clock() + self.every_s
            self.t.write(self.dut, self.region, self.length)
            self.posted += 1
        for item in self.dut.poll(self.depth, 0):
            require(item.status == 0, "completion %s" % item)
            self.done += 1
        self.t.peer.run(wait_s)

    def until(self, condition, limit_s):
        """Return: whether the condition came true within the time."""
        end = clock() + limit_s
        while not condition():
            if clock() > end:
                return False
            self.turn()
        return True

    def go_on(self, seconds):
        end = clock() + seconds
        while clock() < end:
            self.turn(0.01)
        return clock()

    def finish(self):
        self.t.completions(self.dut, self.posted - self.done)


class Rig:
    """A peer and a session of the agent, for one run of one row"""

    def __init__(self, args, seed):
        self.slop = args.slop_ms / 1000
        self.patience = args.patience
        self.peer = Peer(args.local, args.dut, seed, args.interface)
        self.n_planes = len(args.local)
        self.rng = self.peer.rng
        try:
            self.agent = Agent(args.agent_address or args.dut[0], args.agent_port)
        except Exception:
            self.peer.close()
            raise
        self.agent.run = self.peer.pump
        self.peer.agent = self.agent
        self.gid = self.peer.gid(args.local[0])
        self.duts, self.regions, self.srqs = [], [], []
        self.keys = iter(range(seed * 1000003, 1 << 62, 1 << 20))

    def close(self):
        self.agent.close()
        self.peer.close()

    def clear(self):
        """Nothing of what came before disturbs what follows."""
        for dut in self.duts:
            if dut.handle is not None:
                dut.destroy()
        for thing in self.regions + self.srqs:
            thing.release()
        self.duts, self.regions, self.srqs = [], [], []

    def steady(self, trial, *args):
        """A trial begins with open(). If it fails and the peer was held up, it has another try."""
        for left in range(TRIES - 1, -1, -1):
            self.peer.late, self.peer.late_all, self.peer.pauses = 0.0, 0.0, []
            try:
                return trial(self, *args)
            except Failed as reason:
                late = self.peer.late
                # several pauses add up
                if late < LATE_S * self.patience or \
                        reason.margin > max(2 * late, self.peer.late_all):
                    raise
                if not left:
                    raise Failed("%s (the peer was %s late, in each of %d tries)" %
                                 (reason, ms(late), TRIES)) from reason
                print("# again, the peer was %s late: %s" % (ms(late), reason), file=sys.stderr)
        return None

    def within(self, seconds):
        """A deadline that was computed from round trips: our picture of them is a little short."""
        return 1.1 * seconds + self.slop

    # ---- set up ----
    def region(self, length=1 << 18, access="wrax"):
        self.regions.append(Region(self.agent, length, access))
        return self.regions[-1]

    def key(self):
        """A pattern that was not used yet"""
        return next(self.keys)

    def srq(self, recv_wr):
        """A shared receive queue"""
        self.srqs.append(Srq(self.agent, recv_wr))
        return self.srqs[-1]

    def pair(self, send_wr=64, recv_wr=64, srq=None, **options):
        """A queue pair at each end. Return: the device's and the peer's."""
        peer = self.peer
        shared = {"srq": srq.handle} if srq else {}
        dut = DutQp(self.agent, send_wr=send_wr, recv_wr=recv_wr, **shared)
        self.duts.append(dut)
        psn = options.pop("psn", None)
        dut_psn = options.pop("dut_psn", None)
        qpn = random.SystemRandom().randrange(16, 1 << 24)
        qp = Qp(peer, qpn, dut.qpn, peer.rng.getrandbits(24) if psn is None else psn,
                peer.rng.getrandbits(24) if dut_psn is None else dut_psn, peer.window)
        qp.base, qp.memory = BASE, bytearray(1 << 20)
        peer.qps[qpn] = qp
        options.setdefault("access", "wra")
        dut.connect(self.gid, qpn, qp.first_psn, qp.requests.first, **options)
        return dut, qp

    def open(self, paths=4, payload=1024, window=None, planes=1, network=None, **options):
        """A new instance of the peer, one pair, the connection open; network() makes the planes'"""
        peer = self.peer
        self.clear()
        peer.reset()
        peer.paths, peer.payload, peer.n_planes = paths, payload, planes
        if window:
            peer.window = window
        if network:
            network()
        ends = self.pair(**options)
        require(peer.open(3 * self.patience), "the connection does not open: %s" % peer.log[-5:])
        peer.forget()
        return ends

    # ---- the device sends ----
    def write(self, dut, region, length, off=0, **more):
        """A WRITE of the device into our memory, to the same offset"""
        return dut.post("write", region, length, off, raddr=BASE + off, rkey=RKEY, **more)

    def completions(self, dut, count, limit_s=5.0, status=0):
        """As many, and of that status"""
        done = dut.poll(count, int(limit_s * self.patience * 1000))
        require(len(done) == count, "%d completions of %d within %s s" %
                (len(done), count, limit_s))
        bad = [item for item in done if item.status != status]
        require(not bad, "completions %s" % bad)
        return done

    def gather(self, count, limit_s=2.0, since=0):
        """Wait until so many DATA packets have come. Return: them, in the order of arrival."""
        peer = self.peer
        peer.run(limit_s, lambda: peer.count[DATA] >= count if not since else
                 len(peer.seen(DATA, since)) >= count)
        found = peer.seen(DATA, since)
        require(len(found) >= count, "%d DATA packets of %d within %s" %
                (len(found), count, ms(limit_s)))
        return found

    def settle(self, quiet_s, limit_s=5.0):
        """Wait until no DATA has come for so long. Return: the DATA packets so far."""
        peer = self.peer
        end = clock() + limit_s
        seen, since = -1, clock()
        while clock() < end:
            count = peer.count[DATA]
            if count != seen:
                seen, since = count, clock()
            if clock() - since > quiet_s:
                break
            peer.run(min(quiet_s / 4, 0.002))
        return peer.seen(DATA)

    def flow(self, dut, region, messages, length, depth=8, limit_s=20.0):
        """The device WRITEs message after message, some at a time, until all are complete."""
        end = clock() + limit_s * self.patience
        posted = done = 0
        while done < messages:
            while posted < messages and posted - done < depth:
                self.write(dut, region, length)
                posted += 1
            for item in dut.poll(min(messages - done, 16), 20):
                require(item.status == 0, "completion %s" % item)
                done += 1
            require(clock() < end, "%d of %d messages complete within %s s" %
                    (done, messages, limit_s))

    def warm(self, dut, region, rounds=24, delay=None):
        """Round trips, one at a time, so that the device's estimate settles"""
        usual = self.peer.delay
        self.peer.delay = usual if delay is None else delay
        for _ in range(rounds):
            self.write(dut, region, 1 << 15)
            self.completions(dut, 1)
        self.peer.delay = usual

    def repeats(self, qp=None, since=0.0):
        """DATA of the device that had been there before: (path, psn)"""
        seen, out = set(), []
        for packet in self.peer.seen(DATA):
            name = (packet.body.dst_qpn, packet.body.stream, packet.body.psn)
            if name in seen and packet.when >= since and \
                    (not qp or packet.body.dst_qpn == qp.qpn):
                out.append((packet.body.path, packet.body.psn))
            seen.add(name)
        return out

    def by_path(self, packets):
        out = {}
        for packet in packets:
            out.setdefault(packet.body.path, []).append(packet)
        return out

    # ---- the peer sends ----
    def deliver(self, qp, packets, path=0, limit_s=2.0):
        """Send them on the path and wait until all before the last are accepted."""
        for packet in packets:
            self.peer.emit(packet, path)
        self.accepted(qp, limit_s=limit_s)

    def accepted(self, qp, psn=None, limit_s=2.0):
        """Wait for a record that says: all before the psn (default: everything so far)"""
        want = qp.next_psn if psn is None else psn
        good = self.peer.run(limit_s * self.patience, lambda: qp.accepted()[0] == want)
        require(good, "accepted up to psn %#x, not %#x" % (qp.accepted()[0], want))

    def probes(self, since=0.0):
        return self.peer.seen(PROBE, since)

    def hellos(self, since=0.0):
        return self.peer.seen(HELLO, since) + self.peer.seen(HELLO_ACK, since)
