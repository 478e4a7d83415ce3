#!/usr/bin/env python3
"""Times torchvision, ONNX Runtime and OpenVINO on the workloads of `benches/throughput`, on the same
boxes and features, in turn with it, and prints one table.

    pip install numpy onnx onnxruntime==1.32.0 openvino==2026.4.1 torch==2.15.0 torchvision==0.29.2
    cargo build --release -p throughput --features ndarray
    python benches/peers.py [--threads 2] [--backends flex,ndarray] [--workloads box-p2,mask-p2] [--cuda]
    python benches/peers.py --backends flex --workloads rotated-p2,prroi-p2,extractor,ps-rfcn,deform-c4

On a GPU: build `throughput` with `--features cuda`, and add `--cuda --backends cuda`.

Every number is the median of at least 7 calls after 2 that warm up. A call of more than 5 seconds is made
once. The peers run one after another on each workload, and this crate last, so that all see the machine in
the same state. A workload that no peer has is compared with this crate's `roi_align` on the same features,
boxes and output size.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Workload:
    """The same as in `benches/throughput/workload.rs`."""

    name: str
    features: tuple
    regions: int
    size: int
    stride: int
    sides: tuple
    samples: int = 0
    operator: str = "roi_align"
    levels: int = 1


STANDARD = [
    Workload("box-p2", (256, 200, 304), 1000, 7, 4, (20, 120), samples=2),
    Workload("box-p2-adaptive", (256, 200, 304), 1000, 7, 4, (20, 120)),
    Workload("c4-adaptive", (1024, 50, 76), 300, 14, 16, (32, 512)),
    Workload("mask-p2", (256, 200, 304), 100, 14, 4, (20, 120), samples=2),
    Workload("vgg-roi-pool", (512, 38, 50), 300, 7, 16, (32, 512), operator="roi_pool"),
]
FURTHER = [
    Workload("rotated-p2", (256, 200, 304), 1000, 7, 4, (20, 120), samples=2, operator="roi_align_rotated"),
    Workload("prroi-p2", (256, 200, 304), 1000, 7, 4, (20, 120), operator="prroi_pool"),
    Workload("extractor", (256, 200, 304), 1000, 7, 4, (16, 512), samples=2, operator="extractor", levels=4),
    Workload("ps-rfcn", (490, 38, 50), 300, 7, 16, (32, 512), operator="ps_roi_pool"),
    Workload("deform-c4", (1024, 50, 76), 300, 7, 16, (32, 512), samples=2, operator="deform_roi_pool"),
]
WORKLOADS = STANDARD + FURTHER
# The operators of the standard workloads, which all peers have.
PLAIN = {"roi_align", "roi_pool"}


def random_numbers(seed, count):
    """SplitMix64, and the upper 24 bits as a fraction: what `random.rs` computes."""
    with np.errstate(over="ignore"):
        steps = np.arange(1, count + 1, dtype=np.uint64)
        mixed = np.uint64(seed) + steps * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return (mixed >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)


def features_of(workload):
    """`[1, C, H, W]` of each level, from -1 to 1."""
    channels, height, width = workload.features
    shapes = [(1, channels, height >> level, width >> level) for level in range(workload.levels)]
    ends = np.cumsum([np.prod(shape) for shape in shapes])
    numbers = random_numbers(1, int(ends[-1])) * 2 - 1
    return [level.reshape(shape) for level, shape in zip(np.split(numbers, ends[:-1]), shapes)]


def boxes_of(workload):
    """`[K, 4]`: width, height and centre are uniform, and what is outside of the image is cut off."""
    w, h, x, y = random_numbers(2, workload.regions * 4).reshape(-1, 4).T
    least, largest = (np.float32(side) for side in workload.sides)
    w, h = (least + side * (largest - least) for side in (w, h))
    _, height, width = workload.features
    width, height = (np.float32(side * workload.stride) for side in (width, height))
    x, y = x * width, y * height
    corners = [
        np.clip(x - w / 2, 0, width),
        np.clip(y - h / 2, 0, height),
        np.clip(x + w / 2, 0, width),
        np.clip(y + h / 2, 0, height),
    ]
    return np.stack(corners, axis=1).astype(np.float32)


def rotated_boxes_of(workload):
    """`[K, 5]`: the same boxes by centre and size, turned by any angle in radians."""
    x1, y1, x2, y2 = boxes_of(workload).T
    angles = (random_numbers(4, workload.regions) * 2 - 1) * np.float32(np.pi)
    return np.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, angles], axis=1)


def with_index(boxes):
    return np.concatenate([np.zeros((len(boxes), 1), np.float32), boxes], axis=1)


def median_time(call):
    """Milliseconds."""
    def timed():
        start = time.perf_counter()
        call()
        return time.perf_counter() - start

    first = timed()
    if first > 5:
        return first * 1e3
    timed()
    times = []
    while len(times) < 7 or sum(times) < 0.5:
        times.append(timed())
    return statistics.median(times) * 1e3


def torchvision_call(workload, threads, device="cpu", backward=False):
    import torch
    from torchvision import ops

    torch.set_num_threads(threads)
    levels = [torch.from_numpy(level).to(device) for level in features_of(workload)]
    features = levels[0]
    boxes = torch.from_numpy(with_index(boxes_of(workload))).to(device)
    size, scale = (workload.size, workload.size), 1 / workload.stride
    ratio = workload.samples or -1
    pooler = ops.MultiScaleRoIAlign([str(level) for level in range(len(levels))], size, ratio)
    image = tuple(side * workload.stride for side in workload.features[1:])

    def forward():
        if workload.operator == "extractor":
            return pooler({str(level): map for level, map in enumerate(levels)}, [boxes[:, 1:]], [image])
        if workload.operator == "ps_roi_pool":
            return ops.ps_roi_pool(features, boxes, size, scale)
        if workload.operator == "roi_pool":
            return ops.roi_pool(features, boxes, size, scale)
        return ops.roi_align(features, boxes, size, scale, ratio, aligned=True)

    if backward:
        for level in levels:
            level.requires_grad_()
        output = forward()
        gradient = torch.from_numpy(random_numbers(3, output.numel()) * 2 - 1).reshape(output.shape).to(device)

    def call():
        if backward:
            result = torch.autograd.grad(output, levels, gradient, retain_graph=True)
        else:
            with torch.no_grad():
                result = forward()
        if device != "cpu":
            torch.cuda.synchronize()
        return result

    return call


def onnxruntime_call(workload, threads):
    import onnxruntime
    from onnx import TensorProto, helper

    scale = 1 / workload.stride
    pool = workload.operator == "roi_pool"
    if pool:
        node = helper.make_node("MaxRoiPool", ["x", "boxes"], ["y"], spatial_scale=scale,
                                pooled_shape=[workload.size] * 2)
    else:
        node = helper.make_node("RoiAlign", ["x", "boxes", "indices"], ["y"], spatial_scale=scale,
                                output_height=workload.size, output_width=workload.size,
                                sampling_ratio=workload.samples, mode="avg",
                                coordinate_transformation_mode="half_pixel")
    columns = 5 if pool else 4
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *workload.features]),
        helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [workload.regions, columns]),
        helper.make_tensor_value_info("indices", TensorProto.INT64, [workload.regions]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    inputs = inputs[:2] if pool else inputs
    graph = helper.make_graph([node], "graph", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    boxes = boxes_of(workload)
    feeds = {"x": features_of(workload)[0], "boxes": with_index(boxes) if pool else boxes}
    if not pool:
        feeds["indices"] = np.zeros(workload.regions, np.int64)
    return lambda: session.run(None, feeds)[0]


def openvino_node(workload, arguments):
    """The operator, and its parameters."""
    from openvino import opset2, opset9, opset15
    from openvino.utils.node_factory import NodeFactory

    parameters = [opset9.parameter(list(argument.shape), argument.dtype) for argument in arguments]
    size, scale = workload.size, 1 / workload.stride
    if workload.operator == "roi_pool":
        return opset2.roi_pooling(*parameters, [size] * 2, scale, "max"), parameters
    if workload.operator == "roi_align_rotated":
        return opset15.roi_align_rotated(*parameters, size, size, workload.samples, scale, False), parameters
    if workload.operator == "extractor":
        attributes = {"output_size": size, "sampling_ratio": workload.samples, "aligned": False,
                      "pyramid_scales": [workload.stride << level for level in range(workload.levels)]}
        # It has no function in Python.
        node = NodeFactory("opset6").create("ExperimentalDetectronROIFeatureExtractor", parameters, attributes)
        return node.output(0), parameters
    return opset9.roi_align(*parameters, size, size, workload.samples, scale, "avg", "half_pixel_for_nn"), parameters


def openvino_call(workload, threads):
    import openvino

    features, boxes = features_of(workload), boxes_of(workload)
    indices = np.zeros(workload.regions, np.int32)
    arguments = {
        "roi_align": [*features, boxes, indices],
        "roi_pool": [*features, with_index(boxes)],
        "roi_align_rotated": [*features, rotated_boxes_of(workload), indices],
        "extractor": [boxes, *features],
    }[workload.operator]
    node, parameters = openvino_node(workload, arguments)
    model = openvino.Model([node], parameters)
    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", options).create_infer_request()
    for number, argument in enumerate(arguments):
        request.set_input_tensor(number, openvino.Tensor(argument))

    def call():
        request.infer()
        return request.get_output_tensor(0).data

    return call


OPERATORS = {
    "torchvision": PLAIN | {"ps_roi_pool", "extractor"},
    "onnxruntime": PLAIN,
    "openvino": PLAIN | {"roi_align_rotated", "extractor"},
}
FORWARD_ON_CPU = ["torchvision", "onnxruntime", "openvino"]
PEERS = {
    "torchvision": torchvision_call,
    "onnxruntime": onnxruntime_call,
    "openvino": openvino_call,
    "torchvision-cuda": lambda workload, threads: torchvision_call(workload, threads, "cuda"),
    "torchvision-backward": lambda workload, threads: torchvision_call(workload, threads, backward=True),
    "torchvision-cuda-backward": lambda workload, threads: torchvision_call(workload, threads, "cuda", backward=True),
}


def peer_time(workload, peer, threads):
    """In a process of its own, since two frameworks in one ended in a segmentation fault; none without the operator."""
    if workload.operator not in OPERATORS[peer.split("-")[0]]:
        return None
    command = [sys.executable, __file__, "--time", peer, "--workloads", workload.name,
               "--threads", str(threads)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(output.stdout.splitlines()[-1])


def own_time(workload, backend, threads, options=()):
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = target / "release" / "throughput"
    command = [str(program), "--json", "--backend", backend, "--threads", str(threads),
               "--workload", workload.name, *options]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["median_ms"]


def written(milliseconds):
    """With at least two digits that count: a GPU's times are well below one."""
    if milliseconds is None:
        return "–"
    return f"{milliseconds:.{1 if milliseconds >= 10 else 2 if milliseconds >= 1 else 3}f}"


