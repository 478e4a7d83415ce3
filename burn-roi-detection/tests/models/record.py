"""Records torchvision's detectors part by part, for a batch of two pictures of different sizes.

The recordings of this folder are of narrow models with random weights:

    python record.py --output recordings.safetensors

Those of torchvision's own widths stay outside of the repository. The weights are written beside each recording, as
`NAME.pth`:

    python record.py --wide maskrcnn_resnet50_fpn keypointrcnn_resnet50_fpn --min-size 320 --output folder
    MODEL_RECORDINGS=folder cargo test --release --test detection models::recordings

Each key is `model/tensor`. The weights are f16. Of every other tensor with more than 256 elements every n-th one is
kept, from the first on, where n is the entry of `steps` in the metadata. For N images, P proposals and D detections of
all images, in torchvision's order:

    input                                  the resized, normalised and padded batch
    body.0 ..                              the maps of the body
    levels.0 ..                            the levels of the feature pyramid
    objectness.0 .., deltas.0 ..           the outputs of the region proposal head on each level
    proposals.0 .. [P, 4]                  whole, of each image, in pixels of the input
    box_features, class_logits, box_regression
    boxes.0 .. [D, 4]                      whole, the detections of each image in pixels of the input
    mask_features, mask_logits, keypoint_features, keypoint_logits
    detections.0.boxes [D, 4], .scores, .labels (i64), .keypoints [D, 17, 3], .keypoints_scores [D, 17]
                                           whole, of each image in pixels of the picture
    detections.0.counts (i32)              the run lengths of all masks of an image
"""

import argparse
import pathlib

import numpy as np
import torch
import torchvision

import behave
import narrow
from outputs import Outputs, save

VERSIONS = {"torchvision": torchvision.__version__}


def pictures(scale):
    """Two pictures of soft colours with a few rectangles, as bytes [H, W, 3]."""
    generator = np.random.default_rng(7)
    made = []
    for height, width in ((60 * scale, 84 * scale), (75 * scale, 50 * scale)):
        coarse = torch.from_numpy(generator.uniform(0, 255, (1, 3, 4, 5)))
        soft = torch.nn.functional.interpolate(coarse, (height, width), mode="bilinear")[0].permute(1, 2, 0)
        picture = soft.round().to(torch.uint8).numpy().copy()
        for _ in range(5):
            top, left = generator.integers(0, height * 3 // 4), generator.integers(0, width * 3 // 4)
            bottom, right = top + height // 4, left + width // 5
            picture[top:bottom, left:right] = generator.integers(0, 256, 3)
        made.append(torch.from_numpy(picture))
    return made


def frozen_epsilon(name):
    """The epsilon of the frozen norms of a published model; none if it has batch norms."""
    if name.endswith("_v2"):
        return None
    return 1e-5 if "mobilenet" in name else 0.0


class Recorder(Outputs):
    def __init__(self, model):
        super().__init__()
        heads = model.roi_heads
        self.on(model.transform, lambda output: self.keep("input", output[0].tensors))
        self.on(model.backbone.body, lambda output: self.keep_all("body", output.values()))
        self.on(model.backbone, lambda output: self.keep_all("levels", output.values()))
        self.on(model.rpn.head, lambda output: self.keep_all("objectness", output[0]))
        self.on(model.rpn.head, lambda output: self.keep_all("deltas", output[1]))
        self.on(model.rpn, lambda output: self.keep_all("proposals", output[0], whole=True))
        self.on(heads.box_roi_pool, lambda output: self.keep("box_features", output))
        self.on(heads.box_predictor, lambda output: self.keep("class_logits", output[0]))
        self.on(heads.box_predictor, lambda output: self.keep("box_regression", output[1]))
        self.on(heads, lambda output: self.keep_all("boxes", [image["boxes"] for image in output[0]], whole=True))
        if heads.has_mask():
            self.on(heads.mask_roi_pool, lambda output: self.keep("mask_features", output))
            self.on(heads.mask_predictor, lambda output: self.keep("mask_logits", output))
        if heads.has_keypoint():
            self.on(heads.keypoint_roi_pool, lambda output: self.keep("keypoint_features", output))
            self.on(heads.keypoint_predictor, lambda output: self.keep("keypoint_logits", output))


def run_lengths(mask):
    """COCO's uncompressed run lengths of a mask [H, W]."""
    pixels = np.asfortranarray(mask.numpy()).flatten(order="F")
    edges = np.flatnonzero(np.diff(pixels.astype(np.int8))) + 1
    starts = np.concatenate(([0], edges, [len(pixels)]))
    counts = np.diff(starts)
    return np.concatenate(([0], counts)) if pixels[0] else counts


def detections(recorder, results):
    for image, result in enumerate(results):
        for name, tensor in result.items():
            if name == "masks":
                lengths = [run_lengths(mask[0] > 0.5) for mask in tensor]
                counts = np.concatenate(lengths) if lengths else np.zeros(0)
                recorder.keep(f"detections.{image}.counts", torch.from_numpy(counts.astype(np.int32)), True)
            else:
                recorder.keep(f"detections.{image}.{name}", tensor, True)


def record(name, arguments, images, wide):
    """The model, its recorded tensors and what the metadata says of it."""
    torch.manual_seed(arguments.seed)
    settings = {"min_size": arguments.min_size, "max_size": arguments.max_size}
    model, changes = narrow.build(name, wide, **settings)
    model.eval()
    behave.prepare(model, images, frozen_epsilon(name), 100 if wide else 16)
    recorder = Recorder(model)
    with torch.no_grad():
        results = model(images)
    detections(recorder, results)
    changes["preprocessing"] = settings
    tensors, metadata = recorder.sampled(name)
    counts = [len(result["boxes"]) for result in results]
    recorder.print_counts(name, counts)
    assert sum(counts) > 0, "another seed"
    return model, tensors, {"changes": changes, **metadata}


def weights(model, name):
    state = model.state_dict().items()
    return {f"{name}/weights.{key}": tensor.half() for key, tensor in state if not key.endswith("num_batches_tracked")}


def main():
    parser = argparse.ArgumentParser(description="Records torchvision's detectors part by part.")
    parser.add_argument("--wide", nargs="*", default=[], choices=narrow.NAMES, help="of torchvision's own widths")
    parser.add_argument("--min-size", type=int, default=96)
    parser.add_argument("--max-size", type=int, default=160)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    bytes_of = pictures(5 if arguments.wide else 1)
    images = [picture.permute(2, 0, 1).float() / 255 for picture in bytes_of]
    shared = {f"pictures/{index}": picture for index, picture in enumerate(bytes_of)}
    if arguments.wide:
        arguments.output.mkdir(exist_ok=True)
        for name in arguments.wide:
            model, tensors, model_metadata = record(name, arguments, images, True)
            torch.save(model.state_dict(), arguments.output / f"{name}.pth")
            models = {name: shapes_of(shared, model_metadata)}
            save(arguments.output / f"{name}.safetensors", shared | tensors, models, **VERSIONS)
        return
    tensors, models = dict(shared), {}
    for name in narrow.NAMES:
        model, recorded, model_metadata = record(name, arguments, images, False)
        tensors |= recorded | weights(model, name)
        models[name] = shapes_of(shared, model_metadata)
    save(arguments.output, tensors, models, **VERSIONS)


def shapes_of(shared, model_metadata):
    model_metadata["pictures"] = [list(picture.shape) for picture in shared.values()]
    return model_metadata


if __name__ == "__main__":
    main()
