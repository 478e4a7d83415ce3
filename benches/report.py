#!/usr/bin/env python3
"""Times everything on this machine, and writes JSON, tables and charts.

    pip install numpy onnx onnxruntime==1.32.0 openvino==2026.4.1 torch==2.15.0 torchvision==0.29.2
    cargo build --release -p throughput --features ndarray
    python benches/report.py --name intel-xeon            # about 10 minutes with 2 threads
    python benches/report.py --name intel-xeon --draw     # writes the tables and charts again, from the JSON
    python benches/report.py --name trial --workloads mask-p2,ps-rfcn --peers torchvision   # a part

`benches/results/NAME.json` has the numbers, `NAME-*.svg` the charts. The tables go into BENCHMARKS.md, between the
lines `<!-- report NAME -->` and `<!-- end of report -->`; if it has no such lines, they are printed.
"""

import argparse
import datetime
import importlib.metadata
import json
import math
import os
import platform
import re
import statistics
import subprocess
import textwrap
from pathlib import Path

import peers

RESULTS = Path(__file__).resolve().parent / "results"
DOCUMENT = peers.ROOT / "BENCHMARKS.md"
COLOURS = {"flex": "#d9480f", "ndarray": "#f0a36b", "torchvision": "#4263eb", "onnxruntime": "#2b8a3e",
           "openvino": "#7048e8", "torchvision-backward": "#4263eb", "here": "#d9480f", "imported": "#f0a36b",
           "one thread": "#f0a36b", "limit": "#868e96"}


def machine(threads, of_peers):
    """The processor, its caches, and the versions of the peers."""
    fields = dict(line.split(":", 1) for line in subprocess.run(
        ["lscpu"], capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}
    ).stdout.splitlines() if ":" in line)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=peers.ROOT)
    packages = [*(["torch"] if "torchvision" in of_peers else []), *of_peers]
    return {
        "processor": fields["Model name"].strip(),
        "l2": fields.get("L2 cache", "?").strip(),
        "l3": fields.get("L3 cache", "?").strip(),
        "avx512": "avx512f" in fields.get("Flags", ""),
        "kernel": platform.release().split("-")[0],
        "threads": threads,
        "date": datetime.date.today().isoformat(),
        "commit": commit.stdout.strip(),
        "packages": {name: importlib.metadata.version(name).split("+")[0] for name in packages},
    }


def timed(workloads, of_peers, backends, threads, backward=False):
    rows = {}
    for workload in workloads:
        times, ratio = peers.row_of(workload, of_peers, backends, threads, backward)
        rows[workload.name] = {"ms": times, "ratio": ratio}
        print(workload.name, rows[workload.name], flush=True)
    return rows


def program(workload, threads, *options):
    """The lines of JSON that `throughput` prints, of Flex."""
    path = Path(os.environ.get("CARGO_TARGET_DIR", peers.ROOT / "target")) / "release" / "throughput"
    command = [str(path), "--json", "--threads", str(threads), "--workload", workload, *options]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def limits(workloads, threads, runs=3):
    """Of each run, Flex's time and the limit."""
    rows = {workload.name: [program(workload.name, threads, "--limit") for _ in range(runs)] for workload in workloads}
    return {name: [{"ms": line["median_ms"], "limit": line["limit_ms"]} for line in lines]
            for name, lines in rows.items()}


def growth(threads):
    """Flex's milliseconds for 1, 1000 and 10,000 regions on the same map, with all threads and with one."""
    names = {1: "one-region", 1000: "box-p2", 10_000: "ten-thousand"}
    return {regions: [program(name, number)["median_ms"] for number in (threads, 1)]
            for regions, name in names.items()}


def run(threads, of_peers, chosen):
    """`chosen` names workloads; none stands for all, and for how times grow with regions."""
    both = ["flex", "ndarray"]
    standard, further = ([workload for workload in workloads if not chosen or workload.name in chosen]
                         for workloads in (peers.STANDARD, peers.FURTHER))
    backward = [f"{name}-backward" for name in of_peers if name == "torchvision"]
    results = {
        "machine": machine(threads, of_peers),
        "forward": timed(standard, of_peers, both, threads),
        "further": timed(further, of_peers, ["flex"], threads),
        "backward": timed(standard, backward, both, threads, backward=True),
        "limit": limits(standard, threads),
    }
    return results if chosen else {**results, "growth": growth(threads)}


