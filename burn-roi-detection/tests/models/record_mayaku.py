"""Records detectron2's models part by part, as mayaku computes them, for a batch of two pictures of different sizes.

mayaku reads detectron2's checkpoints and configs, and runs the models in torch without detectron2:

    pip install mayaku==2.0.1 torch==2.15.0 torchvision==0.29.2

The recordings of this folder are of narrow models with random weights:

    python record_mayaku.py --output detectron2.safetensors

Those of detectron2's own widths stay outside of the repository. The checkpoint and the config are written beside each
recording, as `NAME.pkl` and `NAME.yaml`, and mayaku reads them:

    python record_mayaku.py --wide faster_rcnn mask_rcnn keypoint_rcnn --min-size 320 --max-size 533 --output folder
    DETECTRON2_RECORDINGS=folder cargo test --release --test detection models::detectron2

mayaku 2.0.1 takes 2 samples along each axis of a bin where detectron2 takes one for each pixel of the bin
(`POOLER_SAMPLING_RATIO: 0`). So this script pools by torchvision's `roi_align`, which detectron2 calls.

mayaku has no Cascade R-CNN. `Cascade` is written after detectron2's source, from mayaku's heads.

The format is that of `record.py`. The weights have detectron2's names, and `config` in the metadata is the config.
"""

import argparse
import pathlib
import pickle
import re

import mayaku
import torch
import yaml
from mayaku.cli._factory import build_detector
from mayaku.d2 import _remap, convert_d2
from mayaku.data.transforms import ResizeShortestEdge
from mayaku.inference.postprocess import detector_postprocess
from mayaku.utils.checkpoint import load_checkpoint
from torch import nn

from mayaku_models import LEVELS, Cascade, build, config, predictors
from outputs import Outputs, save
from record import pictures, run_lengths

VERSIONS = {"mayaku": mayaku.__version__}
NAMES = ("faster_rcnn", "mask_rcnn", "keypoint_rcnn")
# From mayaku's names to detectron2's. A number in them is counted from the last column on.
RENAMED = (
    (r"bottom_up\.stem\.0\.", r"bottom_up.stem.conv1.", None),
    (r"bottom_up\.stem\.1\.", r"bottom_up.stem.conv1.norm.", None),
    (r"\.bn([1-3])\.", r".conv\1.norm.", None),
    (r"\.downsample\.0\.", r".shortcut.", None),
    (r"\.downsample\.1\.", r".shortcut.norm.", None),
    (r"^rpn\.head\.", r"proposal_generator.rpn_head.", None),
    (r"keypoint_head\.deconv\.", r"keypoint_head.score_lowres.", None),
    (r"backbone\.lateral_convs\.(\d)", "backbone.fpn_lateral", 2),
    (r"backbone\.output_convs\.(\d)", "backbone.fpn_output", 2),
    (r"box_head\.fcs\.(\d)", "box_head.fc", 1),
    (r"mask_head\.convs\.(\d)", "mask_head.mask_fcn", 1),
    (r"keypoint_head\.convs\.(\d)", "keypoint_head.conv_fcn", 1),
)


def inputs(images, arguments):
    """The pictures, resized as detectron2 does."""
    resize = ResizeShortestEdge((arguments.min_size,), arguments.max_size)
    resized = [resize.get_transform(image.numpy()).apply_image(image.numpy()) for image in images]
    return [{"image": torch.from_numpy(image.copy()).permute(2, 0, 1).float()} for image in resized]


def outputs_of(module, model, batch):
    """What a module returns when every box is kept, so that the heads of masks and keypoints run too."""
    outputs, predictor = [], model.roi_heads.box_predictor
    hook = module.register_forward_hook(lambda _module, _inputs, output: outputs.append(output))
    kept, predictor.score_thresh_test = predictor.score_thresh_test, 0.0
    with torch.no_grad():
        model(batch)
    predictor.score_thresh_test = kept
    hook.remove()
    return outputs


