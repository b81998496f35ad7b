#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Draw what was measured, as PNG and SVG: plot.py bench.json|loss.json DIRECTORY

Of 'make bench', one picture each for bandwidth, what is kept of it under loss, latency and message rate, if it was
measured; of 'make loss', what is kept by loss. A device has the same colour everywhere. gnuplot draws; the places of
bars are computed here.
"""
import json
import os
import subprocess
import sys

COLOURS = {"mroce": "#0072B2", "rxe": "#D55E00", "siw": "#009E73", "tcp": "#CC79A7", "tcp-single": "#E69F00",
           "cubic": "#CC79A7", "bbr": "#009E73"}
# of operations and sizes of one device
SHADES = ("#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#CC79A7")
BANDWIDTHS = ("write_bw", "send_bw", "read_bw")
LATENCIES = ("write_lat", "send_lat", "read_lat", "atomic_lat")
RATES = ("rate", "rate_list")
MB_PER_S = "MB/s (2^{20} bytes)"
LABELS = {"write_lat": "write", "send_lat": "send", "read_lat": "read", "atomic_lat": "atomic",
          "write_bw": "write", "send_bw": "send", "read_bw": "read",
          "rate": "write, one by one", "rate_list": "write, 16 in a list"}
TERMINALS = {"png": "pngcairo size 1000,440 font 'DejaVu Sans,10'",
             "svg": "svg size 1000,440 font 'DejaVu Sans,12' background '#ffffff'"}


class Panel:
    """One pair of axes. Series are drawn in the order they come."""

    def __init__(self, title, settings):
        self.settings = [f"set title '{title}'", *settings]
        self.blocks, self.plots, self.labels = [], [], []

    def series(self, points, style, title=None):
        name = f"$d{len(self.blocks)}"
        lines = "\n".join(" ".join(map(str, point)) for point in points)
        self.blocks.append(f"{name} << E\n{lines}\nE")
        self.plots.append(f"{name} using {style} " + (f"title '{title}'" if title else "notitle"))

    def text(self, left, right):
        reset = ["reset", f"set lmargin at screen {left:.3f}", f"set rmargin at screen {right:.3f}",
                 "set bmargin at screen 0.13", "set tmargin at screen 0.78",
                 "set grid ytics lt 1 lc rgb '#cccccc'", "set border 3", "set tics nomirror",
                 "set style fill solid border lc rgb 'black'"]
        return "\n".join([*reset, *self.settings, *self.labels, *self.blocks, "plot " + ", ".join(self.plots)])


def legend(rows):
    """A plot of nothing, as wide as the picture, with a key."""
    reset = ["reset", "set lmargin at screen 0", "set rmargin at screen 1", "unset border", "unset tics",
             "set style fill solid border lc rgb 'black'", "set xrange [0:1]", "set yrange [0:1]",
             "set key at screen 0.5,0.91 center top horizontal"]
    able = {row["device"] for row in rows if "value" in row}
    return "\n".join(reset) + "\nplot " + ", ".join(
        f"NaN with boxes lc rgb '{COLOURS[name]}' title '{name}{'' if name in able else ': n/a'}'"
        for name in devices_of(rows))


def title_of(rows, what):
    return f"{what} (Linux {rows[0]['kernel']}, lane {rows[0]['lane']}, MTU {rows[0]['mtu']})"


def size_name(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def devices_of(rows):
    return [name for name in COLOURS if any(row["device"] == name for row in rows)]


def tics(names):
    return "set xtics (" + ", ".join(f"'{name}' {i}" for i, name in enumerate(names)) + ") scale 0"


def bars(panel, rows, clusters, spread, floor):
    """A bar for each device in each cluster of (name, function that finds its rows); the spread as a line on it.
    A tail, where there is one, is a pale bar behind it."""
    devices = devices_of(rows)
    width = 0.8 / len(devices)
    panel.settings += [tics([name for name, _ in clusters]), f"set xrange [-0.6:{len(clusters) - 0.4}]"]
    for j, device in enumerate(devices):
        points, tails = [], []
        for i, (_, wanted) in enumerate(clusters):
            place = round(i + (j - (len(devices) - 1) / 2) * width, 4)
            row = next((row for row in rows if row["device"] == device and wanted(row)), None)
            if row is None or not row.get("value"):
                word = "n/a" if row is None or "value" not in row else "fails"
                panel.labels.append(f"set label '{word}' at {place},{floor} rotate by 90 offset 0,0.5 "
                                    f"font ',8' textcolor rgb '{COLOURS[device]}'")
                continue
            points.append((place, *spread(row), width * 0.9))
            if "p99" in row:
                tails.append((place, row["p99"], width * 0.9))
        colour = COLOURS[device]
        if tails:
            panel.series(tails, f"1:2:3 with boxes fill solid 0.3 lc rgb '{colour}'")
        if points:
            panel.series(points, f"1:2:3:4:5 with boxerrorbars lc rgb '{colour}'")


def plain(row):
    return row["value"], row["min"], row["max"]


def kept(row):
    scale = row["kept_pct"] / row["value"]
    return row["kept_pct"], row["min"] * scale, row["max"] * scale


def panels_of(rows, label, settings):
    """A panel for each test, all with the same axes: the panel and its rows."""
    tests = [test for test in BANDWIDTHS if any(row["test"] == test for row in rows)]
    for test in tests:
        panel = Panel(LABELS[test], [*settings, *([f"set ylabel '{label}' offset 1"] if test == tests[0] else [])])
        yield panel, [row for row in rows if row["test"] == test]


def bandwidth(rows):
    sizes = sorted({row["size_bytes"] for row in rows})
    if len(sizes) > 1:
        return by_size(rows, sizes)
    panels = []
    top = max((row["max"] for row in rows if "max" in row), default=1) * 1.05
    for panel, mine in panels_of(rows, MB_PER_S, [f"set yrange [0:{top}]"]):
        bars(panel, mine, [(size_name(sizes[0]), lambda row: True)], plain, 0)
        panels.append(panel)
    return "Bandwidth", panels


def by_size(rows, sizes):
    values = [row["value"] for row in rows if row.get("value")]
    ticks = ", ".join(f"'{size_name(size)}' {size}" for size in sizes)
    settings = ["set logscale xy", f"set yrange [{min(values) / 1.5}:{max(values) * 1.5}]",
                f"set xrange [{sizes[0] / 1.5}:{sizes[-1] * 1.5}]", f"set xtics ({ticks}) rotate by 35 right"]
    panels = []
    for panel, mine in panels_of(rows, MB_PER_S, settings):
        for device in devices_of(mine):
            points = sorted((row["size_bytes"], *plain(row)) for row in mine
                            if row["device"] == device and row.get("value"))
            if points:
                panel.series(points, f"1:2:3:4 with yerrorlines lw 2 pt 7 ps 0.6 lc rgb '{COLOURS[device]}'")
        panels.append(panel)
    return "Bandwidth by message size", panels


def loss(rows):
    top = max(110, max(row.get("kept_pct", 0) for row in rows) + 5)
    clusters = [(f"{pct:g} %% loss", lambda row, pct=pct: row["loss_pct"] == pct)
                for pct in sorted({row["loss_pct"] for row in rows})]
    panels = []
    for panel, mine in panels_of(rows, "% of the rate without loss", [f"set yrange [0:{top}]"]):
        bars(panel, mine, clusters, kept, 0)
        panels.append(panel)
    link = f"link shaped to {rows[0]['rate_mbytes']} MB/s, {size_name(rows[0]['size_bytes'])}"
    return f"Bandwidth kept under loss, {link}", panels


def clusters_of(rows, tests, sized):
    """A cluster for each test that was measured."""
    sizes = {row["test"]: size_name(row["size_bytes"]) for row in rows}
    return [(LABELS[test] + (f", {sizes[test]}" if sized else ""), lambda row, test=test: row["test"] == test)
            for test in tests if test in sizes]


def latency(rows):
    floor = min((row["value"] for row in rows if row.get("value")), default=1) / 3
    top = max((row["p99"] for row in rows if "p99" in row), default=10) * 2
    panel = Panel("", ["set logscale y", f"set yrange [{floor}:{top}]", "set ylabel 'µs' offset 1"])
    bars(panel, rows, clusters_of(rows, LATENCIES, True), plain, floor)
    return "Latency: median, and pale the 99th percentile", [panel]


def rate(rows):
    panel = Panel("", ["set yrange [0:]", "set ylabel '1000 messages/s' offset 1"])
    bars(panel, rows, clusters_of(rows, RATES, False), plain, 0)
    return f"Rate of messages of {rows[0]['size_bytes']} bytes", [panel]


def loss_name(row):
    return f"{row['loss_pct']:g} %%" + (" in bursts" if "bursts" in row["test"] else "")


def curve(rows):
    """Who keeps how much at which loss; and which operations of mroce do."""
    names = sorted({loss_name(row): ("bursts" in row["test"], row["loss_pct"]) for row in rows}.items(),
                   key=lambda item: item[1])
    places = {name: i for i, (name, _) in enumerate(names)}
    top = max(105, max(row["kept_pct"] for row in rows) + 3)
    settings = [tics(places), f"set xrange [-0.4:{len(places) - 0.6}]", f"set yrange [0:{top}]"]
    first = min(row["size_bytes"] for row in rows)
    writes = [row for row in rows if row["test"].startswith("write_bw") and row["size_bytes"] == first]
    panels = [Panel(f"write, {size_name(first)}", [*settings, "set ylabel '% of the own rate without loss' offset 1"]),
              Panel("mroce", [*settings, "set key bottom left"])]

    def line(panel, mine, colour, title=None):
        for bursts in (False, True):
            points = sorted((places[loss_name(row)], row["kept_pct"]) for row in mine
                            if ("bursts" in row["test"]) == bursts)
            if points:
                panel.series(points, f"1:2 with linespoints lw 2 pt 7 ps 0.7 lc rgb '{colour}'",
                             None if bursts else title)

    for device in devices_of(writes):
        line(panels[0], [row for row in writes if row["device"] == device], COLOURS[device])
    kinds = sorted({(row["size_bytes"], row["test"].split("_")[0]) for row in rows if row["device"] == "mroce"})
    for shade, (size, operation) in zip(SHADES, kinds):
        line(panels[1], [row for row in rows if row["device"] == "mroce" and row["size_bytes"] == size and
                         row["test"].startswith(operation)], shade, f"{operation}, {size_name(size)}")
    return f"Rate kept under loss, link shaped to {rows[0]['rate_mbytes']} MB/s", panels


# by the name of the file of rows
PICTURES = {
    "bench": {
        "bandwidth": (bandwidth, lambda row: row["test"] in BANDWIDTHS and "rate_mbytes" not in row),
        "loss": (loss, lambda row: row["test"] in BANDWIDTHS and "rate_mbytes" in row and row["loss_pct"]),
        "latency": (latency, lambda row: row["test"] in LATENCIES),
        "rate": (rate, lambda row: row["test"] in RATES),
    },
    "loss": {
        "curve": (curve, lambda row: "kept_pct" in row),
    },
}


def draw(name, rows, what, panels):
    wide = (0.92 + 0.05) / len(panels)
    body = "\n".join(panel.text(0.07 + i * wide, 0.02 + (i + 1) * wide) for i, panel in enumerate(panels))
    for suffix, terminal in TERMINALS.items():
        script = (f"set terminal {terminal}\nset output '{name}.{suffix}'\nset encoding utf8\n"
                  f"set multiplot title \"{title_of(rows, what)}\"\n{body}\n{legend(rows)}\nunset multiplot\n")
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
        print(f"{name}.{suffix}")


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        rows = json.load(file)
    what = os.path.splitext(os.path.basename(sys.argv[1]))[0]
    for kind, (function, is_wanted) in PICTURES[what].items():
        name = os.path.join(sys.argv[2], f"{what}-{kind}")
        # none of an older run stays beside the new ones
        for suffix in TERMINALS:
            if os.path.exists(f"{name}.{suffix}"):
                os.remove(f"{name}.{suffix}")
        wanted = [row for row in rows if is_wanted(row)]
        if any(row.get("value") for row in wanted):
            draw(name, wanted, *function(wanted))


main()
