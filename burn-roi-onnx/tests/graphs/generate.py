#!/usr/bin/env python3
"""Writes small ONNX graphs, and what a runtime or a reference makes of them.

    pip install -r requirements.txt
    python generate.py

For each graph NAME of graphs.json this writes NAME.onnx and NAME.safetensors, and for some NAME.RUN.safetensors: the
tensors input.INPUT and output.OUTPUT of one run. README.md says where the numbers come from. The same files come out
again, byte by byte.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import safetensors.numpy

import differential
import exported
import resizing
import selection
import standard
import suppression
import vendors
from graph import FLIPPED, flipped

MOST_BYTES = 30_000
# The checker knows no vendor's operators.
STANDARD = {"Expand", "GatherND", "GridSample", "Loop", "MaxRoiPool", "NonMaxSuppression", "Pad", "Resize", "RoiAlign",
            "Scatter", "ScatterND", "TopK", "Unsqueeze", "Upsample"}


def write(path, content):
    path.write_bytes(content)
    assert len(content) <= MOST_BYTES, (path.name, len(content))


def save(graph, folder):
    """Writes the files of a graph, and returns its entry of graphs.json."""
    recordings = []
    for run, inputs, outputs, source in graph.recordings():
        recording = f"{graph.name}.{run}.safetensors" if run else f"{graph.name}.safetensors"
        tensors = {f"input.{name}": tensor for name, tensor in inputs.items()}
        tensors |= {f"output.{name}": tensor for name, tensor in outputs.items()}
        content = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
        write(folder / recording, safetensors.numpy.save(content))
        recordings.append(recording)
    model = graph.model()
    # ONNX has one type for maps and boxes.
    mixed = graph.name.endswith("_boxes_f32")
    if graph.domain == "" and graph.operator in STANDARD and not mixed:
        onnx.checker.check_model(model, full_check=True)
    write(folder / f"{graph.name}.onnx", model.SerializeToString(deterministic=True))
    entry = {"name": graph.name, "operator": graph.operator, "domain": graph.domain, "opset": graph.opset,
             "recordings": recordings, "source": source, "tolerance": graph.of_tolerance()}
    return entry | ({"note": graph.note} if graph.note else {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    entries = []
    for module in [standard, vendors, suppression, selection, resizing, exported, differential]:
        entries += [save(flipped(graph) if graph.name in FLIPPED else graph, arguments.output)
                    for graph in module.graphs()]
    lines = ",\n".join("  " + json.dumps(entry) for entry in entries)
    (arguments.output / "graphs.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(entries)} graphs, {sum(len(entry['recordings']) for entry in entries)} recordings")


if __name__ == "__main__":
    main()
