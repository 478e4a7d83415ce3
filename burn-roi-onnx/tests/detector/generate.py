#!/usr/bin/env python3
"""Exports a Mask R-CNN of a few channels, and records runs of onnxruntime that whole detectors seldom meet.

    pip install -r ../graphs/requirements.txt
    python generate.py

This writes `tiny.onnx`, whose height and width of the picture are free, and `tiny.RUN.safetensors` with the tensors
input.image, output.boxes, output.labels, output.scores and output.masks of these runs:

    some             a picture with detections
    other_size       a picture of another size
    rounded_size     a picture that the exported graph resizes to 63 rows, and torch to 64
    empty_levels     a picture whose proposals leave levels of the pyramid without a region
    no_detection     a picture with proposals and no detection
    no_proposal      a flat picture, whose proposals are all below the threshold

`no_proposal` has what torch gives, which is nothing: onnxruntime fails, as the exported graph then reshapes 0 elements
to `[0, -1]`.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import safetensors.numpy
import torch
from torch import nn

ROOT = Path(__file__).parents[3]
sys.path[:0] = [str(ROOT / "examples/find_objects/train"), str(ROOT / "burn-roi-detection/tests/models")]
import behave  # noqa: E402
import model as models  # noqa: E402
import shapes  # noqa: E402

OPSET = 16
OUTPUTS = ["boxes", "labels", "scores", "masks"]
SEED, PICTURE_SEED = 0, 3
SIZE = (96, 64)
FLAT = torch.full((3, 64, 96), 0.5)


def configuration():
    """The shapes detector's, with few channels and layers, and few proposals."""
    config = models.read(ROOT / "examples/find_objects/shapes.json")
    config["body"] |= {"stem_channels": 4, "bottleneck_channels": [2, 2, 4, 4], "blocks": [1, 1, 1, 1]}
    config["feature_pyramid"]["channels"] = 4
    config["box_head"] |= {"fully_connected": [8, 8], "detections_per_image": 10}
    config["mask_head"] |= {"convolutions": [4], "predictor_channels": 4}
    config["region_proposals"] |= {"pre_nms_top_n": 60, "post_nms_top_n": 40}
    config["preprocessing"] |= {"min_size": 64, "max_size": 128}
    return config


def build():
    torch.manual_seed(SEED)
    model = models.build(configuration(), batch_norm=nn.BatchNorm2d).eval()
    for pool in [model.roi_heads.box_roi_pool, model.roi_heads.mask_roi_pool]:
        # As large as boxes are here, so that they belong to several levels.
        pool.canonical_scale = 24
    picture = drawn(0, SIZE)
    behave.prepare(model, [picture], 1e-5, 100)
    spread_proposals(model, picture)
    model.rpn.score_thresh = model.roi_heads.score_thresh = 0.5
    return model


def spread_proposals(model, picture):
    """Gives the region proposal head a wide spread of outputs, and logits below zero on the flat picture."""
    head = model.rpn.head
    for layer, spread in [(head.cls_logits, 2.0), (head.bbox_pred, 0.5)]:
        with torch.no_grad():
            layer.bias.zero_()
            layer.weight *= spread / torch.cat([level.flatten() for level in outputs_of(model, layer, picture)]).std()
    with torch.no_grad():
        head.cls_logits.bias -= max(level.max() for level in outputs_of(model, head.cls_logits, FLAT)) + 0.1


def outputs_of(model, layer, picture):
    outputs = []
    hook = layer.register_forward_hook(lambda _layer, _inputs, output: outputs.append(output))
    with torch.no_grad():
        model([picture])
    hook.remove()
    return outputs


def drawn(index, size):
    pixels = shapes.picture(PICTURE_SEED, index, size, extent=(8, 48), most=6, least=3).pixels
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous() / 255


def pictures():
    return {"some": drawn(8, SIZE), "other_size": drawn(29, (64, 96)), "rounded_size": drawn(22, (70, 55)),
            "empty_levels": drawn(1, SIZE), "no_detection": drawn(0, SIZE), "no_proposal": FLAT}


def facts(model, picture):
    """How many proposals each level has, and what torch finds."""
    proposals = []
    pool = model.roi_heads.box_roi_pool
    hook = pool.register_forward_hook(lambda _pool, inputs, _output: proposals.extend(inputs[1]))
    with torch.no_grad():
        found = model([picture])[0]
    hook.remove()
    levels = pool.map_levels(proposals).tolist() if len(proposals[0]) else []
    return [levels.count(level) for level in range(4)], found


def check(run, levels, found, expected):
    """Fails unless onnxruntime finds what torch finds, and the run is what its name says."""
    count = len(found["labels"])
    print(f"{run}: {levels} proposals on each level, {count} detections")
    # The graph computes the size of the resized picture in float32, which can round below a whole number.
    if run != "rounded_size":
        assert np.array_equal(found["labels"], expected["labels"].numpy()), run
        for name in ["boxes", "scores", "masks"]:
            assert np.abs(found[name] - expected[name].numpy()).max(initial=0) < 1e-3, (run, name)
    assert (sum(levels) == 0) == (run == "no_proposal") and (count == 0) == run.startswith("no_"), run
    assert run not in ("some", "empty_levels") or (0 in levels) == (run == "empty_levels"), run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent, help="the folder to write into")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    model, path = build(), arguments.output / "tiny.onnx"
    with warnings.catch_warnings():
        # torch warns of every value that it traces.
        warnings.simplefilter("ignore")
        torch.onnx.export(model, ([pictures()["some"]],), path, dynamo=False, opset_version=OPSET,
                          input_names=["image"], output_names=OUTPUTS,
                          dynamic_axes={"image": {1: "height", 2: "width"}})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    for run, picture in pictures().items():
        levels, expected = facts(model, picture)
        if run == "no_proposal":
            found = {name: expected[name].numpy() for name in OUTPUTS}
        else:
            found = dict(zip(OUTPUTS, session.run(OUTPUTS, {"image": picture.numpy()})))
        check(run, levels, found, expected)
        tensors = {"input.image": picture.numpy(), **{f"output.{name}": tensor for name, tensor in found.items()}}
        content = safetensors.numpy.save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})
        (arguments.output / f"tiny.{run}.safetensors").write_bytes(content)


if __name__ == "__main__":
    main()
