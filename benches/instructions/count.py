#!/usr/bin/env python3
"""Counts the instructions that a CUDA GPU runs for each workload of `examples/throughput`, without a GPU: CubeCL
compiles the kernels to PTX for a driver of our own (`driver.c`), and some units of them are run here.

    pip install numpy
    cargo build -p throughput --features cuda             # links LLVM: see scripts/debian_llvm
    python benches/instructions/count.py [--program target/debug/throughput] [--units 6144]

A number is an output of a call, a pixel of the gradient of features in one channel, or, for the gradient of boxes, an
element of the output's gradient. Divisions count as the ten machine instructions that they are on an H200, reciprocals
as eight, divisions of whole numbers as 20, of 64 bits as 70. `issued` counts an instruction of a warp as often as 32
units would run it, also where only some of them do. The last column is how long as many take at `--rate` of them a
second, each for 32 units.

`--save FOLDER` keeps what the units stored, and `--same FOLDER` compares it with what another build's units stored.
"""

import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parent.parent))
from peers import WORKLOADS  # noqa: E402
from ptx import WARP, Kernel, Launch, Units  # noqa: E402

# The kernels of a call, by how their names begin, and the options for it. Pyramids launch one for each level.
DIRECTIONS = {"forward": ("pool_", []), "features": ("gather_", ["--backward"]),
              "boxes": ("pull_", ["--backward", "--of-boxes"])}  # fmt: skip
MACHINE_INSTRUCTIONS = {"div.rn.f32": 10, "rcp.rn.f32": 8}
MACHINE_INSTRUCTIONS |= {f"{name}.{kind}32": 20 for name in ["div", "rem"] for kind in "su"}
MACHINE_INSTRUCTIONS |= {f"{name}.{kind}64": 70 for name in ["div", "rem"] for kind in "su"}


def record(program, workload, direction, folder):
    """The text of a workload's kernel, and what it is given; none where the call launches no such kernel."""
    driver = Path(folder, "libcuda.so.1")
    source = Path(__file__).with_name("driver.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", driver, source], check=True)
    prefix, options = DIRECTIONS[direction]
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "RECORDS": folder, "RECORD": prefix}
    command = [*shlex.split(program), "--backend", "cuda", "--workload", workload.name, "--calls", "1", *options]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    for kernel in Path(folder).glob("*.ptx"):
        return kernel.read_text(), Launch(kernel.with_suffix(".launch").read_bytes())
    return None


def run(kernel, launch, count):
    """About so many random units of a launch: whole blocks where they wait for each other, else whole warps."""
    waits = any(name[0] in ("bar", "barrier") for _, name, _ in kernel.instructions)
    of_a_block = launch.units_of_a_block()
    together = of_a_block if waits else WARP
    blocks = int(np.prod(launch.blocks))
    groups = blocks * of_a_block // together
    chosen = sorted(random.Random(1).sample(range(groups), min(max(count // together, 1), groups)))
    units = (np.array(chosen)[:, None] * together + np.arange(together)).ravel()
    return Units(kernel, launch, units // of_a_block, units % of_a_block).run(), blocks * of_a_block / len(units)


def numbers(workload, direction):
    channels, height, width = workload.features
    if direction == "features":
        return channels * height * width
    outputs = workload.regions * workload.size**2 * channels
    return outputs // workload.size**2 if workload.operator == "ps_roi_pool" else outputs


def stored(units, launch):
    """The bits that were stored, in the order of their places within buffers."""
    addresses = np.concatenate([addresses for addresses, _ in units.stores])
    bits = np.concatenate([bits for _, bits in units.stores])
    places = addresses.copy()
    for number, (start, held) in enumerate(launch.memory):
        here = (addresses >= start) & (addresses < start + len(held))
        places[here] = (addresses[here] - np.uint64(start)) + np.uint64(number << 40)
    order = np.argsort(places)
    return places[order], bits[order]


def compare(name, folder, places, bits):
    saved = np.load(Path(folder, f"{name}.npz"))
    common, here, there = np.intersect1d(places, saved["places"], return_indices=True)
    different = int((bits[here] != saved["bits"][there]).sum())
    print(f"{name}: {len(common)} of {len(places)} places in both, {different} with other bits", file=sys.stderr)
    return different


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--program", default="target/debug/throughput", help="or a command that runs it")
    arguments.add_argument("--units", type=int, default=6144)
    arguments.add_argument("--rate", type=float, default=1e12)
    arguments.add_argument("--workloads", default=",".join(w.name for w in WORKLOADS if w.levels == 1))
    arguments.add_argument("--directions", default=",".join(DIRECTIONS))
    arguments.add_argument("--save", help="a folder")
    arguments.add_argument("--same", help="such a folder")
    arguments.add_argument("--keep", help="a folder for the kernels' PTX")
    arguments = arguments.parse_args()
    print(f"| kernel | instructions a number | of which load | issued | ms at {arguments.rate:.0e} a second |")
    print("|---|---|---|---|---|")
    different = 0
    for direction in arguments.directions.split(","):
        for workload in [w for w in WORKLOADS if w.name in arguments.workloads.split(",")]:
            with tempfile.TemporaryDirectory() as folder:
                recorded = record(arguments.program, workload, direction, folder)
            if not recorded:
                continue
            text, launch = recorded
            if arguments.keep:
                Path(arguments.keep, f"{workload.name}-{direction}.ptx").write_text(text)
            units, share = run(Kernel(text), launch, arguments.units)
            one = share / numbers(workload, direction)
            weights = {name: MACHINE_INSTRUCTIONS.get(name, 1) for name in units.ran}
            instructions = sum(weights[name] * times for name, times in units.ran.items())
            plain = sum(units.ran.values())
            loads = sum(times for name, times in units.ran.items() if name.startswith("ld.global"))
            issued = units.issued * WARP * instructions / plain
            least = issued * share / WARP / arguments.rate * 1e3
            print(f"| {workload.name} {direction} | {instructions * one:.0f} | {loads * one:.1f} |"
                  f" {issued * one:.0f} | {least:.3f} |", flush=True)  # fmt: skip
            if arguments.save or arguments.same:
                name, (places, bits) = f"{workload.name}-{direction}", stored(units, launch)
            if arguments.save:
                np.savez(Path(arguments.save, f"{name}.npz"), places=places, bits=bits)
            if arguments.same:
                different += compare(name, arguments.same, places, bits)
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
