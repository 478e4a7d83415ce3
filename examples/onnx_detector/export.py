#!/usr/bin/env python3
"""Exports the shapes detector of the example `find_objects` as ONNX, and records what onnxruntime makes of it.

    pip install -r requirements.txt
    python export.py

This writes `shapes.onnx`, whose height and width of the picture are free, and `shapes.safetensors` with runs of
onnxruntime's CPU provider. Of a picture NAME it has, for its D detections in onnxruntime's order:

    NAME.picture [H, W, 3]                  u8; the model's input `image` is [3, H, W], these over 255
    NAME.boxes [D, 4], NAME.scores [D]      in pixels of the picture; probabilities
    NAME.labels [D]                         i64, from one
    NAME.mask_probabilities [D, 1, 28, 28]  the masks before they are pasted into the picture
    NAME.masks [D, 1, H, W]                 the pasted masks, left out for the large picture

The pictures are `shapes` and `parity` of the example `find_objects`, and `nothing`, in which nothing is found.
`torch.onnx.export` needs dynamo=False: its default, dynamo=True, can't export a whole detector.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
import safetensors.torch
import torch
import torchvision
from PIL import Image

DETECTOR = Path(__file__).parents[1] / "find_objects"
sys.path.insert(0, str(DETECTOR / "train"))
import model as models  # noqa: E402

OUTPUTS = ["boxes", "labels", "scores", "masks"]
OPSET = 16
# Its pasted masks would be 8 MB.
WITHOUT_MASKS = "shapes"


def load():
    model = models.build(models.read(DETECTOR / "shapes.json"))
    model.load_state_dict(safetensors.torch.load_file(DETECTOR / "shapes.safetensors"))
    return model.eval()


def pictures():
    """Pixels [H, W, 3] by name."""
    files = {name: np.array(Image.open(DETECTOR / f"{name}.png").convert("RGB")) for name in ["shapes", "parity"]}
    return {**files, "nothing": np.full((90, 120, 3), 128, np.uint8)}


def input_of(picture):
    return torch.from_numpy(picture).permute(2, 0, 1).contiguous() / 255


def export(model, image, path):
    with warnings.catch_warnings():
        # torch warns of every value that it traces.
        warnings.simplefilter("ignore")
        torch.onnx.export(model, ([image],), path, dynamo=False, opset_version=OPSET, input_names=["image"],
                          output_names=OUTPUTS, dynamic_axes={"image": {1: "height", 2: "width"}})


def session(path):
    """A session that also gives the masks before they are pasted, under the name that is returned with it."""
    model = onnx.load(path)
    # torchvision pads a mask before it enlarges it, and nothing else after the heads.
    padding = [node for node in model.graph.node if node.op_type == "Pad"][-1]
    small = padding.input[0]
    model.graph.output.append(onnx.helper.make_tensor_value_info(small, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # The order of sums depends on the number of threads.
    options.intra_op_num_threads = 1
    content = model.SerializeToString()
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"]), small


def agree(name, found, expected):
    """Fails unless onnxruntime's detections are torch's."""
    assert np.array_equal(found["labels"], expected["labels"].numpy()), name
    differences = {key: np.abs(found[key] - expected[key].numpy()).max(initial=0)
                   for key in ["boxes", "scores", "masks"]}
    print(f"{name}: {len(found['labels'])} detections; onnxruntime and torch differ by at most "
          + ", ".join(f"{difference:.1e} in {key}" for key, difference in differences.items()))
    assert differences["boxes"] < 1e-2 and differences["scores"] < 1e-4 and differences["masks"] < 1e-2, name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="the folder to write into")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    model, path = load(), arguments.output / "shapes.onnx"
    export(model, input_of(pictures()["shapes"]), path)
    running, small = session(path)
    tensors = {}
    for name, picture in pictures().items():
        image = input_of(picture)
        found = dict(zip(OUTPUTS + ["mask_probabilities"], running.run(OUTPUTS + [small], {"image": image.numpy()})))
        with torch.inference_mode():
            agree(name, found, model([image])[0])
        if name == WITHOUT_MASKS:
            del found["masks"]
        tensors |= {f"{name}.picture": picture, **{f"{name}.{key}": tensor for key, tensor in found.items()}}
    metadata = {"source": f"onnxruntime {onnxruntime.__version__} CPU, torch {torch.__version__}, "
                          f"torchvision {torchvision.__version__}"}
    content = safetensors.numpy.save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, metadata)
    (arguments.output / "shapes.safetensors").write_bytes(content)


if __name__ == "__main__":
    main()