def table(rows):
    names = list(next(iter(rows.values()))["ms"])
    header = ["workload", *(name.removesuffix("-backward") for name in names), "ratio"]
    lines = ["| " + " | ".join(header) + " |", "|---" * len(header) + "|"]
    for workload, row in rows.items():
        cells = [peers.written(row["ms"][name]) for name in names]
        lines.append(f"| {workload} | " + " | ".join(cells) + f" | {row['ratio']} |")
    return "\n".join(lines) + "\n"


def limit_table(rows):
    lines = ["| workload | limit | flex | multiple |", "|---|---|---|---|"]
    for workload, runs in rows.items():
        columns = [[run["limit"] for run in runs], [run["ms"] for run in runs],
                   [run["ms"] / run["limit"] for run in runs]]
        cells = [", ".join(f"{value:.1f}" for value in column) for column in columns]
        lines.append(f"| {workload} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def growth_table(rows, threads):
    lines = [f"| regions | {threads} threads | 1 thread |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {regions} | {peers.written(all_threads)} | {peers.written(one)} |"
                                for regions, (all_threads, one) in rows.items())]) + "\n"


def limit_rows(rows):
    """Medians, for a chart."""
    median = lambda runs, name: statistics.median(run[name] for run in runs)
    return {workload: {"ms": {"limit": median(runs, "limit"), "flex": median(runs, "ms")}}
            for workload, runs in rows.items()}


def growth_rows(rows):
    return {f"{regions} regions": {"ms": {"flex": all_threads, "one thread": one}}
            for regions, (all_threads, one) in rows.items()}


def mean_ratio(rows):
    """The geometric mean of RoiAlign's ratios."""
    ratios = [float(row["ratio"]) for name, row in rows.items() if name != "vgg-roi-pool"]
    return math.exp(statistics.mean(map(math.log, ratios)))


def introduction(at):
    """The sentences about a machine."""
    versions = ", ".join(f"{package} {version}" for package, version in at["packages"].items())
    vectors = " with AVX-512" if at["avx512"] else " without AVX-512"
    commit = f", commit {at['commit']}" if at.get("commit") else ""
    return (f"{at['processor']}{vectors}, {at['threads']} threads, L2 {at['l2']}, L3 {at['l3']}, "
            f"Linux {at['kernel']}, {at['date']}{commit}. {versions}.")


def markdown(name, results):
    at = results["machine"]
    picture = lambda part, text: f"![{text}](benches/results/{name}-{part}.svg)\n"
    mean = ""
    if len(results["forward"]) == len(peers.STANDARD):
        mean = f" The geometric mean of RoiAlign's four ratios is {mean_ratio(results['forward']):.1f}."
    parts = [
        ("forward", f"Forward, milliseconds.{mean}", table, "Times of one call, a bar for each library"),
        ("backward", "Gradient of the features, milliseconds:", table, "Times of a gradient, a bar for each library"),
        ("further", "Further operators, milliseconds:", table, None),
        ("limit", "The limit, Flex, and their quotient, a value for each run:", limit_table, "The limit beside Flex"),
        ("growth", "Flex on the map of box-p2, milliseconds:", lambda rows: growth_table(rows, at["threads"]),
         "Times of Flex for more and more regions"),
    ]
    lines = textwrap.wrap(introduction(at), 120, break_long_words=False) + [""]
    for part, title, write, alternative in parts:
        if results.get(part):
            lines += [picture(part, alternative)] if alternative else []
            lines += [title, "", write(results[part])]
    return "\n".join(lines)


def summary(results):
    """The sentence of README."""
    [forward, backward] = [[float(row["ratio"]) for name, row in results[part].items() if name != "vgg-roi-pool"]
                           for part in ("forward", "backward")]
    return (f"RoiAlign on Flex is {min(forward):.0f} to {max(forward):.0f} times as fast as the fastest of "
            f"torchvision, ONNX Runtime and OpenVINO, and its gradient {min(backward):.0f} to {max(backward):.0f} "
            "times as fast as torchvision's.")


