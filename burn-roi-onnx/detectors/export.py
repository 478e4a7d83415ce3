#!/usr/bin/env python3
"""Exports torchvision's detectors as ONNX files, and records what onnxruntime makes of them.

    pip install -r requirements.txt
    python export.py --output DIR --models fasterrcnn_resnet50_fpn_v2,maskrcnn_resnet50_fpn --opsets 11,16,18

The models have their full width and random weights of a fixed seed; `behave.py` of burn-roi-detection's tests makes
these behave like trained ones. For each model and opset this writes

    NAME_opsetN.onnx          the model as `torch.onnx.export` with dynamo=False writes it
    NAME_opsetN.safetensors   the tensors input.image, and output.boxes, output.labels, output.scores and so on, as
                              onnxruntime's CPU provider computes them with its default options; torch.boxes,
                              torch.labels and torch.scores as torch computes them; before_loop has what
                              the loop over the detections takes: the masks [D, 1, 28, 28] before they are pasted, or
                              the heatmaps of the keypoints [D, 17, 56, 56]

With `--weights` it also writes NAME.pth, the weights as torch saves them.

With `--dynamic` the height and width of the picture are free, the names have `_dynamic` after the opset, and
NAME_opsetN_dynamic.other_size.safetensors is a recording of a picture of another size.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
import torch
import torchvision

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples/find_objects/train"), str(ROOT / "burn-roi-detection/tests/models")]
import behave  # noqa: E402
import shapes  # noqa: E402

OUTPUTS = {
    "fasterrcnn": ["boxes", "labels", "scores"],
    "maskrcnn": ["boxes", "labels", "scores", "masks"],
    "keypointrcnn": ["boxes", "labels", "scores", "keypoints", "keypoints_scores"],
}
# The epsilon of the frozen norms that torchvision has in a model with its published weights. The second versions have
# ordinary norms, which torch folds into the convolutions as it exports them.
FROZEN_EPSILON = {
    "fasterrcnn_mobilenet_v3_large_320_fpn": 1e-5,
    "fasterrcnn_resnet50_fpn_v2": None,
    "maskrcnn_resnet50_fpn": 0.0,
    "maskrcnn_resnet50_fpn_v2": None,
    "keypointrcnn_resnet50_fpn": 0.0,
}
# More than the 100 that a model returns.
MOST_CANDIDATES = 400
PICTURE_SEED = 7
SIZE = (320, 240)
# The sides of the other picture are scaled by a number that float32 holds exactly. The exported graph computes the size
# of the resized picture in float32, and for other pictures is often a row or a column short of torch's.
OTHER_SIZE = (256, 288)


def picture(size):
    """A picture [3, H, W] in 0..1 with shapes on it."""
    drawn = shapes.picture(PICTURE_SEED, 0, size, extent=(20, 160), most=8, least=8).pixels
    return torch.from_numpy(drawn).permute(2, 0, 1).contiguous() / 255


def seeded(name, pixels, arguments):
    """The model with random weights."""
    torch.manual_seed(arguments.seed)
    sizes = {key: getattr(arguments, key) for key in ("min_size", "max_size") if getattr(arguments, key)}
    model = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, **sizes).eval()
    behave.prepare(model, [pixels], FROZEN_EPSILON[name], MOST_CANDIDATES)
    return model


def export(model, pixels, outputs, opset, dynamic, path):
    axes = {"image": {1: "height", 2: "width"}} if dynamic else None
    with warnings.catch_warnings():
        # torch warns of every value that it traces.
        warnings.simplefilter("ignore")
        torch.onnx.export(model, ([pixels],), path, dynamo=False, opset_version=opset, input_names=["image"],
                          output_names=outputs, dynamic_axes=axes)


def session(path, threads):
    """A session that also gives what a mask or keypoint head hands to the loop, and the name of that tensor, if any."""
    model = onnx.load(path)
    loop = next((node for node in model.graph.node if node.op_type == "Loop"), None)
    before = None
    if loop:
        # torchvision pads the masks before the loop; the loop itself first takes the heatmaps of one region.
        padding = [node for node in model.graph.node if node.op_type == "Pad"][1:]
        body = next(attribute.g for attribute in loop.attribute if attribute.name == "body")
        before = padding[0].input[0] if padding else body.node[0].input[0]
        model.graph.output.append(onnx.helper.make_tensor_value_info(before, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    content = model.SerializeToString()
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"]), before


def record(running, before, pixels, expected, path):
    """Writes what the session gives for a picture; returns it by name."""
    names = [output.name for output in running.get_outputs()]
    found = dict(zip(names, running.run(names, {"image": pixels.numpy()})))
    tensors = {"input.image": pixels.numpy()}
    tensors |= {"before_loop" if name == before else f"output.{name}": tensor for name, tensor in found.items()}
    tensors |= {f"torch.{name}": expected[name].numpy() for name in ["boxes", "labels", "scores"]}
    metadata = {"source": f"onnxruntime {onnxruntime.__version__} CPU", "torch": torch.__version__,
                "torchvision": torchvision.__version__}
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    path.write_bytes(safetensors.numpy.save(tensors, metadata))
    return found


def report(path, found, expected):
    """Prints how many of onnxruntime's detections torch has too, whatever their order."""
    boxes, scores, labels = (expected[name].numpy() for name in ["boxes", "scores", "labels"])
    same = (np.abs(found["boxes"][:, None] - boxes).max(axis=2) < 0.1) \
        & (np.abs(found["scores"][:, None] - scores) < 5e-3) & (found["labels"][:, None] == labels)
    print(f"{path.name}: {len(same)} detections, {len(boxes)} by torch, of which {same.any(axis=1).sum()} are the same",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--models", default=",".join(FROZEN_EPSILON), help="names, separated by commas")
    parser.add_argument("--opsets", default="11,16,18", help="numbers, separated by commas")
    parser.add_argument("--dynamic", action="store_true", help="leave the height and width of the picture free")
    parser.add_argument("--weights", action="store_true", help="also write the weights by themselves")
    parser.add_argument("--seed", type=int, default=0, help="of the random weights")
    parser.add_argument("--min-size", type=int, help="instead of the model's")
    parser.add_argument("--max-size", type=int, help="instead of the model's")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    models, opsets = arguments.models.split(","), [int(opset) for opset in arguments.opsets.split(",")]
    if unknown := set(models) - set(FROZEN_EPSILON):
        parser.error(f"unknown models {sorted(unknown)}; there are {list(FROZEN_EPSILON)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(arguments.threads)
    pixels, other = picture(SIZE), picture(OTHER_SIZE)
    for name in models:
        model = seeded(name, pixels, arguments)
        if arguments.weights:
            torch.save(model.state_dict(), arguments.output / f"{name}.pth")
        with torch.inference_mode():
            expected, expected_other = model([pixels])[0], model([other])[0]
        for opset in opsets:
            base = f"{name}_opset{opset}" + "_dynamic" * arguments.dynamic
            path = arguments.output / f"{base}.onnx"
            export(model, pixels, OUTPUTS[name.split("_")[0]], opset, arguments.dynamic, path)
            running, before = session(path, arguments.threads)
            report(path, record(running, before, pixels, expected, path.with_suffix(".safetensors")), expected)
            if arguments.dynamic:
                recording = path.with_suffix(".other_size.safetensors")
                report(recording, record(running, before, other, expected_other, recording), expected_other)


if __name__ == "__main__":
    main()
