#!/usr/bin/env python3
"""Times an exported detector of torchvision on onnxruntime's CPU provider, whole and by stage.

    python time_onnxruntime.py MODEL.onnx --picture PICTURE.png --threads 2

The picture is not resized, as an exported detector does that itself; `--recording FILE.safetensors` takes `input.image`
of a recording instead. The whole is the median of `--runs` runs. The stages have the names of the example
`find_objects`; their times are from a profile of further runs, which is slower.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
from PIL import Image

# A node belongs to the first stage whose beginning of a name it has.
STAGES = {
    "/transform/": "preprocessing",
    "/backbone/body/": "body",
    "/backbone/fpn/": "feature pyramid",
    "/rpn/head/": "region predictions",
    "/rpn/": "proposals",
    "/roi_heads/box_roi_pool/": "box pooling",
    "/roi_heads/box_head/": "box head",
    "/roi_heads/box_predictor/": "box head",
    "/roi_heads/mask_roi_pool/": "mask pooling",
    "/roi_heads/keypoint_roi_pool/": "keypoint pooling",
    "/roi_heads/mask_": "mask head",
    "/roi_heads/keypoint_": "keypoint head",
    "/roi_heads/": "detections",
    "/": "masks in the picture",
}


def stages_of(model):
    """The stage of each node. One without a path in its name belongs to the stage of the node before it."""
    stages, stage = {}, "preprocessing"
    for node in model.graph.node:
        # torchvision maps the boxes of all heads with nodes that have no path, after the last of the heads.
        stage = next((name for start, name in STAGES.items() if node.name.startswith(start)), stage)
        stages[node.name] = "masks in the picture" if node.op_type == "Loop" else stage
    return stages


def names_in_bodies(graph):
    """The names of the nodes in the bodies of control flow, whose time is that of the node around them."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from (inner.name for inner in attribute.g.node)
                yield from names_in_bodies(attribute.g)


def session(path, threads, **settings):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = threads, 1, 3
    for name, value in settings.items():
        setattr(options, name, value)
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def time_whole(path, image, arguments):
    running, times = session(path, arguments.threads), []
    for _ in range(arguments.runs + 2):
        start = time.perf_counter()
        found = running.run(None, {running.get_inputs()[0].name: image})
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:]), min(times[2:]), len(found[0])


def time_stages(path, image, arguments):
    """Milliseconds of each stage, the mean of the runs after the first."""
    model = onnx.load(path, load_external_data=False)
    stages, inside = stages_of(model), set(names_in_bodies(model.graph))
    with tempfile.TemporaryDirectory() as folder:
        running = session(path, arguments.threads, enable_profiling=True, profile_file_prefix=f"{folder}/profile")
        for _ in range(arguments.runs + 1):
            running.run(None, {running.get_inputs()[0].name: image})
        events = json.loads(Path(running.end_profiling()).read_text())
    starts = sorted(event["ts"] for event in events if event["name"] == "model_run")
    totals = Counter()
    for event in events:
        if event.get("cat") == "Node" and event["ts"] >= starts[1]:
            name = event["name"].removesuffix("_kernel_time").removeprefix("fused ")
            if name not in inside:
                totals[stage_of(name, stages)] += event["dur"] / 1000 / arguments.runs
    return totals


def stage_of(name, stages):
    """The stage of a node of the optimized graph, whose name is that of an original node, or begins with it."""
    return stages.get(name) or next((stage for start, stage in STAGES.items() if name.startswith(start)),
                                    "added by onnxruntime")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--picture", type=Path)
    source.add_argument("--recording", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    if arguments.recording:
        image = safetensors.numpy.load_file(arguments.recording)["input.image"]
    else:
        pixels = np.array(Image.open(arguments.picture).convert("RGB"), np.float32)
        image = np.ascontiguousarray(pixels.transpose(2, 0, 1)) / np.float32(255)
    median, least, detections = time_whole(arguments.model, image, arguments)
    print(f"{arguments.model.name}, onnxruntime {onnxruntime.__version__}, {arguments.threads} threads, {detections} "
          f"detections, at least {least * 1000:.1f} ms of {arguments.runs} runs")
    print(f"  {'the whole':24}{median * 1000:9.1f} ms")
    totals = time_stages(arguments.model, image, arguments)
    for stage in [*dict.fromkeys(STAGES.values()), "added by onnxruntime"]:
        if totals[stage]:
            print(f"  {stage:24}{totals[stage]:9.1f} ms")
    print(f"  {'all, profiled':24}{sum(totals.values()):9.1f} ms")


if __name__ == "__main__":
    main()