def behave(model, batch, most_candidates):
    """Random weights that behave like trained ones, as `behave.py` makes them for torchvision's models."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, 0.0, 0.2)
        norm.momentum = 1.0
        norm.train()
    outputs_of(model.rpn.head, model, batch)
    for norm in norms:
        norm.running_mean += 0.1 * norm.running_var.sqrt() * torch.randn_like(norm.running_mean)
        norm.running_var *= torch.empty_like(norm.running_var).uniform_(0.8, 1.25)
        norm.running_var.clamp_(min=1e-2)
        norm.eval()
    heads = model.roi_heads
    for module in [*model.backbone.modules(), *model.rpn.head.modules(), *heads.modules()]:
        if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)) and module.bias is not None:
            nn.init.normal_(module.bias, 0.0, 0.1)
    last = [
        (model.rpn.head.objectness_logits, 1.0),
        (model.rpn.head.anchor_deltas, 0.3),
    ]
    last += [(predictor.cls_score, 2.5) for predictor in predictors(model)]
    last += [(predictor.bbox_pred, 1.0) for predictor in predictors(model)]
    if heads.mask_on:
        last.append((heads.mask_head.predictor, 2.0))
    if heads.keypoint_on:
        last.append((heads.keypoint_head.deconv, 2.0))
    for module, spread in last:
        outputs = outputs_of(module, model, batch)
        with torch.no_grad():
            module.weight *= spread / torch.cat([output.flatten() for output in outputs]).std()
    scorers = [predictor.cls_score for predictor in predictors(model)]
    logits = torch.stack([outputs_of(scorer, model, batch)[0] for scorer in scorers])
    threshold = heads.box_predictor.score_thresh_test
    with torch.no_grad():
        while (logits.softmax(dim=2).mean(dim=0)[:, :-1] > threshold).sum() > most_candidates:
            logits[..., -1] += 0.125
            for scorer in scorers:
                scorer.bias[-1] += 0.125
    state = model.state_dict()
    model.load_state_dict({key: tensor.half().to(tensor.dtype) for key, tensor in state.items()})


def detectron2_state(model):
    """The weights under detectron2's names, for pictures in blue, green, red."""
    state = {}
    for key, tensor in model.state_dict().items():
        if key.endswith("num_batches_tracked"):
            continue
        name = key
        for pattern, replacement, start in RENAMED:
            if start is None:
                name = re.sub(pattern, replacement, name)
            else:
                name = re.sub(pattern, lambda match: f"{replacement}{int(match[1]) + start}", name)
        if isinstance(model.roi_heads, Cascade):
            # A stage's number follows the name of its part.
            name = re.sub(r"roi_heads\.heads\.box_(head|predictor)\.", r"roi_heads.box_\1.0.", name)
            name = re.sub(r"roi_heads\.heads\.", "roi_heads.", name)
            name = re.sub(
                r"roi_heads\.later\.(\d)\.box_(head|predictor)\.",
                lambda match: f"roi_heads.box_{match[2]}.{int(match[1]) + 1}.",
                name,
            )
        state[name] = tensor.flip(1) if name.endswith("stem.conv1.weight") else tensor
    if isinstance(model.roi_heads, Cascade):
        return state
    renamed = _remap(state)
    assert renamed.keys() == {key for key in model.state_dict() if not key.endswith("num_batches_tracked")}
    return state


class Recorder(Outputs):
    def __init__(self, model, reverses=True):
        """`reverses`: whether the recorded model has the channels in the other order, blue, green, red."""
        super().__init__()
        heads = model.roi_heads
        of_model = lambda images: images.flip(1) if reverses else images
        model.backbone.register_forward_pre_hook(lambda _module, inputs: self.keep("input", of_model(inputs[0])))
        self.on(model.backbone.bottom_up, lambda output: self.keep_all("body", output.values()))
        self.on(model.backbone, lambda output: self.keep_all("levels", [output[name] for name in [*LEVELS, "p6"]]))
        self.on(model.rpn.head, lambda output: self.keep_all("objectness", output[0]))
        self.on(model.rpn.head, lambda output: self.keep_all("deltas", output[1]))
        boxes = lambda instances, field: [image.get(field).tensor for image in instances]
        self.on(model.rpn, lambda output: self.keep_all("proposals", boxes(output[0], "proposal_boxes"), True))
        self.on(heads.box_pooler, self.keep_first_pooled)
        self.on(heads.box_predictor, lambda output: self.keep("class_logits", output[0]))
        self.on(heads.box_predictor, lambda output: self.keep("box_regression", output[1]))
        self.on(heads, lambda output: self.keep_all("boxes", boxes(output[0], "pred_boxes"), True))
        for part in ("mask", "keypoint"):
            if getattr(heads, f"{part}_on"):
                pooler, head = getattr(heads, f"{part}_pooler"), getattr(heads, f"{part}_head")
                self.on(pooler, lambda output, part=part: self.keep(f"{part}_features", output))
                self.on(head, lambda output, part=part: self.keep(f"{part}_logits", output))

    def keep_first_pooled(self, output):
        """Keeps what the first stage of a cascade pools."""
        if "box_features" not in self.tensors:
            self.keep("box_features", output)

    def keep_detections(self, index, instances):
        name = f"detections.{index}"
        self.keep(f"{name}.boxes", instances.pred_boxes.tensor, True)
        self.keep(f"{name}.scores", instances.scores, True)
        self.keep(f"{name}.labels", instances.pred_classes, True)
        if instances.has("pred_masks"):
            counts = [torch.from_numpy(run_lengths(mask)).int() for mask in instances.pred_masks]
            self.keep(f"{name}.counts", torch.cat(counts) if counts else torch.zeros(0, dtype=torch.int32), True)
        if instances.has("pred_keypoints"):
            self.keep(f"{name}.keypoints", instances.pred_keypoints, True)
            self.keep(f"{name}.keypoints_scores", instances.pred_keypoints[..., 2], True)


