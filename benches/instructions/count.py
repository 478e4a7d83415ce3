#!/usr/bin/env python3
"""Counts the instructions that a CUDA GPU runs for each workload of `benches/throughput`, without a GPU: CubeCL
compiles the kernels to PTX for a driver of our own (`driver.c`), and some units of them are run here.

    pip install numpy
    cargo build -p throughput --features cuda             # links LLVM: see scripts/debian_llvm
    python benches/instructions/count.py [--program target/debug/throughput] [--warps 40]
    python benches/instructions/count.py --backward [--blocks 4]

A GPU runs 32 neighbouring units together, as a warp, and issues an instruction if one of them needs it. So units that
need different ones wait for each other. The second number is what a warp has to issue at least, for an output of each
of its units: of each instruction, as often as the unit that runs it most often.

`--backward` counts the gradients of features, whose outputs are the numbers of the map. Their units share memory, so
whole blocks are run, which takes minutes.

Divisions count as the ten machine instructions that they are on an H200, reciprocals as eight. The last column is how
long the warps' instructions take at `--rate` of them a second, each for 32 units.
"""

import argparse
import os
import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from ptx import WARP, Block, Kernel, Launch

# The outputs of each workload, and those of its gradient.
WORKLOADS = {
    "box-p2": (1000 * 256 * 49, 256 * 200 * 304),
    "box-p2-adaptive": (1000 * 256 * 49, 256 * 200 * 304),
    "c4-adaptive": (300 * 1024 * 196, 1024 * 50 * 76),
    "mask-p2": (100 * 256 * 196, 256 * 200 * 304),
    "vgg-roi-pool": (300 * 512 * 49, 512 * 38 * 50),
}
MACHINE_INSTRUCTIONS = {"div.rn.f32": 10, "rcp.rn.f32": 8}


def record(program, workload, backward, folder):
    """The kernel of a workload, and what it is given."""
    driver = Path(folder, "libcuda.so.1")
    source = Path(__file__).with_name("driver.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", driver, source], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "RECORDS": folder}
    command = [program, "--backend", "cuda", "--workload", workload] + ["--backward"] * backward
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    (kernel,) = Path(folder).glob("gather_*.ptx" if backward else "pool_regions*.ptx")
    return Kernel(kernel.read_text()), Launch(kernel.with_suffix(".launch").read_bytes())


def count(kernel, launch, blocks, warps):
    """What so many random blocks ran and issued, or so many random warps of them, and how many outputs they wrote."""
    draw = random.Random(1)
    ran, issued, stored = Counter(), Counter(), 0
    for _ in range(blocks or warps):
        number = draw.randrange(launch.blocks[0])
        first = WARP * draw.randrange(launch.units[0] * launch.units[1] // WARP)
        block = Block(kernel, launch, number, None if blocks else range(first, first + WARP)).run()
        ran += block.ran
        issued += block.issued
        stored += block.stored
    return ran, issued, stored


def total(names):
    return sum(MACHINE_INSTRUCTIONS.get(name, 1) * times for name, times in names.items())


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", default="target/debug/throughput")
    arguments.add_argument("--warps", type=int, default=40)
    arguments.add_argument("--backward", action="store_true")
    arguments.add_argument("--blocks", type=int, default=4)
    arguments.add_argument("--rate", type=float, default=1e12)
    arguments = arguments.parse_args()
    print(f"| workload | instructions an output | of which load | in warps | ms at {arguments.rate:.0e} a second |")
    print("|---|---|---|---|---|")
    for workload, (pooled, pixels) in WORKLOADS.items():
        with tempfile.TemporaryDirectory() as folder:
            recorded = record(arguments.program, workload, arguments.backward, folder)
            ran, issued, stored = count(*recorded, arguments.blocks * arguments.backward, arguments.warps)
        loads = sum(times for name, times in ran.items() if name.startswith("ld.global"))
        of_a_warp = total(issued) * WARP / stored
        outputs = pixels if arguments.backward else pooled
        least = of_a_warp * outputs / WARP / arguments.rate * 1e3
        print(f"| {workload} | {total(ran) / stored:.0f} | {loads / stored:.0f} | {of_a_warp:.0f} | {least:.3f} |")


if __name__ == "__main__":
    main()
