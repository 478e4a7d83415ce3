#!/usr/bin/env python3
"""Times whole detectors of torchvision: torch, ONNX Runtime, this project's own, and its import of the ONNX file.

    pip install -r burn-roi-onnx/detectors/requirements.txt
    python burn-roi-onnx/detectors/export.py --models maskrcnn_resnet50_fpn --opsets 16 --weights --output DIR
    ONNX_DETECTORS_JOINED=1 ONNX_DETECTORS=DIR/maskrcnn_resnet50_fpn_opset16.onnx \\
        cargo build --release -p onnx_detectors --features x86-v4
    cargo bench --no-run -p burn-roi-detection --bench detector --no-default-features --features flex,train,x86-v4
    python benches/detectors.py --name intel-xeon DIR

All have the same random weights and the same picture. ONNX Runtime's stages come from a profile, which slows it; its
whole does not. A batch is 8 pictures in one call, beside 8 calls. A training step has 2 pictures with 8 objects each.
`benches/results/NAME-detector.json` has the numbers, and `NAME-detector.svg` the chart. The tables go into
BENCHMARKS.md, between the lines `<!-- report NAME-detector -->` and `<!-- end of report -->`.
"""

import argparse
import copy
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import peers
import report

MODEL = "maskrcnn_resnet50_fpn"
# What a stage of torchvision is called here. What is outside of all of these is the last stage.
MODULES = {
    "transform": "preprocessing",
    "backbone.body": "body",
    "backbone.fpn": "feature pyramid",
    "rpn": "proposals",
    "rpn.head": "region predictions",
    "roi_heads": "detections",
    "roi_heads.box_roi_pool": "box pooling",
    "roi_heads.box_head": "box head",
    "roi_heads.box_predictor": "box head",
    "roi_heads.mask_roi_pool": "mask pooling",
    "roi_heads.mask_head": "mask head",
    "roi_heads.mask_predictor": "mask head",
}
LAST = "masks in the picture"
STAGES = ["preprocessing", "body", "feature pyramid", "region predictions", "proposals", "box pooling", "box head",
          "detections", "mask pooling", "mask head", LAST]
CONVOLUTIONS = {"body", "feature pyramid", "region predictions", "box head", "mask head"}
OBJECTS = 8


class Clock:
    """The seconds of each stage. A module inside another takes the time away from it."""

    def __init__(self, model):
        self.stack, self.since, self.seconds = [LAST], 0.0, {}
        for name, stage in MODULES.items():
            module = model.get_submodule(name)
            module.register_forward_pre_hook(lambda _module, _inputs, stage=stage: self.switch(stage))
            module.register_forward_hook(lambda _module, _inputs, _output: self.switch(None))

    def switch(self, stage):
        now = time.perf_counter()
        current = self.stack[-1]
        self.seconds[current] = self.seconds.get(current, 0.0) + now - self.since
        self.since = now
        self.stack.append(stage) if stage else self.stack.pop()

    def run(self, work):
        self.seconds, self.since = {}, time.perf_counter()
        work()
        self.switch(LAST)
        self.stack.pop()
        return {stage: seconds * 1e3 for stage, seconds in self.seconds.items()}


def torchvision_model(folder):
    """The model with the weights of the folder, the recorded picture, and torch's boxes in it."""
    import safetensors.torch
    import torch
    import torchvision

    sys.path.insert(0, str(peers.ROOT / "burn-roi-detection/tests/models"))
    import behave
    model = getattr(torchvision.models.detection, MODEL)(weights=None, weights_backbone=None)
    behave.freeze_norms(model)
    behave.overwrite_eps(model, 0.0)
    model.load_state_dict(torch.load(folder / f"{MODEL}.pth"))
    recording = safetensors.torch.load_file(folder / f"{MODEL}_opset16.safetensors")
    return model.eval(), recording["input.image"], recording["torch.boxes"][:OBJECTS]


def medians(runs):
    return {stage: statistics.median(run.get(stage, 0.0) for run in runs) for stage in runs[0]}


def elapsed(work):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def torch_part(folder, part, threads, runs):
    """What torchvision takes for a part, by the names that the Rust program prints."""
    import torch
    torch.set_num_threads(threads)
    model, picture, boxes = torchvision_model(folder)
    if part == "train":
        return torch_step(model, picture, boxes)
    with torch.inference_mode():
        if part == "stages":
            whole = [elapsed(lambda: model([picture])) for _ in range(runs + 1)][1:]
            clock = Clock(model)
            stages = [clock.run(lambda: model([picture])) for _ in range(runs + 1)][1:]
            return medians(stages) | {"all": statistics.median(whole)}
        together = [picture] * 8
        model([picture])
        return {"one call": elapsed(lambda: model(together)),
                "single calls": elapsed(lambda: [model([picture]) for _ in together])}