def is_stable(model, batch):
    """Whether there are detections, and little noise in the pictures, as of rounding, leaves them as they are."""

    def boxes(noise):
        noisy = [{"image": image["image"] + noise * torch.randn_like(image["image"])} for image in batch]
        with torch.no_grad():
            return [result["instances"].pred_boxes.tensor for result in model(noisy)]

    expected = boxes(0.0)
    for noise in [1e-3, 1e-2, 1e-2, 1e-2, 2e-2, 2e-2]:
        for one, other in zip(expected, boxes(noise)):
            if one.shape != other.shape or (one - other).abs().gt(0.2).any():
                return False
    return sum(len(one) for one in expected) > 1


def record(name, arguments, images, wide):
    """The recorded tensors, what the metadata says of them, and the weights."""
    settings, batch = config(name, wide, arguments), inputs(images, arguments)
    for seed in range(arguments.seed, arguments.seed + 60):
        torch.manual_seed(seed)
        model = build(settings, wide)
        behave(model, batch, 100 if wide else 16)
        if is_stable(model, batch):
            break
    else:
        raise SystemExit(f"{name}: no seed has detections that rounding does not change")
    state = detectron2_state(model)
    if wide:
        model = converted(name, settings, state, arguments.output)
    recorder = Recorder(model)
    with torch.no_grad():
        results = model(batch)
    for index, (image, result) in enumerate(zip(images, results)):
        recorder.keep_detections(index, detector_postprocess(result["instances"], *image.shape[:2]))
    tensors, metadata = recorder.sampled(name)
    counts = [len(result["instances"]) for result in results]
    recorder.print_counts(name, counts)
    return tensors, {"config": yaml.safe_dump(settings), **metadata}, state


def converted(name, settings, state, folder):
    """Writes a checkpoint and a config of detectron2, and reads both by mayaku."""
    checkpoint, config_file = folder / f"{name}.pkl", folder / f"{name}.yaml"
    model = {key: tensor.numpy() for key, tensor in state.items()}
    checkpoint.write_bytes(pickle.dumps({"model": model, "__author__": "random weights"}))
    config_file.write_text(yaml.safe_dump(settings))
    output = folder / f"{name}.mayaku.pth"
    made = convert_d2(checkpoint, d2_config=config_file, output=output)
    _, weights = load_checkpoint(output)
    output.unlink()
    model = build_detector(made)
    model.load_state_dict(weights)
    return model.eval()


def main():
    parser = argparse.ArgumentParser(description="Records detectron2's models part by part, as mayaku computes them.")
    parser.add_argument("--wide", nargs="*", default=[], choices=NAMES, help="of detectron2's own widths")
    parser.add_argument("--min-size", type=int, default=64)
    parser.add_argument("--max-size", type=int, default=107)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    # The first is shrunk, the second enlarged.
    scale = 5 if arguments.wide else 1
    images = [pictures(2 * scale)[0], pictures(scale)[1]]
    shared = {f"pictures/{index}": picture for index, picture in enumerate(images)}
    if arguments.wide:
        arguments.output.mkdir(exist_ok=True)
        for name in arguments.wide:
            tensors, metadata, _ = record(name, arguments, images, True)
            save(arguments.output / f"{name}.safetensors", shared | tensors, {name: metadata}, **VERSIONS)
        return
    tensors, models = dict(shared), {}
    for name in (*NAMES, "cascade_mask_rcnn"):
        recorded, models[name], state = record(name, arguments, images, False)
        tensors |= recorded | {f"{name}/weights.{key}": tensor.half().contiguous() for key, tensor in state.items()}
    save(arguments.output, tensors, models, **VERSIONS)


if __name__ == "__main__":
    main()
