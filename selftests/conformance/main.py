#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Does a device behave as the protocol's behaviours demand?

  main.py [options] --local ADDRESS... DUT-ADDRESS...
  main.py --list

Plays the other side of the protocol against the device at DUT-ADDRESS, from the local
address, and directs the verbs program there through its control agent. More addresses, as
many at either end, are further planes. One line for each row, "row 6 gap: pass|fail|skip
what was seen"; the last line is "N passed, N failed, N skipped".
Documentation/conformance.rst describes the rows and the agent.
"""
import argparse
import subprocess
import sys
import traceback

import rows_codec		# noqa
import rows_limit		# noqa
import rows_loss		# noqa
import rows_path		# noqa
import rows_place		# noqa
import rows_plane		# noqa
import rows_third		# noqa
import rows_window		# noqa
from agent import AgentError
from rig import ROWS, Failed, Rig, Skipped

del rows_codec, rows_limit, rows_loss, rows_path, rows_place, rows_plane, rows_third, rows_window

def order(row):
    digits = "".join(c for c in row.number if c.isdigit())
    return row.planes, int(digits), row.number


def show(trace):
    """The last packets, with the milliseconds before the end"""
    end = trace[-1][0] if trace else 0
    for when, way, port, text in sorted(trace, key=lambda item: item[0]):
        print("%10.3f %s %5d %s" % ((when - end) * 1000, way, port, text), file=sys.stderr)


def run_row(row, args):
    """Return: the verdict; it and what was seen are printed."""
    rig = None
    try:
        if row.planes > len(args.local):
            raise Skipped("it takes %d planes, there are %d" % (row.planes, len(args.local)))
        rig = Rig(args, args.seed)
        rig.peer.trace = [] if args.trace else None
        text = row.run(rig)
        verdict = "pass"
    except Skipped as reason:
        verdict, text = "skip", str(reason)
    except (Failed, AgentError) as reason:
        verdict, text = "fail", str(reason)
    except Exception as error:		# pylint: disable=broad-except
        verdict, text = "fail", "the row itself failed: %r" % error
        traceback.print_exc()
    finally:
        if rig and args.trace and verdict == "fail":
            show(rig.peer.trace[-args.trace:])
        if rig:
            rig.close()
    if rig and rig.peer.errors and verdict == "pass":
        verdict, text = "fail", "the device has sent what is no packet: %s" % rig.peer.errors[0]
    print("row %s %s: %s  %s" % (row.number, row.name, verdict, text), flush=True)
    return verdict


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dut", metavar="DUT-ADDRESS", nargs="*")
    parser.add_argument("--local", default=[], action="append",
                        help="the peer's own address, once for each plane")
    parser.add_argument("--interface", action="append",
                        help="the peer sends and receives on this one only; once for each plane")
    parser.add_argument("--add-planes", metavar="COMMAND",
                        help="gives the device its further planes; rows before need a single one")
    parser.add_argument("--agent-address", help="of the control agent, if not the device's")
    parser.add_argument("--agent-port", type=int, default=18600)
    parser.add_argument("--rows", default="", help="only these, separated by blanks or commas")
    parser.add_argument("--quick", action="store_true", help="only rows that are fast")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slop-ms", type=float, default=3.0,
                        help="what scheduling may add to a deadline (default 3)")
    parser.add_argument("--patience", type=float, default=1.0,
                        help="factor for waits on a slow machine")
    parser.add_argument("--trace", type=int, default=0, metavar="N",
                        help="show the last N packets of a row that fails")
    parser.add_argument("--list", action="store_true", help="show the rows and stop")
    args = parser.parse_args()
    args.slop_ms *= args.patience
    wanted = args.rows.replace(",", " ").split()
    rows = sorted([row for row in ROWS if (row.number in wanted if wanted else
                                           row.quick or not args.quick)], key=order)
    unknown = set(wanted) - {row.number for row in ROWS}
    if unknown:
        sys.exit("no row %s" % " ".join(sorted(unknown)))
    if args.list:
        print("\n".join("row %s %s" % (row.number, row.name) for row in rows))
        return 0
    if not args.dut or not args.local:
        parser.error("an address of the device, and a local one (--local), are needed")
    if len({len(args.local), len(args.dut), len(args.interface or args.local)}) > 1:
        parser.error("each plane has an address of the device, a local one, and its interface")
    verdicts = []
    for row in rows:
        if args.add_planes and 1 < row.planes <= len(args.local):
            subprocess.run(args.add_planes, shell=True, check=True)
            args.add_planes = None
        verdicts.append(run_row(row, args))
    print("%d passed, %d failed, %d skipped" % tuple(
        verdicts.count(verdict) for verdict in ("pass", "fail", "skip")))
    return 1 if "fail" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())
