#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Print the rows of a result file as one table, a column for each device.

The ratio says how many times as good mroce is as the device beside it: of rates mroce / other, of times other / mroce.
A row may be one of several samples, or the median of some rounds with its spread: half of what is between the least
and the most, in per cent of the median.
"""
import json
import statistics
import sys

KEYS = ("test", "size_bytes", "qps", "loss_pct", "rate_mbytes")


def middle(rows):
    """One row for all samples of a measurement: the median, and every error."""
    values = [row["value"] for row in rows if "value" in row]
    if not values:
        return rows[0]
    return {**rows[0], "value": statistics.median(values), "errors": sum(row["errors"] for row in rows)}


def lines_of(row):
    """What to show of a row; the tail and what is kept under loss get lines of their own."""
    yield row
    if "rounds" in row:
        bare = {key: value for key, value in row.items() if key not in ("min", "max")}
        if "p99" in row:
            yield {**bare, "test": row["test"] + " 99 %", "value": row["p99"]}
        if "kept_pct" in row:
            yield {**bare, "test": row["test"] + " kept", "value": row["kept_pct"], "unit": "%"}


def cell(row):
    if row is None:
        return "-"
    if "value" not in row:
        return "n/a"
    text = f"{row['value']:g}"
    if "rounds" in row:
        text = f"{float(format(row['value'], '.4g')):g}"
    if row.get("rounds", 1) > 1 and "min" in row and row["value"]:
        text += f" ±{50 * (row['max'] - row['min']) / row['value']:.0f}%"
    return text + (f" ({row['errors']} err)" if row["errors"] else "")


def ratio(mine, other):
    if not mine or not other or "value" not in other or not mine.get("value"):
        return "-"
    if not other["value"]:
        return "inf"
    value = mine["value"] / other["value"]
    return f"{1 / value if mine['unit'] == 'us' else value:.2f}"


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        rows = [row for row in json.load(file) if "value" in row or "unsupported" in row]
    devices = sorted({row["device"] for row in rows}, key=lambda name: (name != "mroce", name))
    groups = {}
    for row in (line for row in rows for line in lines_of(row)):
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
    for device, why in sorted({(row["device"], row["unsupported"]) for row in rows if "unsupported" in row}):
        print(f"n/a of {device}: {why}")


main()
