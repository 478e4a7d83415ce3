"""Records the output of each part of torchvision's model for one picture, as a safetensors file.

For the shipped weights, and a small picture by `showcase.py` so that the file stays small:

    python record.py --config ../shapes.json --weights ../shapes.safetensors --image ../parity.png \\
        --min-size 96 --limit-proposals 12 --output ../parity.safetensors

The tensors, for P proposals and D detections in torchvision's order; f32 except where another dtype is named:

    input                            the resized, normalised and padded batch
    body.0 .. body.3                 the outputs of the layers of the body
    fpn.0 .. fpn.3, fpn.pool         the levels of the feature pyramid
    rpn.objectness.0 .., rpn.deltas.0 ..   the outputs of the region proposal head on each level
    proposals [P, 4], proposal_scores [P]  in pixels of the input; probabilities
    box_features [P, C, 7, 7]        the pooled regions, or the first `limit_proposals` (metadata) of them
    class_logits [P, K], box_regression [P, 4 K]
    mask_features [D, C, 14, 14], mask_logits [D, K, 28, 28]
    detections.boxes [D, 4]          in pixels of the picture
    detections.scores [D], detections.labels [D] (i64)
    detections.masks [D, H, W]       u8: one where the pasted probability is above the mask threshold
"""

import argparse
import pathlib

import numpy as np
import safetensors.torch
import torch
import torchvision
from PIL import Image

import model as models


def hook_all(model, tensors):
    """Makes each part of the model store its output in `tensors`."""

    def keep(module, store):
        module.register_forward_hook(lambda _module, _inputs, output: store(output))

    def levels(prefix):
        return lambda output: tensors.update({f"{prefix}.{name}": level for name, level in output.items()})

    def head(output):
        for name, level in zip(("rpn.objectness", "rpn.deltas"), output):
            tensors.update({f"{name}.{index}": tensor for index, tensor in enumerate(level)})

    def single(*names):
        return lambda output: tensors.update(zip(names, output if isinstance(output, tuple) else [output]))

    filter_proposals = model.rpn.filter_proposals

    def filter_and_keep(*inputs):
        boxes, scores = filter_proposals(*inputs)
        tensors["proposals"], tensors["proposal_scores"] = boxes[0], scores[0]
        return boxes, scores

    model.rpn.filter_proposals = filter_and_keep
    keep(model.transform, lambda output: tensors.update({"input": output[0].tensors}))
    keep(model.backbone.body, levels("body"))
    keep(model.backbone, levels("fpn"))
    keep(model.rpn.head, head)
    keep(model.roi_heads.box_roi_pool, single("box_features"))
    keep(model.roi_heads.box_predictor, single("class_logits", "box_regression"))
    keep(model.roi_heads.mask_roi_pool, single("mask_features"))
    keep(model.roi_heads.mask_predictor, single("mask_logits"))


def record(model, pixels, mask_threshold, limit_proposals=None):
    """The outputs of the model's parts for a picture [3, H, W] in 0..1, by name."""
    tensors = {}
    hook_all(model, tensors)
    with torch.inference_mode():
        found = model([pixels])[0]
    tensors["box_features"] = tensors["box_features"][:limit_proposals]
    for name in ("boxes", "scores", "labels"):
        tensors[f"detections.{name}"] = found[name]
    tensors["detections.masks"] = (found["masks"][:, 0] > mask_threshold).to(torch.uint8)
    return {name: tensor.contiguous().clone() for name, tensor in tensors.items()}


def read_picture(path):
    """The pixels of an image file, [3, H, W] in 0..1."""
    return torch.from_numpy(np.array(Image.open(path).convert("RGB"))).permute(2, 0, 1) / 255


def read_model(arguments):
    """The model of a configuration file with its weights, and the configuration with the sizes of the command line."""
    config = models.read(arguments.config)
    for name in ("min_size", "max_size"):
        if getattr(arguments, name):
            config["preprocessing"][name] = getattr(arguments, name)
    model = models.build(config)
    model.load_state_dict(safetensors.torch.load_file(arguments.weights))
    return model, config


def main():
    parser = argparse.ArgumentParser(description="Records the output of each part of torchvision's model.")
    parser.add_argument("--config", type=pathlib.Path, required=True)
    parser.add_argument("--weights", type=pathlib.Path, required=True)
    parser.add_argument("--image", type=pathlib.Path, required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--min-size", type=int, help="instead of the configuration's")
    parser.add_argument("--max-size", type=int, help="instead of the configuration's")
    parser.add_argument("--limit-proposals", type=int, help="how many rows of box_features to keep")
    arguments = parser.parse_args()
    pixels = read_picture(arguments.image)
    model, config = read_model(arguments)
    tensors = record(model.eval(), pixels, config["mask_head"]["mask_threshold"], arguments.limit_proposals)
    metadata = {
        "image": arguments.image.name,
        "min_size": config["preprocessing"]["min_size"],
        "max_size": config["preprocessing"]["max_size"],
        "batch_norm_epsilon": config["body"]["batch_norm_epsilon"],
        "limit_proposals": len(tensors["box_features"]),
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
    }
    metadata = {name: str(value) for name, value in metadata.items()}
    safetensors.torch.save_file(tensors, arguments.output, metadata)
    print(f"{len(tensors['proposals'])} proposals, {len(tensors['detections.scores'])} detections")


if __name__ == "__main__":
    main()
