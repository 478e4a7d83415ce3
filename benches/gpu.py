#!/usr/bin/env python3
"""Times this crate and torchvision on a GPU, on the workloads of `benches/throughput`: forward calls and the gradient
of features, in f32, f16 and bf16. Also times a copy on the device, which no call can outrun, and torchvision's NMS.

    cargo build --release -p throughput --features cuda
    python benches/gpu.py --program target/release/throughput --output times.jsonl

A time is the mean of a burst of calls, since one call takes less time than a wait for the device; the median of at
least 7 bursts is written. Both sides work on the same features, boxes and gradients of the output. Each line of the
output is a time, and is written at once, so that a run which ends early leaves what it has. Without torch and
torchvision only this crate is timed.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import time

from peers import STANDARD, WORKLOADS, boxes_of, features_of, random_numbers, with_index

try:
    import torch
    from torchvision import ops
except ImportError as missing:
    torch, MISSING = None, str(missing)

DTYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}
# Each is larger than the caches of any GPU.
COPIED_BYTES = 1 << 30


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the command that runs benches/throughput")
    parser.add_argument("--backend", default="cuda", help="of this crate")
    parser.add_argument("--device", default="cuda", help="of PyTorch")
    parser.add_argument("--workloads", default=",".join(workload.name for workload in STANDARD))
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--directions", default="forward,backward")
    parser.add_argument("--burst", type=int, default=20)
    parser.add_argument("--output", required=True)
    return parser.parse_args()


def wait(device):
    if device != "cpu":
        torch.cuda.synchronize()


def median_ms(call, device, burst):
    """Milliseconds of a call."""

    def timed(calls):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        wait(device)
        return (time.perf_counter() - start) / calls

    timed(1), timed(1)
    times, began = [], time.perf_counter()
    while len(times) < 7 or time.perf_counter() - began < 0.5:
        times.append(timed(burst))
        if times[-1] * burst > 5:
            break
    return statistics.median(times) * 1e3


def torchvision_call(workload, dtype, direction, device):
    """A call without arguments, as `peers.torchvision_call` in other dtypes."""
    levels = [torch.from_numpy(level).to(device, dtype) for level in features_of(workload)]
    boxes = torch.from_numpy(with_index(boxes_of(workload))).to(device, dtype)
    size, scale = (workload.size, workload.size), 1 / workload.stride
    ratio = workload.samples or -1
    pooler = ops.MultiScaleRoIAlign([str(level) for level in range(len(levels))], size, ratio)
    image = tuple(side * workload.stride for side in workload.features[1:])
    functions = {
        "roi_align": lambda: ops.roi_align(levels[0], boxes, size, scale, ratio, aligned=True),
        "roi_pool": lambda: ops.roi_pool(levels[0], boxes, size, scale),
        "ps_roi_pool": lambda: ops.ps_roi_pool(levels[0], boxes, size, scale),
        "extractor": lambda: pooler(dict(zip(pooler.featmap_names, levels)), [boxes[:, 1:]], [image]),
    }
    if workload.operator not in functions:
        return None
    forward = functions[workload.operator]
    if direction == "forward":
        return torch.no_grad()(forward)
    for level in levels:
        level.requires_grad_()
    output = forward()
    gradient = torch.from_numpy(random_numbers(3, output.numel()) * 2 - 1).reshape(output.shape).to(device, dtype)
    return lambda: torch.autograd.grad(output, levels, gradient, retain_graph=True)


def torchvision_time(workload, dtype, direction, device, burst):
    """A record, with the error in place of the time where torchvision has none for it, as for bf16."""
    record = {"workload": workload.name, "dtype": dtype, "direction": direction, "of": "torchvision"}
    if torch is None:
        return {**record, "error": MISSING}
    try:
        call = torchvision_call(workload, getattr(torch, DTYPES[dtype]), direction, device)
        if call is None:
            return {**record, "error": "no such operator"}
        return {**record, "ms": median_ms(call, device, burst)}
    except RuntimeError as error:
        return {**record, "error": str(error).splitlines()[0]}
    finally:
        if device != "cpu":
            torch.cuda.empty_cache()


def own_times(names, dtype, direction, options):
    """A record of each workload, or of the error."""
    command = [*shlex.split(options.program), "--json", "--backend", options.backend, "--dtype", dtype,
               "--workload", ",".join(names), "--burst", str(options.burst)]
    command += ["--backward"] if direction == "backward" else []
    ran = subprocess.run(command, capture_output=True, text=True)
    of = {"dtype": dtype, "direction": direction, "of": "burn-roi"}
    for line in ran.stdout.splitlines():
        measured = json.loads(line)
        yield {**of, "workload": measured["workload"], "ms": measured["median_ms"],
               "first_ms": measured["first_ms"], "gb_per_s": measured["gb_per_s"]}
    if ran.returncode:
        yield {**of, "workload": ",".join(names), "error": " ".join(ran.stderr.splitlines()[-3:])}


def copy_bandwidth(device, burst):
    """Bytes read and written in a second by a copy on the device."""
    size = COPIED_BYTES if device != "cpu" else COPIED_BYTES >> 4
    source = torch.rand(size // 4, device=device)
    target = torch.empty_like(source)
    ms = median_ms(lambda: target.copy_(source), device, burst)
    return {"of": "copy", "gb_per_s": 2 * size / ms / 1e6}


def nms_time(count, device, burst):
    """A record of torchvision's NMS of boxes as those of `burn-roi-detection/benches/nms.rs`: 48,400 that all stay,
    or random ones."""
    if count == 48400:
        place = torch.arange(count)
        corner = torch.stack([place % 220, place // 220], 1) * 8.0
        boxes, scores = torch.cat([corner, corner + 8], 1), (place * 7919 % count).float()
    else:
        corner = torch.rand(count, 2) * torch.tensor([1144.0, 728.0])
        boxes, scores = torch.cat([corner, corner + 8 + torch.rand(count, 2) * 64], 1), torch.rand(count)
    boxes, scores = boxes.to(device), scores.to(device)
    return {"of": "torchvision", "nms": count, "ms": median_ms(lambda: ops.nms(boxes, scores, 0.5), device, burst)}


def main():
    options = arguments()
    chosen = [workload for workload in WORKLOADS if workload.name in options.workloads.split(",")]
    names = [workload.name for workload in chosen]
    with open(options.output, "w", encoding="utf-8") as output:

        def write(record):
            print(json.dumps(record), file=output, flush=True)
            print(json.dumps(record), flush=True)

        if torch is not None:
            device = "cpu" if options.device == "cpu" else torch.cuda.get_device_name()
            write({"of": "machine", "device": device, "torch": torch.__version__, "backend": options.backend})
            write(copy_bandwidth(options.device, options.burst))
            for count in [48400, 2000, 20000]:
                write(nms_time(count, options.device, 1))
        for dtype in options.dtypes.split(","):
            for direction in options.directions.split(","):
                for workload in chosen:
                    write(torchvision_time(workload, dtype, direction, options.device, options.burst))
                for record in own_times(names, dtype, direction, options):
                    write(record)


if __name__ == "__main__":
    sys.exit(main())
