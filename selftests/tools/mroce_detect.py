#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""How soon does a sender see that a packet is lost? From two captures of one run.

  mroce_detect.py SENT ARRIVED

SENT: what the sender's interface sends and receives, whole ACKs. ARRIVED: what the receiver's
interface receives. Lost is what is in SENT and not in ARRIVED; so it has to be lost between the
interfaces, not in the sender's queueing discipline. A loss is a *gap* when a later packet of
its path, sent before it was repeated, arrived; else, with a PROBE next on its path, it is a *tail*.
Times are the sender's. Prints one line of NAME=VALUE, for each kind:

  gaps, tails         how many
  gap_ms              median time from the packet that shows the gap to the repetition
  gap_limit_ms        what it may be: the median over the gaps of round trip and ack delay, where the round
                      trip is the greatest of the path in the time around
  gap_late            share of gaps above their limit (and --slack-ms)
  gap_worst_ms        the most by which one is above its limit
  gap_same_path       share that was repeated on the path that lost it
  react_ms            median time from the first ACK that shows the gap to the repetition
  tail_ms             median time from the packet to the PROBE
  tail_limit_ms       median of what it may be: 2 srtt + 4 rttvar + ack delay, at least 1 ms, by what the captures
                      tell of round trips, and a quarter more: the sender's own samples are not quite the same
  tail_late, tail_worst_ms   as above
  unrepaired          losses that were never repeated
  again               most often one packet was lost
"""
import argparse
import bisect
import statistics

import capture

PTO_MIN_NS = 1000000
RTTVAR_MIN_NS = 10000
AROUND_NS = 200000000
END_NS = 300000000


class Path:
    """One path of the sender: what it sent, and its round trips (RFC 6298)."""

    def __init__(self):
        self.sent = []          # (time, path_seq, Data or None), in order
        self.time_of = {}       # by path_seq
        self.place_of = {}
        self.rtt = []           # (time, sample, srtt, rttvar)
        self.highest = None

    def add(self, time_ns, seq, data):
        self.time_of[seq] = time_ns
        self.place_of[seq] = len(self.sent)
        self.sent.append((time_ns, seq, data))

    def acked(self, time_ns, part):
        """A sample, of a packet that is reported for the first time"""
        if part.highest not in self.time_of or \
                self.highest is not None and capture.seq_diff(part.highest, self.highest) <= 0:
            return
        self.highest = part.highest
        sample = time_ns - self.time_of[part.highest]
        net = max(sample - part.delay_ns, 1)
        if self.rtt:
            _, _, srtt, var = self.rtt[-1]
            var += (abs(net - srtt) - var) // 4
            srtt += (net - srtt) // 8
        else:
            srtt, var = net, net // 2
        self.rtt.append((time_ns, sample, srtt, max(var, RTTVAR_MIN_NS)))

    def round_trip(self, time_ns):
        """The greatest sample around that time, with its ack delay"""
        first = bisect.bisect(self.rtt, (time_ns - AROUND_NS,))
        last = bisect.bisect(self.rtt, (time_ns + AROUND_NS,))
        return max((sample for _, sample, _, _ in self.rtt[first:last]), default=None)

    def probe_timeout(self, time_ns):
        """By the estimate at that time"""
        at = bisect.bisect(self.rtt, (time_ns,)) - 1
        if at < 0:
            return None
        _, _, srtt, var = self.rtt[at]
        return max(2 * srtt + 4 * var + capture.ACK_DELAY_NS, PTO_MIN_NS)


class Run:
    """Both captures, put together."""

    def __init__(self, sent, arrived):
        self.paths, self.sendings, self.acks = {}, {}, []
        self.arrived = {number for number in map(capture.numbered, capture.packets(arrived)) if number}
        src = self.sender(sent)
        for packet in capture.packets(sent):
            if packet.src == src:
                self.leaves(packet)
            else:
                self.comes(packet)
        self.end_ns = max(path.sent[-1][0] for path in self.paths.values()) - END_NS

    def sender(self, sent):
        """Its address: of the first packet that arrived at the other end"""
        for packet in capture.packets(sent):
            if capture.numbered(packet) in self.arrived:
                return packet.src
        raise SystemExit("nothing arrived")

    def leaves(self, packet):
        number = capture.numbered(packet)
        if not number:
            return
        dcid, index, seq = number
        data = capture.data_of(packet)
        self.paths.setdefault((dcid, index), Path()).add(packet.time_ns, seq, data)
        if data:
            self.sendings.setdefault(data.identity, []).append((packet.time_ns, data))

    def comes(self, packet):
        """The peer's ACKs name paths, not our name of the connection: one connection each run"""
        for part in capture.parts_of(packet):
            self.acks.append((packet.time_ns, part))
            for (_, index), path in self.paths.items():
                if index == part.path:
                    path.acked(packet.time_ns, part)

    def lost(self):
        """(Path, place in its list) of every data packet that did not arrive"""
        for (dcid, index), path in self.paths.items():
            for place, (time_ns, seq, data) in enumerate(path.sent):
                if data and time_ns < self.end_ns and (dcid, index, seq) not in self.arrived:
                    yield path, place, (dcid, index)

    def repetition(self, data, time_ns):
        """(time, Data) of the next sending of the same packet"""
        for again_ns, again in self.sendings[data.identity]:
            if again_ns > time_ns:
                return again_ns, again
        return None

    def shown_ns(self, part_path, seq, after_ns):
        """When the first ACK came that says that a later one arrived, and this one did not"""
        for time_ns, part in self.acks[bisect.bisect(self.acks, (after_ns,)):]:
            if part.path == part_path and capture.says_received(part, seq) is False:
                return time_ns
        return None