def insert(name, text):
    """Into the document, between its two lines."""
    document = DOCUMENT.read_text()
    begin, end = f"<!-- report {name} -->\n", "<!-- end of report -->"
    pattern = re.escape(begin) + ".*?" + re.escape(end)
    if not re.search(pattern, document, re.DOTALL):
        print(text)
        return
    DOCUMENT.write_text(re.sub(pattern, lambda _: f"{begin}\n{text}\n{end}", document, count=1, flags=re.DOTALL))


def chart(rows, title):
    """Horizontal bars on a logarithmic axis, a group a workload."""
    names = list(next(iter(rows.values()))["ms"])
    times = [value for row in rows.values() for value in row["ms"].values() if value]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    left, width, bar, gap = 150, 620, 13, 14
    x = lambda ms: left + (math.log10(ms) - low) / (high - low) * (width - left - 60)
    shapes, y = [], 64
    for workload, row in rows.items():
        shown = [(name, row["ms"][name]) for name in names if row["ms"][name]]
        middle = y + len(shown) * bar / 2 + 4
        shapes.append(f'<text x="{left - 8}" y="{middle:.0f}" text-anchor="end">{workload}</text>')
        for name, ms in shown:
            shapes.append(f'<rect x="{left}" y="{y}" width="{x(ms) - left:.1f}" height="{bar - 2}" '
                          f'fill="{COLOURS[name]}"/>')
            shapes.append(f'<text x="{x(ms) + 4:.1f}" y="{y + 10}" class="value">{peers.written(ms)}</text>')
            y += bar
        y += gap
    bottom = y - gap + 6
    for power in range(low, high + 1):
        at = x(10.0**power)
        shapes.insert(0, f'<path d="M{at:.1f} 58V{bottom}" class="grid"/>')
        shapes.append(f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{10.0**power:g} ms</text>')
    legend = left
    for name in names:
        label = name.removesuffix("-backward")
        shapes.append(f'<rect x="{legend}" y="34" width="11" height="11" fill="{COLOURS[name]}"/>'
                      f'<text x="{legend + 15}" y="44">{label}</text>')
        legend += 32 + 7 * len(label)
    style = ("text{font:12px sans-serif;fill:#222}.value{font-size:10px;fill:#555}.title{font-weight:bold}"
             ".grid{stroke:#bbb;stroke-width:.5}"
             "@media(prefers-color-scheme:dark){text{fill:#eee}.value{fill:#bbb}.grid{stroke:#555}}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 28}">'
            f'<style>{style}</style><text x="{left}" y="20" class="title">{title}</text>{"".join(shapes)}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--name", required=True, help="of the machine, for the names of files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--draw", action="store_true", help="from the JSON that is there")
    parser.add_argument("--workloads", default="", help="a part of them, separated by commas")
    parser.add_argument("--peers", default=",".join(peers.FORWARD_ON_CPU), help="those that are installed")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{arguments.name}.json"
    if not arguments.draw:
        chosen = [name for name in arguments.workloads.split(",") if name]
        results = run(arguments.threads, arguments.peers.split(","), chosen)
        path.write_text(json.dumps(results, indent=1) + "\n")
    results = json.loads(path.read_text())
    insert(arguments.name, markdown(arguments.name, results))
    if len(results["forward"]) == len(peers.STANDARD) and results["backward"]:
        print(summary(results))
    same = lambda rows: rows
    charts = [("forward", same, "One call in ms, logarithmic, less is better"),
              ("backward", same, "Gradient of the features in ms, logarithmic, less is better"),
              ("limit", limit_rows, "The least that a call can take, and Flex, in ms, logarithmic"),
              ("growth", growth_rows, "Flex on the map of box-p2 in ms, logarithmic")]
    for part, rows, title in charts:
        if results.get(part):
            (RESULTS / f"{arguments.name}-{part}.svg").write_text(chart(rows(results[part]), title))


if __name__ == "__main__":
    main()
