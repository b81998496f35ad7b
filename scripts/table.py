#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Print the rows of a result file as one table, a column for each device.

The ratio says how many times as good mroce is as the device beside it: of rates mroce / other, of times other / mroce.
"""
import json
import statistics
import sys

KEYS = ("test", "size_bytes", "qps", "loss_pct", "rate_mbytes")


def middle(rows):
    """One row for all samples of a measurement: the median, and every error."""
    values = [row["value"] for row in rows]
    return {**rows[0], "value": statistics.median(values), "errors": sum(row["errors"] for row in rows)}


def cell(row):
    if row is None:
        return "-"
    return f"{row['value']:g}" + (f" ({row['errors']} err)" if row["errors"] else "")


def ratio(mine, other):
    if not mine or not other or not mine["value"]:
        return "-"
    if not other["value"]:
        return "inf"
    value = mine["value"] / other["value"]
    return f"{1 / value if mine['unit'] == 'us' else value:.2f}"


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        rows = [row for row in json.load(file) if "value" in row]
    devices = sorted({row["device"] for row in rows}, key=lambda name: (name != "mroce", name))
    groups = {}
    for row in rows:
        key = tuple(row.get(name, "") for name in KEYS) + (row["unit"],)
        groups.setdefault(key, {}).setdefault(row["device"], []).append(row)
    table = [["test", "bytes", "loss %", "unit", *devices, *(f"mroce/{d}" for d in devices if d != "mroce")]]
    for key, group in groups.items():
        test, size, qps, loss, rate, unit = key
        group = {device: middle(samples) for device, samples in group.items()}
        name = test + (f" {qps} QPs" if qps != 1 else "") + (f" at {rate} MB/s" if rate else "")
        table.append([name, str(size), str(loss), unit, *(cell(group.get(d)) for d in devices),
                      *(ratio(group.get("mroce"), group.get(d)) for d in devices if d != "mroce")])
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    print()
    for line in table:
        print("  ".join(text.ljust(width) if i == 0 else text.rjust(width)
                        for i, (text, width) in enumerate(zip(line, widths))))


main()