def row_of(workload, peers, backends, threads, backward=False):
    """Milliseconds of each peer and backend, none without the operator, and what the first backend is compared with."""
    times = {peer: peer_time(workload, peer, threads) for peer in peers}
    options = ["--backward"] if backward else []
    own = {backend: own_time(workload, backend, threads, options) for backend in backends}
    measured = [value for value in times.values() if value is not None]
    if measured:
        ratio = f"{min(measured) / own[backends[0]]:.1f}"
    else:
        roi_align = own_time(workload, backends[0], threads, [*options, "--as-roi-align"])
        ratio = f"{own[backends[0]] / roi_align:.1f} x roi_align"
    return {**times, **own}, ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backends", default="flex,ndarray", help="of this crate, the first compared")
    parser.add_argument("--workloads", default=",".join(w.name for w in STANDARD))
    parser.add_argument("--cuda", action="store_true", help="torchvision on CUDA instead of CPU peers")
    parser.add_argument("--backward", action="store_true", help="the gradient of features alone, against torchvision")
    parser.add_argument("--time", choices=PEERS, help="print the milliseconds of one peer and workload")
    arguments = parser.parse_args()
    chosen = [w for w in WORKLOADS if w.name in arguments.workloads.split(",")]
    if arguments.time:
        print(median_time(PEERS[arguments.time](chosen[0], arguments.threads)))
        return

    peers = ["torchvision-cuda"] if arguments.cuda else FORWARD_ON_CPU
    if arguments.backward:
        peers = [peers[0] + "-backward"]
    backends = arguments.backends.split(",")
    print(f"milliseconds, float32, {arguments.threads} threads; the last column is the fastest peer over "
          f"{backends[0]}, or {backends[0]} over its roi_align")
    columns = ["workload", *peers, *backends, "ratio"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for workload in chosen:
        times, ratio = row_of(workload, peers, backends, arguments.threads, arguments.backward)
        cells = [written(value) for value in times.values()]
        print(f"| {workload.name} | " + " | ".join(cells) + f" | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
