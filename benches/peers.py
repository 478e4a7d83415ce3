#!/usr/bin/env python3
"""Times torchvision, ONNX Runtime and OpenVINO on the workloads of `examples/throughput`, on the same
boxes and features, in turn with it, and prints one table.

    pip install numpy onnx onnxruntime==1.31.1 openvino==2026.4.1 torch torchvision==0.26.0
    cargo build --release -p throughput --features ndarray
    python benches/peers.py [--threads 2] [--backends flex,ndarray] [--workloads box-p2,mask-p2] [--cuda]

On a GPU: build `throughput` with `--features cuda`, and add `--cuda --backends cuda`.

Every number is the median of at least 7 calls after 2 that warm up. The peers run one after another on
each workload, and this crate last, so that all see the machine in the same state.
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
    """The same as in `examples/throughput/workload.rs`."""

    name: str
    features: tuple
    regions: int
    size: int
    stride: int
    sides: tuple
    samples: int = 0
    pool: bool = False


WORKLOADS = [
    Workload("box-p2", (256, 200, 304), 1000, 7, 4, (20, 120), samples=2),
    Workload("box-p2-adaptive", (256, 200, 304), 1000, 7, 4, (20, 120)),
    Workload("c4-adaptive", (1024, 50, 76), 300, 14, 16, (32, 512)),
    Workload("mask-p2", (256, 200, 304), 100, 14, 4, (20, 120), samples=2),
    Workload("vgg-roi-pool", (512, 38, 50), 300, 7, 16, (32, 512), pool=True),
]


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
    """`[1, C, H, W]`, from -1 to 1."""
    numbers = random_numbers(1, int(np.prod(workload.features)))
    return (numbers * 2 - 1).reshape(1, *workload.features)


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


def median_time(call):
    """Milliseconds."""
    for _ in range(2):
        call()
    times = []
    while len(times) < 7 or sum(times) < 0.5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def torchvision_call(workload, threads, device="cpu", backward=False):
    import torch
    from torchvision import ops

    torch.set_num_threads(threads)
    features = torch.from_numpy(features_of(workload)).to(device)
    first = np.zeros((workload.regions, 1), np.float32)
    boxes = torch.from_numpy(np.concatenate([first, boxes_of(workload)], axis=1)).to(device)
    size, scale = (workload.size, workload.size), 1 / workload.stride
    ratio = workload.samples or -1

    def forward():
        if workload.pool:
            return ops.roi_pool(features, boxes, size, scale)
        return ops.roi_align(features, boxes, size, scale, ratio, aligned=True)

    if backward:
        features.requires_grad_()
        output = forward()
        gradient = torch.from_numpy(random_numbers(3, output.numel()) * 2 - 1).reshape(output.shape).to(device)

    def call():
        if backward:
            result = torch.autograd.grad(output, features, gradient, retain_graph=True)
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
    if workload.pool:
        node = helper.make_node("MaxRoiPool", ["x", "boxes"], ["y"], spatial_scale=scale,
                                pooled_shape=[workload.size] * 2)
    else:
        node = helper.make_node("RoiAlign", ["x", "boxes", "indices"], ["y"], spatial_scale=scale,
                                output_height=workload.size, output_width=workload.size,
                                sampling_ratio=workload.samples, mode="avg",
                                coordinate_transformation_mode="half_pixel")
    columns = 5 if workload.pool else 4
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, *workload.features]),
        helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [workload.regions, columns]),
        helper.make_tensor_value_info("indices", TensorProto.INT64, [workload.regions]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    inputs = inputs[:2] if workload.pool else inputs
    graph = helper.make_graph([node], "graph", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    boxes = boxes_of(workload)
    feeds = {"x": features_of(workload), "boxes": boxes}
    if workload.pool:
        first = np.zeros((workload.regions, 1), np.float32)
        feeds["boxes"] = np.concatenate([first, boxes], axis=1)
    else:
        feeds["indices"] = np.zeros(workload.regions, np.int64)
    return lambda: session.run(None, feeds)[0]


def openvino_call(workload, threads):
    import openvino
    from openvino import opset9, opset2

    features = opset9.parameter([1, *workload.features], np.float32)
    scale = 1 / workload.stride
    boxes = boxes_of(workload)
    if workload.pool:
        boxes = np.concatenate([np.zeros((workload.regions, 1), np.float32), boxes], axis=1)
        regions = opset9.parameter(list(boxes.shape), np.float32)
        node = opset2.roi_pooling(features, regions, [workload.size] * 2, scale, "max")
        parameters, arguments = [features, regions], [features_of(workload), boxes]
    else:
        regions = opset9.parameter(list(boxes.shape), np.float32)
        indices = opset9.parameter([workload.regions], np.int32)
        node = opset9.roi_align(features, regions, indices, workload.size, workload.size,
                                workload.samples, scale, "avg", "half_pixel_for_nn")
        parameters = [features, regions, indices]
        arguments = [features_of(workload), boxes, np.zeros(workload.regions, np.int32)]
    model = openvino.Model([node], parameters)
    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", options).create_infer_request()
    for number, argument in enumerate(arguments):
        request.set_input_tensor(number, openvino.Tensor(argument))

    def call():
        request.infer()
        return request.get_output_tensor(0).data

    return call


PEERS = {
    "torchvision": torchvision_call,
    "onnxruntime": onnxruntime_call,
    "openvino": openvino_call,
    "torchvision-cuda": lambda workload, threads: torchvision_call(workload, threads, "cuda"),
    "torchvision-backward": lambda workload, threads: torchvision_call(workload, threads, backward=True),
    "torchvision-cuda-backward": lambda workload, threads: torchvision_call(workload, threads, "cuda", backward=True),
}


def peer_time(workload, peer, threads):
    """In a process of its own: two frameworks in one have ended in a segmentation fault."""
    command = [sys.executable, __file__, "--time", peer, "--workloads", workload.name,
               "--threads", str(threads)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(output.stdout.splitlines()[-1])


def own_time(workload, backend, threads, backward):
    program = ROOT / "target" / "release" / "throughput"
    command = [str(program), "--json", "--backend", backend, "--threads", str(threads),
               "--workload", workload.name]
    if backward:
        command.append("--backward")
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)["median_ms"]


def written(milliseconds):
    """With at least two digits that count: a GPU's times are well below one."""
    return f"{milliseconds:.{1 if milliseconds >= 10 else 2 if milliseconds >= 1 else 3}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--backends", default="flex,ndarray", help="of this crate, the first compared")
    parser.add_argument("--workloads", default=",".join(w.name for w in WORKLOADS))
    parser.add_argument("--cuda", action="store_true", help="torchvision on CUDA instead of CPU peers")
    parser.add_argument("--backward", action="store_true", help="the gradient of features alone, against torchvision")
    parser.add_argument("--time", choices=PEERS, help="print the milliseconds of one peer and workload")
    arguments = parser.parse_args()
    chosen = [w for w in WORKLOADS if w.name in arguments.workloads.split(",")]
    if arguments.time:
        print(median_time(PEERS[arguments.time](chosen[0], arguments.threads)))
        return

    forward_on_cpu = ["torchvision", "onnxruntime", "openvino"]
    peers = ["torchvision-cuda"] if arguments.cuda else forward_on_cpu
    if arguments.backward:
        peers = [peers[0] + "-backward"]
    backends = arguments.backends.split(",")
    print(f"milliseconds, float32, {arguments.threads} threads; the last column is the fastest peer over "
          f"{backends[0]}")
    columns = ["workload", *peers, *backends, "ratio"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for workload in chosen:
        times = [peer_time(workload, peer, arguments.threads) for peer in peers]
        own = [own_time(workload, backend, arguments.threads, arguments.backward) for backend in backends]
        cells = [written(value) for value in [*times, *own]]
        print(f"| {workload.name} | " + " | ".join(cells) + f" | {min(times) / own[0]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
