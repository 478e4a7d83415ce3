#!/usr/bin/env python3
"""Counts the instructions that a CUDA GPU runs for each workload of `examples/throughput`, without a GPU: CubeCL
compiles the kernels to PTX for a driver of our own (`driver.c`), and some units of them are run here.

    pip install numpy
    cargo build -p throughput --features cuda             # links LLVM: see scripts/debian_llvm
    python benches/instructions/count.py [--program target/debug/throughput] [--units 100]

Divisions count as the ten machine instructions that they are on an H200, reciprocals as eight. The last column is how
long as many instructions take at `--rate` of them a second, each for 32 units.
"""

import argparse
import os
import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from ptx import Kernel, Launch, Unit

WORKLOADS = {
    "box-p2": 1000 * 256 * 49,
    "box-p2-adaptive": 1000 * 256 * 49,
    "c4-adaptive": 300 * 1024 * 196,
    "mask-p2": 100 * 256 * 196,
    "vgg-roi-pool": 300 * 512 * 49,
}
MACHINE_INSTRUCTIONS = {"div.rn.f32": 10, "rcp.rn.f32": 8}


def record(program, workload, folder):
    """The kernel of a workload, and what it is given."""
    driver = Path(folder, "libcuda.so.1")
    source = Path(__file__).with_name("driver.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", driver, source], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "RECORDS": folder}
    command = [program, "--backend", "cuda", "--workload", workload]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    (kernel,) = Path(folder).glob("*.ptx")
    return Kernel(kernel.read_text()), Launch(kernel.with_suffix(".launch").read_bytes())


def count(kernel, launch, units):
    """What so many random units ran, and how many outputs they wrote."""
    draw = random.Random(1)
    ran, stored = Counter(), 0
    for _ in range(units):
        block = draw.randrange(launch.blocks[0])
        unit = Unit(kernel, launch, block, draw.randrange(launch.units[0] * launch.units[1])).run()
        ran += unit.ran
        stored += unit.stored
    return ran, stored


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", default="target/debug/throughput")
    arguments.add_argument("--units", type=int, default=100)
    arguments.add_argument("--rate", type=float, default=1e12)
    arguments = arguments.parse_args()
    print(f"| workload | instructions an output | of which load | ms at {arguments.rate:.0e} a second |")
    print("|---|---|---|---|")
    for workload, outputs in WORKLOADS.items():
        with tempfile.TemporaryDirectory() as folder:
            ran, stored = count(*record(arguments.program, workload, folder), arguments.units)
        instructions = sum(MACHINE_INSTRUCTIONS.get(name, 1) * times for name, times in ran.items())
        loads = sum(times for name, times in ran.items() if name.startswith("ld.global"))
        least = instructions / stored * outputs / 32 / arguments.rate * 1e3
        print(f"| {workload} | {instructions / stored:.0f} | {loads / stored:.0f} | {least:.3f} |")


if __name__ == "__main__":
    main()
