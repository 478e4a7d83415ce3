#!/usr/bin/env python3
"""Runs the frameworks on small random problems and stores what they answer.

Every file is one case: an input, boxes, the operator's attributes under the owner's own names, and the output. The
operators of each framework are a file of `frameworks/`; `problems.py` draws what they are asked.
"""

import argparse
import json
import struct
import zlib
from pathlib import Path

import numpy as np

from frameworks import directml, mindspore, mmcv, onnx, openvino, openvino_points, paddle, tensorflow, torchvision
from problems import Dealer

# The function of each operator, and why it gives no cases of some types. What follows a `/` names files only.
OPERATORS = {
    operator: of_operator
    for owner in [torchvision, onnx, openvino, openvino_points, paddle, tensorflow, mindspore, mmcv, directml]
    for operator, of_operator in owner.OPERATORS.items()
}
DTYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64}
STORED_NAMES = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64"}


def save(path, operator, case):
    """Writes safetensors byte by byte: the library's order of metadata changes from run to run."""
    header = {"__metadata__": {"op": operator, "attrs": json.dumps(case.attributes),
                               "source": case.source, "tolerance": str(case.tolerance)}}
    data = b""
    # The widest elements first, so that all are aligned.
    for name, tensor in sorted(case.tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        content = tensor.tobytes()
        header[name] = {"dtype": STORED_NAMES[tensor.dtype.name], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def generate(operator, make, skipped, arguments):
    if arguments.dtype in skipped:
        print(f"{operator}: no {arguments.dtype}, {skipped[arguments.dtype]}")
        return
    # Seeded by its name, an operator's cases don't depend on which others are generated.
    dealer = Dealer([arguments.seed, zlib.crc32(operator.encode())], arguments.stretch)
    for number in range(arguments.count):
        case = make(dealer, DTYPES[arguments.dtype])
        for tensor in case.tensors.values():
            assert np.isfinite(tensor).all(), (operator, number)
        name = f"{operator.replace('.', '_').replace('/', '_')}_{number:03}.safetensors"
        save(arguments.output / name, operator.split("/")[0], case)
    print(f"{operator}: {arguments.count} cases, {case.source}")


def main():
    owners = list(dict.fromkeys(operator.split(".")[0] for operator in OPERATORS))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=12, help="cases of each operator")
    parser.add_argument("--operators", default=",".join(owners), help="owners, separated by commas")
    parser.add_argument("--stretch", type=int, default=1, help="ordinary maps are this many times as long")
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    arguments = parser.parse_args()
    chosen = arguments.operators.split(",")
    if unknown := set(chosen) - set(owners):
        parser.error(f"unknown owners {sorted(unknown)}; there are {owners}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for operator, (make, skipped) in OPERATORS.items():
        if operator.split(".")[0] in chosen:
            generate(operator, make, skipped, arguments)


if __name__ == "__main__":
    main()
