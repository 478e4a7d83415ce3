#!/usr/bin/env python3
"""Times everything on this machine, and writes JSON, tables and charts.

    pip install numpy onnx onnxruntime==1.32.0 openvino==2026.4.1 torch==2.15.0 torchvision==0.29.2
    cargo build --release -p throughput --features ndarray
    python benches/report.py --name intel-xeon          # about 10 minutes with 2 threads
    python benches/report.py --name intel-xeon --draw   # writes the tables and charts again, from the JSON

`benches/results/NAME.json` has the numbers, `NAME.md` the tables that BENCHMARKS.md shows, `NAME-*.svg` the charts.
"""

import argparse
import importlib.metadata
import json
import math
import os
import platform
import statistics
import subprocess
from pathlib import Path

import peers

RESULTS = Path(__file__).resolve().parent / "results"
PACKAGES = ["torch", "torchvision", "onnxruntime", "openvino"]
COLOURS = {"flex": "#d9480f", "ndarray": "#f0a36b", "torchvision": "#4263eb", "onnxruntime": "#2b8a3e",
           "openvino": "#7048e8", "torchvision-backward": "#4263eb"}


def machine(threads):
    """The processor, its caches, and the versions of the peers."""
    fields = dict(line.split(":", 1) for line in subprocess.run(
        ["lscpu"], capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}
    ).stdout.splitlines() if ":" in line)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {
        "processor": fields["Model name"].strip(),
        "l2": fields.get("L2 cache", "?").strip(),
        "l3": fields.get("L3 cache", "?").strip(),
        "avx512": "avx512f" in fields.get("Flags", ""),
        "kernel": platform.release(),
        "threads": threads,
        "commit": commit,
        "packages": {name: importlib.metadata.version(name).split("+")[0] for name in PACKAGES},
    }


def timed(workloads, of_peers, backends, threads, backward=False):
    rows = {}
    for workload in workloads:
        times, ratio = peers.row_of(workload, of_peers, backends, threads, backward)
        rows[workload.name] = {"ms": times, "ratio": ratio}
        print(workload.name, rows[workload.name], flush=True)
    return rows


def limits(threads, runs=3):
    """The median over runs of Flex's time over the limit, and the extremes."""
    program = Path(os.environ.get("CARGO_TARGET_DIR", peers.ROOT / "target")) / "release" / "throughput"
    rows = {}
    for workload in peers.STANDARD:
        command = [str(program), "--json", "--limit", "--threads", str(threads), "--workload", workload.name]
        lines = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                 for _ in range(runs)]
        rows[workload.name] = [{"ms": line["median_ms"], "limit": line["limit_ms"]} for line in lines]
    return rows


def run(threads):
    both = ["flex", "ndarray"]
    return {
        "machine": machine(threads),
        "forward": timed(peers.STANDARD, peers.FORWARD_ON_CPU, both, threads),
        "further": timed(peers.FURTHER, peers.FORWARD_ON_CPU, ["flex"], threads),
        "backward": timed(peers.STANDARD, ["torchvision-backward"], both, threads, backward=True),
        "limit": limits(threads),
    }


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


def mean_ratio(rows):
    """The geometric mean of RoiAlign's ratios."""
    ratios = [float(row["ratio"]) for name, row in rows.items() if name != "vgg-roi-pool"]
    return math.exp(statistics.mean(map(math.log, ratios)))


def markdown(results):
    at = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in at["packages"].items())
    vectors = " with AVX-512" if at["avx512"] else ""
    return "\n".join([
        f"{at['processor']}{vectors}, {at['threads']} threads, L2 {at['l2']}, L3 {at['l3']}, Linux {at['kernel']}, "
        f"commit {at['commit']}. {versions}.",
        "",
        f"The geometric mean of RoiAlign's four ratios is {mean_ratio(results['forward']):.1f}.",
        "",
        "Forward, milliseconds:\n\n" + table(results["forward"]),
        "Further operators:\n\n" + table(results["further"]),
        "Gradients of features:\n\n" + table(results["backward"]),
        "Multiples of the limit, a column of runs:\n\n" + limit_table(results["limit"]),
    ])


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
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{arguments.name}.json"
    if not arguments.draw:
        path.write_text(json.dumps(run(arguments.threads), indent=1) + "\n")
    results = json.loads(path.read_text())
    (RESULTS / f"{arguments.name}.md").write_text(markdown(results))
    charts = {"forward": "One call, less is better", "backward": "Gradient of the features, less is better"}
    for part, title in charts.items():
        (RESULTS / f"{arguments.name}-{part}.svg").write_text(chart(results[part], title))


if __name__ == "__main__":
    main()