class Results:
    """Of all losses."""

    def __init__(self):
        self.gaps, self.tails = [], []      # (time, limit)
        self.same_path, self.reactions = [], []
        self.unrepaired = 0

    def gap(self, run, path, place, key, again):
        """True if a later packet of the path showed the loss"""
        time_ns, seq, data = path.sent[place]
        for later_ns, later_seq, _ in path.sent[place + 1:]:
            if later_ns >= again[0]:
                return False
            if (*key, later_seq) in run.arrived:
                break
        else:
            return False
        limit = path.round_trip(later_ns)
        if limit is not None:
            self.gaps.append((again[0] - later_ns, limit + capture.ACK_DELAY_NS))
            self.same_path.append(again[1].path == data.path)
            shown = run.shown_ns(key[1], seq, time_ns)
            if shown is not None:
                self.reactions.append(again[0] - shown)
        return True

    def tail(self, path, place):
        """The PROBE comes in time"""
        time_ns = path.sent[place][0]
        limit = path.probe_timeout(time_ns)
        if limit is None or place + 1 == len(path.sent) or path.sent[place + 1][2]:
            return
        self.tails.append((path.sent[place + 1][0] - time_ns, limit * 5 // 4))

    def add(self, run, path, place, key):
        time_ns, _, data = path.sent[place]
        again = run.repetition(data, time_ns)
        later = path.sent[place + 1:place + 2]
        if not again:
            self.unrepaired += 1
        elif later and not later[0][2]:
            self.tail(path, place)
        else:
            self.gap(run, path, place, key, again)


def ms(values):
    return statistics.median(values) / 1e6 if values else -1


def show(name, pairs, slack_ns):
    """The values of gaps or tails"""
    over = [time_ns - limit for time_ns, limit in pairs]
    return ((name + "s", len(pairs)), (name + "_ms", ms([time_ns for time_ns, _ in pairs])),
            (name + "_limit_ms", ms([limit for _, limit in pairs])),
            (name + "_late", sum(x > slack_ns for x in over) / len(over) if over else -1),
            (name + "_worst_ms", max(over) / 1e6 if over else -1))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sent")
    parser.add_argument("arrived")
    parser.add_argument("--slack-ms", type=float, default=1, help="of processors that are busy")
    args = parser.parse_args()
    run, results = Run(args.sent, args.arrived), Results()
    lost_times = {}
    for path, place, key in run.lost():
        identity = path.sent[place][2].identity
        lost_times[identity] = lost_times.get(identity, 0) + 1
        results.add(run, path, place, key)
    same = results.same_path
    values = (*show("gap", results.gaps, args.slack_ms * 1e6),
              ("gap_same_path", sum(same) / len(same) if same else -1),
              ("react_ms", ms(results.reactions)),
              *show("tail", results.tails, args.slack_ms * 1e6),
              ("unrepaired", results.unrepaired),
              ("again", max(lost_times.values(), default=0)))
    print(" ".join("%s=%.3f" % item for item in values))


if __name__ == "__main__":
    main()
