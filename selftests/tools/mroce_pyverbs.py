#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run rdma-core's tests of verbs on one device, and print an indented KTAP result for each.

Every test runs in a process of its own, so that one that hangs or crashes is one failure. A list of skips (lines
'PATTERN -- REASON', shell patterns of FILE.CLASS.TEST) decides which skips are expected; any other is a failure, and so
is a line of the list that no skipped test needs or that a test which runs matches.
"""

import argparse
import faulthandler
import fnmatch
import os
import random
import select
import signal
import sys
import time
import traceback
import unittest

# drivers of other hardware
OTHERS = ["test_mlx5*", "test_efa*", "test_cuda*"]
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
# of what the process of a test sends
END = b"\0"


class Skips:
    """The list of expected skips."""

    def __init__(self, path):
        self.reasons = {}
        self.needed = set()
        self.contradicted = {}
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                pattern, separator, reason = line.strip().partition(" -- ")
                if line.strip() and not line.startswith("#"):
                    if not separator or not reason:
                        sys.exit(f"{path}: no reason: {line}")
                    self.reasons[pattern.strip()] = reason.strip()

    def judge(self, name, outcome, text):
        """The outcome and text of a test in the light of the list."""
        found = [p for p in self.reasons if fnmatch.fnmatchcase(name, p)]
        if outcome == SKIPPED:
            self.needed.update(found)
            if not found:
                return FAILED, f"a skip that the list does not name: {text}"
            return SKIPPED, self.reasons[found[0]]
        for pattern in found:
            self.contradicted[pattern] = f"{name} {outcome}"
        return outcome, text

    def faults(self):
        """Lines of the list that are not right."""
        wrong = [f"'{p}': {why}" for p, why in self.contradicted.items()]
        return wrong + [f"'{p}': no test needs it" for p in self.reasons if p not in self.needed | set(self.contradicted)]


def load(directory, config):
    """All tests by name, with what they expect on their command line."""
    sys.path[:0] = [directory, os.path.join(directory, "tests")]
    os.chdir(directory)
    from args_parser import parser  # pylint: disable=import-error,import-outside-toplevel

    parser.args = config
    import tests  # pylint: disable=import-error,import-outside-toplevel

    found = {}

    def collect(suite):
        for entry in suite:
            if isinstance(entry, unittest.TestSuite):
                collect(entry)
            else:
                found[entry.id().removeprefix("tests.")] = entry

    collect(unittest.defaultTestLoader.loadTestsFromModule(tests))
    return found


def matches(name, patterns):
    """Do patterns match the whole name, or its file, class or method?"""
    parts = [name, *name.split(".")]
    return any(fnmatch.fnmatchcase(part, pattern) for part in parts for pattern in patterns)


def run_here(test):
    """Run a test in this process: outcome and text."""
    result = unittest.TestResult()
    test.run(result)
    problems = [text for _, text in result.errors + result.failures]
    problems += ["it was expected to fail" for _ in result.unexpectedSuccesses]
    if problems:
        return FAILED, "\n".join(problems)
    if result.skipped:
        return SKIPPED, result.skipped[0][1]
    if result.testsRun != 1:
        return FAILED, "it did not run"
    return PASSED, ""


def child(test, seed, pipe):
    """Run a test in a new process and send what came of it. Does not return."""
    os.setsid()
    os.dup2(2, 1)
    # a crash, or the signal that ends a test that hangs, says where
    faulthandler.enable(file=pipe)
    random.seed(seed)
    try:
        outcome, text = run_here(test)
    except BaseException:  # pylint: disable=broad-except
        outcome, text = FAILED, traceback.format_exc()
    with os.fdopen(pipe, "wb", closefd=False) as sink:
        sink.write(f"{outcome}\n{text}".encode(errors="replace") + END)
    sys.stderr.flush()
    os._exit(0)


def receive(pipe, limit_s):
    """What comes until it is complete, its writer is gone, or it is too late; and whether it was not too late."""
    deadline = time.monotonic() + limit_s
    data = b""
    while not data.endswith(END):
        if not select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]:
            return data, False
        piece = os.read(pipe, 65536)
        if not piece:
            break
        data += piece
    return data, True


def run(test, seed, limit_s):
    """Run a test in a process of its own: outcome and text."""
    source, sink = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(source)
        child(test, seed, sink)
    os.close(sink)
    message, in_time = receive(source, limit_s)
    if not in_time:
        os.kill(pid, signal.SIGABRT)
        message += receive(source, 2)[0]
    os.close(source)
    # all that it left running, too; unless it died before it had a group of its own
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    complete = message.endswith(END)
    text = message.removesuffix(END).decode(errors="replace")
    if not in_time:
        return FAILED, f"not done within {limit_s} s\n{text}"
    if not complete:
        return FAILED, f"it died, status {status}\n{text}"
    outcome, _, text = text.partition("\n")
    return outcome, text


def report(number, name, outcome, text):
    """One KTAP result, indented."""
    line = f"    {'not ok' if outcome == FAILED else 'ok'} {number} {name}"
    if outcome == SKIPPED:
        text = text.replace("\n", " ")
        line += f" # SKIP {text}"
    elif text:
        line += "".join(f"\n    # {part}" for part in text.splitlines())
    print(line, flush=True)


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", help="where the tests are, in tests/")
    parser.add_argument("device")
    parser.add_argument("gid", type=int, help="index")
    parser.add_argument("names", nargs="*", help="patterns of FILE, CLASS, TEST or all three; default: all tests")
    parser.add_argument("--skips", type=Skips, help="list of expected skips; default: any is")
    parser.add_argument("--seed", default="1", help="of what the tests draw by lot")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each test")
    return parser.parse_args()


def main():
    """Run what the command line says; the status tells whether anything failed."""
    args = arguments()
    config = {"dev": args.device, "pci_dev": None, "port": 1, "gid": args.gid, "gpu": 0, "gtt": False,
              "verbosity": None, "list_tests": False}
    tests = load(args.directory, config)
    names = [n for n in tests if not matches(n, OTHERS) and (not args.names or matches(n, args.names))]
    failures = 0
    for number, name in enumerate(names, 1):
        start = time.monotonic()
        outcome, text = run(tests[name], f"{args.seed} {name}", args.limit)
        print(f"{time.monotonic() - start:7.2f} s  {name}", file=sys.stderr, flush=True)
        if args.skips:
            outcome, text = args.skips.judge(name, outcome, text)
        failures += outcome == FAILED
        report(number, name, outcome, text)
    count = len(names)
    if args.skips and not args.names:
        count += 1
        faults = args.skips.faults()
        failures += bool(faults)
        report(count, "every line of the list of skips is needed", FAILED if faults else PASSED, "\n".join(faults))
    print(f"    1..{count}", flush=True)
    sys.exit(1 if failures or not names else 0)


main()
