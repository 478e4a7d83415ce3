#!/usr/bin/env python3
"""Runs the kernels of each workload of `benches/throughput` on a model of an H200, and counts instructions, what
warps ask of memory, and what caches leave of it. It needs no GPU: CubeCL compiles the kernels to PTX for a driver of
our own (`driver.c`), which has them translated to C (`translate.py`) and run by the model (`gpu.c`).

    pip install nvidia-cuda-nvcc                          # NVIDIA's assembler, for the registers of a unit
    cargo build -p throughput --features cuda             # links LLVM: see scripts/debian_llvm
    python benches/instructions/count.py [--program target/debug/throughput] [--workloads box-p2,mask-p2]
    python benches/instructions/count.py --backward

It prints a row for each launch of a call, also those of Burn's kernels:

- `instructions` are those of warps, in millions. A warp runs what one of its units needs. Divisions count as the ten
  machine instructions that they are on an H200, reciprocals as eight. `units` is how many of 32 need it on average.
- `loads` of warps, `sectors` of 32 bytes and `lines` of 128 bytes that they ask for, in millions; of stores as well,
  behind a plus. L1 looks up a line in each cycle.
- `L1 hits` is the share of the sectors that L1 has, `L2, MB` what goes between L1 and L2, `memory, MB` what L2 reads
  and writes.
- `registers` of a unit, as the assembler says, or 128 without it, and `cubes` that fit on a multiprocessor.
- `ms` are the least times that L1, L2 and the memory allow. For L2 a written byte counts three times, and what goes to
  memory once more: so its share of the time on an H200 is met to a tenth.

The model beside the counters in BENCHMARKS.md, forward (`model, H200`):

| | box-p2 | box-p2-adaptive | c4-adaptive | mask-p2 | vgg-roi-pool |
|---|---|---|---|---|---|
| instructions, millions | 36.8, 37.7 | 54.0, 55.0 | 128, 133 | 12.7, 13.1 | 27.8, 26.3 |
| units an instruction | 28.1, 28.3 | 25.1, 25.1 | 28.7, 28.9 | 26.6, 26.8 | 25.9, 26.0 |
| L1 hits, % | 49, 50 | 52, 53 | 75, 73 | 73, 70 | 74, 70 |
| of L2's throughput, % | 82, 79 | 72, 69 | 46, 48 | 32, 35 | 49, 54 |
| of L1's throughput, % | 87, 74 | 83, 72 | 67, 56 | 45, 50 | 96, 94 |
| MB read | 62, 67 | 62, 67 | 16, 17 | 32, 38 | 4, 5 |
| MB written | 27, 45 | 28, 49 | 193, 226 | 0, 12 | 0, 5 |

An H200 writes outputs to memory earlier than the model, which does so when L2 is full.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from assemble import build_driver, installed

WORKLOADS = "box-p2,box-p2-adaptive,c4-adaptive,mask-p2,vgg-roi-pool"
SECTOR = 32
# An H200's: lines a second that L1s look up, and bytes a second that L2 and the memory give.
RATES = {"L1": 132 * 1.98e9, "L2": 10.1e12, "memory": 4.25e12}
HEADER = ["workload", "kernel", "registers", "cubes", "instructions", "units", "loads", "sectors", "lines", "L1 hits",
          "L2, MB", "memory, MB", "ms of L1", "of L2", "of memory"]  # fmt: skip


def launches(program, workload, backward, ptxas):
    """What the driver wrote of each launch of a call."""
    with tempfile.TemporaryDirectory() as folder:
        build_driver(folder)
        translate = f"{sys.executable} {Path(__file__).with_name('translate.py')}"
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "RECORDS": folder, "TRANSLATE": translate}
        # The program also waits for a forward call before a gradient, if that leaves no memory.
        environment |= {"WAITS": str(1 + backward)} | ({"PTXAS": str(ptxas)} if ptxas else {})
        command = [program, "--backend", "cuda", "--workload", workload] + ["--backward"] * backward
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        lines = dict.fromkeys(Path(folder, "launches.jsonl").read_text().splitlines())
        return [json.loads(line) for line in lines]


def millions(loads, stores):
    return f"{loads / 1e6:.1f} + {stores / 1e6:.1f}"


def row(workload, of):
    asked, hits = sum(of["sectors"]), sum(of["hits"])
    l2, memory = ([of[f"{name}read"] * SECTOR, of[f"{name}written"] * SECTOR] for name in ("l2_", ""))
    moved = {"L1": sum(of["lines"]), "L2": l2[0] + 3 * l2[1] + sum(memory), "memory": sum(memory)}
    cells = [workload, of["kernel"].split("_f_")[0], of["registers"], of["resident"]]
    cells += [f"{of['instructions'] / 1e6:.1f}", f"{of['of_units'] / max(of['instructions'], 1):.1f}"]
    cells += [millions(of["loads"], of["stores"]), millions(*of["sectors"]), millions(*of["lines"])]
    cells += [f"{100 * hits / max(asked, 1):.0f} %", millions(*l2), millions(*memory)]
    return cells + [f"{1e3 * moved[of_what] / rate:.3f}" for of_what, rate in RATES.items()]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", default="target/debug/throughput")
    arguments.add_argument("--workloads", default=WORKLOADS)
    arguments.add_argument("--backward", action="store_true")
    arguments.add_argument("--ptxas", type=Path)
    arguments = arguments.parse_args()
    ptxas = arguments.ptxas or installed()
    print("| " + " | ".join(HEADER) + " |")
    print("|---" * len(HEADER) + "|")
    for workload in arguments.workloads.split(","):
        for launch in launches(arguments.program, workload, arguments.backward, ptxas):
            print("| " + " | ".join(str(cell) for cell in row(workload, launch)) + " |", flush=True)


if __name__ == "__main__":
    main()
