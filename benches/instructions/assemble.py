#!/usr/bin/env python3
"""Has NVIDIA's assembler make machine code of every kernel that a program compiles for CUDA, without a GPU, and prints
the registers of a unit and the bytes that it spills. Fails where the assembler refuses a kernel.

    pip install nvidia-cuda-nvcc
    cargo test --no-run --no-default-features --features cuda --test conformance  # links LLVM: see scripts/debian_llvm
    python benches/instructions/assemble.py PROGRAM [--ptxas PATH]

The conformance cases need every kernel but `gather_points` and `pull_points`, the gradients of operators that read
points. Their results are wrong, since the driver computes nothing.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

OURS = ("pool_", "gather_", "pull_")


def installed():
    """The assembler of the Python package, if it is installed."""
    package = find_spec("nvidia")
    roots = package.submodule_search_locations if package else []
    return next((path for root in roots for path in Path(root).glob("*/bin/ptxas")), None)


def build_driver(folder):
    sources = [Path(__file__).with_name(name) for name in ("driver.c", "gpu.c")]
    command = ["cc", "-O2", "-march=native", "-shared", "-fPIC", "-o", Path(folder, "libcuda.so.1"), *sources]
    subprocess.run(command, check=True)


def compiled(program, folder):
    """The kernels that a program compiles, as PTX."""
    build_driver(folder)
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "MODULES": folder}
    environment["ROI_BACKENDS"] = "cuda"
    subprocess.run([program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return sorted(path for path in Path(folder).glob("*.ptx") if path.stem.isdigit())


def assemble(ptxas, path):
    """The kernel's name, its registers and spilled bytes, or what the assembler says against it."""
    name = re.search(r"\.entry (\w+)", path.read_text()).group(1)
    target = re.search(r"\.target (\w+)", path.read_text()).group(1)
    command = [ptxas, f"-arch={target}", "-v", path, "-o", os.devnull]
    result = subprocess.run(command, capture_output=True, text=True)
    said = result.stdout + result.stderr
    if result.returncode:
        return name, None, said
    registers = int(re.search(r"Used (\d+) registers", said).group(1))
    spilled = re.search(r"(\d+) bytes spill stores", said)
    return name, registers, int(spilled.group(1)) if spilled else 0


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--ptxas", type=Path)
    arguments = arguments.parse_args()
    ptxas = arguments.ptxas or installed()
    with tempfile.TemporaryDirectory() as folder:
        kernels = [assemble(ptxas, path) for path in compiled(arguments.program, folder)]
    refused = [(name, said) for name, registers, said in kernels if registers is None]
    for name, said in refused:
        print(f"{name}: {said}")
    print("| kernel | variants | registers | bytes spilled |")
    print("|---|---|---|---|")
    taken = {}
    for name, registers, spilled in kernels:
        if registers is not None and name.startswith(OURS):
            taken.setdefault(name.split("_f_")[0], []).append((registers, spilled))
    for name, values in sorted(taken.items()):
        registers, spilled = (sorted({value[which] for value in values}) for which in (0, 1))
        spans = [f"{span[0]} to {span[-1]}" if len(span) > 1 else f"{span[0]}" for span in (registers, spilled)]
        print(f"| {name} | {len(values)} | {spans[0]} | {spans[1]} |")
    print(f"{len(kernels)} kernels assembled, {len(refused)} refused")
    sys.exit(1 if refused or not taken else 0)


if __name__ == "__main__":
    main()