def torch_step(model, picture, boxes):
    import torch
    rows = torch.arange(picture.shape[1])[:, None]
    columns = torch.arange(picture.shape[2])[None]
    masks = torch.stack([(columns >= x1) & (columns < x2) & (rows >= y1) & (rows < y2) for x1, y1, x2, y2 in boxes])
    target = {"boxes": boxes, "labels": torch.ones(len(boxes), dtype=torch.int64), "masks": masks.byte()}
    # The stages that torchvision's fine-tuning freezes.
    for name, weight in model.backbone.body.named_parameters():
        weight.requires_grad_(name.startswith(("layer2", "layer3", "layer4")))
    optimizer = torch.optim.SGD([weight for weight in model.parameters() if weight.requires_grad], 1e-4, 0.9)
    model.train()

    def step():
        losses = model([picture] * 2, copy.deepcopy([target] * 2))
        optimizer.zero_grad()
        sum(losses.values()).backward()
        optimizer.step()

    times = [elapsed(step) for _ in range(3)]
    return {"a step": statistics.median(times),
            "most memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1.024e-3}


def printed(command, **variables):
    """The milliseconds and megabytes that a program prints, by their names."""
    text = subprocess.run(command, check=True, capture_output=True, text=True, cwd=peers.ROOT,
                          env={**os.environ, **variables}).stdout
    return {name: float(value) for name, value in re.findall(r"^ +(\S.*?) +([0-9.]+) (?:ms|MB)$", text, re.MULTILINE)}


def own_part(folder, part, threads, number):
    command = ["cargo", "bench", "--quiet", "-p", "burn-roi-detection", "--bench", "detector",
               "--no-default-features", "--features", "flex,train,x86-v4", "--", MODEL,
               str(folder / f"{MODEL}.pth"), str(folder / f"{MODEL}_opset16.safetensors"), part, str(number)]
    return printed(command, RAYON_NUM_THREADS=str(threads))


def imported(threads, runs):
    """The imported file, if its program was built."""
    program = Path(os.environ.get("CARGO_TARGET_DIR", peers.ROOT / "target")) / "release" / "onnx_detectors"
    if not program.exists():
        return {}
    return {"imported": printed([str(program), str(runs)], RAYON_NUM_THREADS=str(threads))}


def onnxruntime_stages(folder, threads, runs):
    command = [sys.executable, "burn-roi-onnx/detectors/time_onnxruntime.py", str(folder / f"{MODEL}_opset16.onnx"),
               "--recording", str(folder / f"{MODEL}_opset16.safetensors"), "--threads", str(threads),
               "--runs", str(runs)]
    times = printed(command)
    return {**times, "all": times["the whole"]}


def torch_process(folder, part, threads, runs):
    command = [sys.executable, __file__, str(folder), "--torch", part, "--threads", str(threads), "--runs", str(runs)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def all_stages(folder, threads, runs):
    return {
        "torchvision": torch_process(folder, "stages", threads, runs),
        "onnxruntime": onnxruntime_stages(folder, threads, runs),
        "here": own_part(folder, "stages", threads, runs),
        **imported(threads, runs),
    }


def run(folder, threads, runs):
    machine = report.machine(threads, ["torchvision", "onnxruntime"])
    results = {"machine": machine, "stages": all_stages(folder, threads, runs)}
    for part, number in (("batch", 8), ("train", 2)):
        results[part] = {"torchvision": torch_process(folder, part, threads, runs),
                         "here": own_part(folder, part, threads, number)}
    return results


def rows(stages):
    return {stage: {"ms": {name: times.get(stage) for name, times in stages.items()}} for stage in [*STAGES, "all"]}


def table(rows):
    names = list(next(iter(rows.values()))["ms"])
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for stage, row in rows.items():
        cells = [peers.written(row["ms"][name]) for name in names]
        lines.append(f"| {stage} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def sums(stages):
    """Of convolutions with their matrix products, and of everything else."""
    of = lambda times, chosen: sum(times.get(stage) or 0.0 for stage in chosen)
    return {"convolutions and fully connected layers": {"ms": {name: of(times, CONVOLUTIONS)
                                                              for name, times in stages.items()}},
            "everything else": {"ms": {name: of(times, set(STAGES) - CONVOLUTIONS)
                                       for name, times in stages.items()}}}


def stage_table(stages):
    return table({**rows(stages), **sums(stages)})


def markdown(name, results):
    both = {f"8 pictures, {row}": {"ms": {who: times[row] for who, times in results["batch"].items()}}
            for row in ("one call", "single calls")}
    both["a training step of 2 pictures"] = {"ms": {who: times["a step"] for who, times in results["train"].items()}}
    memory = " and ".join(f"{times['most memory'] / 1e3:.1f} GB ({who})" for who, times in results["train"].items())
    return "\n".join([
        *textwrap.wrap(report.introduction(results["machine"]), 120, break_long_words=False), "",
        f"![Times of each stage, a bar for each program](benches/results/{name}.svg)\n",
        f"`{MODEL}`, a picture of 320 x 240 enlarged to 1066 x 800, milliseconds:", "",
        stage_table(results["stages"]),
        "Batches and training, milliseconds:", "", table(both),
        f"The most memory that the process of the training step had: {memory}.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what export.py wrote")
    parser.add_argument("--name", help="of the machine, for the names of files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--draw", action="store_true", help="from the JSON that is there")
    parser.add_argument("--stages", action="store_true", help="prints the table of stages, and nothing else is run")
    parser.add_argument("--torch", choices=["stages", "batch", "train"], help="prints this part of torchvision as JSON")
    arguments = parser.parse_args()
    if arguments.torch:
        print(json.dumps(torch_part(arguments.folder, arguments.torch, arguments.threads, arguments.runs)))
        return
    folder = arguments.folder.resolve()
    if arguments.stages:
        print(stage_table(all_stages(folder, arguments.threads, arguments.runs)))
        return
    name = f"{arguments.name}-detector"
    path = report.RESULTS / f"{name}.json"
    if not arguments.draw:
        results = run(folder, arguments.threads, arguments.runs)
        path.write_text(json.dumps(results, indent=1) + "\n")
    results = json.loads(path.read_text())
    report.insert(name, markdown(name, results))
    path.with_suffix(".svg").write_text(
        report.chart(rows(results["stages"]), f"{MODEL}, a stage in ms, logarithmic, less is better"))


if __name__ == "__main__":
    main()
