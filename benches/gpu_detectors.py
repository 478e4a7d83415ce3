#!/usr/bin/env python3
"""Times a Mask R-CNN of full width in torchvision and here, on a GPU: a detection in one picture and in eight, and a
training step of two pictures, each in f32 and with layers of bf16. Both have the same random weights and the same
picture.

    cargo bench --no-run -p burn-roi-detection --bench detector --no-default-features --features flex,cuda,train
    python benches/gpu_detectors.py --program target/release/deps/detector-HASH --output detectors.jsonl

Each line of the output is a time in milliseconds, and is written at once. torch multiplies f32 by TF32 where it does so
by default. Without torch and torchvision there are no weights, and nothing is timed.
"""

import argparse
import contextlib
import copy
import json
import shlex
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "examples/find_objects/train"), str(ROOT / "burn-roi-detection/tests/models")]
MODEL = "maskrcnn_resnet50_fpn"
OBJECTS = 8


def write_safetensors(path, tensors):
    """Tensors of f32 by name. The package of that name may not be at hand."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        bytes_of = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data + bytes_of)]}
        data += bytes_of
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def prepared(folder, min_size):
    """The model and the picture, and the files that the program here reads."""
    import behave
    import shapes
    import torch
    import torchvision

    drawn = shapes.picture(7, 0, (320, 240), extent=(20, 160), most=OBJECTS, least=OBJECTS).pixels
    picture = torch.from_numpy(drawn).permute(2, 0, 1).contiguous() / 255
    torch.manual_seed(0)
    model = getattr(torchvision.models.detection, MODEL)(weights=None, weights_backbone=None, min_size=min_size).eval()
    behave.prepare(model, [picture], 0.0, 400)
    with torch.inference_mode():
        boxes = model([picture])[0]["boxes"][:OBJECTS].clone()
    torch.save(model.state_dict(), folder / "model.pth")
    write_safetensors(folder / "picture.safetensors", {"input.image": picture, "torch.boxes": boxes})
    return model, picture, boxes


def torch_times(model, picture, boxes, device):
    """Milliseconds by name."""
    import torch

    model, picture, boxes = model.to(device), picture.to(device), boxes.to(device)

    def median_ms(call, runs=5):
        # A CPU only rehearses. Without AVX-512 it takes half a minute for a picture in bf16.
        calls = 1 if device == "cpu" else 1 + runs
        times = []
        for _ in range(calls):
            start = time.perf_counter()
            call()
            if device != "cpu":
                torch.cuda.synchronize()
            times.append((time.perf_counter() - start) * 1e3)
        return statistics.median(times[-runs:])

    precisions = [("", contextlib.nullcontext()), (", bf16", torch.autocast(device, dtype=torch.bfloat16))]
    for suffix, precision in precisions:
        with torch.inference_mode(), precision:
            yield "a picture" + suffix, median_ms(lambda: model([picture]))
            yield "8 pictures" + suffix, median_ms(lambda: model([picture] * 8))
    rows = torch.arange(picture.shape[1], device=device)[:, None]
    columns = torch.arange(picture.shape[2], device=device)[None]
    masks = torch.stack([(columns >= x1) & (columns < x2) & (rows >= y1) & (rows < y2) for x1, y1, x2, y2 in boxes])
    target = {"boxes": boxes, "labels": torch.ones(len(boxes), dtype=torch.int64, device=device), "masks": masks.byte()}
    # What torchvision's fine-tuning freezes.
    for name, weight in model.backbone.body.named_parameters():
        weight.requires_grad_(name.startswith(("layer2", "layer3", "layer4")))
    optimizer = torch.optim.SGD([weight for weight in model.parameters() if weight.requires_grad], 1e-4, 0.9)
    model.train()
    for suffix, precision in precisions:

        def step():
            with precision:
                losses = model([picture] * 2, copy.deepcopy([target] * 2))
            optimizer.zero_grad()
            sum(losses.values()).backward()
            optimizer.step()

        yield "a step" + suffix, median_ms(step, 4)


def own_times(options, folder):
    parts = [("stages", 5, "all", "a picture"), ("batch", 8, "one call", "8 pictures"),
             ("train", 2, "a step", "a step")]
    halves = [(part + "-bf16", number, printed, name + ", bf16") for part, number, printed, name in parts]
    for part, number, printed, name in parts + halves:
        command = [*shlex.split(options.program), MODEL, str(folder / "model.pth"), str(folder / "picture.safetensors"),
                   part, str(number), options.backend, str(options.min_size)]
        ran = subprocess.run(command, capture_output=True, text=True)
        lines = [line.split() for line in ran.stdout.splitlines()]
        times = [float(line[-2]) for line in lines if line[-1:] == ["ms"] and " ".join(line[:-2]) == printed]
        yield name, times[0] if times else "; ".join(ran.stderr.splitlines()[-3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the command that runs the bench `detector`")
    parser.add_argument("--backend", default="cuda", help="of this crate")
    parser.add_argument("--device", default="cuda", help="of PyTorch")
    parser.add_argument("--min-size", type=int, default=800, help="the shorter side that pictures are enlarged to")
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, open(options.output, "w", encoding="utf-8") as output:
        folder = Path(folder)
        model, picture, boxes = prepared(folder, options.min_size)
        for of, times in (("burn-roi", own_times(options, folder)),
                          ("torchvision", torch_times(model, picture, boxes, options.device))):
            for name, measured in times:
                record = {"of": of, "call": name, "ms" if isinstance(measured, float) else "error": measured}
                for stream in (output, sys.stdout):
                    print(json.dumps(record), file=stream, flush=True)


if __name__ == "__main__":
    sys.exit(main())
