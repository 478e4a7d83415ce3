"""Writes the recordings of this folder: steps of SGD in torch on whole detectors with narrow layers.

    export PYTHONPATH=../../../examples/find_objects/train:../models
    python record.py steps.safetensors faster mask keypoint
    python record.py cascade.safetensors cascade
    python record.py groups.safetensors groups
    python record.py vit.safetensors vit

The detectors are torchvision's `FasterRCNN`, `MaskRCNN` and `KeypointRCNN`, a `MaskRCNN` with the heads of cascade.py,
one with group normalization, and one with ViTDet's body, pyramid and norms, the steps torch's `SGD`. The steps take
the batches in turn. The last picture of the cascade's last batch has no objects. The tensors, for a detector `d`, and B
batches of N pictures:

    pixels.b [N, H, W, 3]          u8
    boxes.b.n [G, 4]               f32
    labels.b.n [G]                 i64
    masks.b.n [G, H, W]            u8
    keypoints.b.n [G, P, 3]        f32
    d/weights/...                  f32: the weights before the first step, by torchvision's names
    d/permutation.s.0 ..           i16: what `torch.randperm` returned in step s, call by call
    d/losses [S, L]                f32: the losses of each step, in the order of the metadata
    d/short/...                    f32: for the last three detectors, some weights after the first three steps
    d/end/...                      f32: some weights after the last step
"""

import itertools
import json
import sys

import torch
import torchvision
from safetensors.torch import save_file
from torch import nn
from torchvision.models.detection import FasterRCNN, KeypointRCNN, MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNConvFCHead, FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.keypoint_rcnn import KeypointRCNNHeads, KeypointRCNNPredictor
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.ops import FrozenBatchNorm2d

import vit
from cascade import CascadeHeads, l1_losses
from model import NarrowResNet
from vitdet import LayerNorm

SIDE, BATCHES, BATCH_SIZE = 64, 2, 2
CLASSES, POINTS = 3, 3
CHANNELS, HIDDEN = 8, 16
BODY = {"stem_channels": 8, "bottleneck_channels": [4, 4, 6, 8], "blocks": [1, 1, 1, 1]}
ANCHORS = (((8,), (16,), (32,), (48,), (64,)), ((0.5, 1.0, 2.0),) * 5)
# After ten steps, the cascade has losses so small that they are mostly rounding.
STEPS = {"faster": 20, "mask": 20, "keypoint": 20, "cascade": 10, "groups": 4, "vit": 4}
# Of weights for which no choice in these steps is as close as rounding: one more box that is suppressed changes a loss.
# In the first three steps of the cascade each stage has positive boxes, one has none, and a box is empty and left out.
SEEDS = {"faster": 3, "mask": 5, "keypoint": 3, "cascade": 54, "groups": 3, "vit": 7}
RATE, MOMENTUM, DECAY = 0.005, 0.9, 1e-4
FROZEN = ("backbone.body.conv1", "backbone.body.bn1", "backbone.body.layer1")
KEPT = vit.KEPT + (
    "backbone.body.layer1.0.conv1.weight",
    "backbone.body.layer2.0.conv1.weight",
    "backbone.fpn.inner_blocks.3.0.weight",
    "backbone.body.layer2.0.bn2.weight",
    "backbone.fpn.layer_blocks.0.1.bias",
    "roi_heads.box_head.0.1.weight",
    "roi_heads.mask_head.0.1.weight",
    "rpn.head.cls_logits.weight",
    "roi_heads.box_predictor.bbox_pred.weight",
    "roi_heads.later_stages.0.box_predictor.cls_score.weight",
    "roi_heads.later_stages.0.box_predictor.bbox_pred.weight",
    "roi_heads.later_stages.1.box_head.fcs.0.weight",
    "roi_heads.later_stages.1.box_predictor.bbox_pred.bias",
    "roi_heads.mask_predictor.mask_fcn_logits.weight",
    "roi_heads.keypoint_predictor.kps_score_lowres.weight",
)


def picture():
    """Noise with bright boxes: the pixels [H, W, 3], and the objects as torchvision takes them."""
    pixels = torch.randint(0, 120, (SIDE, SIDE, 3), dtype=torch.uint8)
    count = int(torch.randint(1, 4, (1,)))
    corners = torch.randint(0, SIDE - 30, (count, 2))
    sides = torch.randint(10, 30, (count, 2))
    masks = torch.zeros(count, SIDE, SIDE, dtype=torch.uint8)
    for mask, (x, y), (width, height) in zip(masks, corners.tolist(), sides.tolist()):
        mask[y : y + height, x : x + width] = 1
        pixels[y : y + height, x : x + width] += torch.randint(60, 130, (3,), dtype=torch.uint8)
    boxes = torch.cat((corners, corners + sides), 1).float()
    places = corners[:, None] + sides[:, None] * torch.rand(count, POINTS, 2)
    keypoints = torch.cat((places, torch.randint(0, 3, (count, POINTS, 1)).float()), 2)
    labels = torch.randint(1, CLASSES, (count,))
    return pixels, {"boxes": boxes, "labels": labels, "masks": masks, "keypoints": keypoints}


def detector(kind):
    groups = {"groups": lambda width: nn.GroupNorm(2, width), "vit": LayerNorm}.get(kind)
    body = NarrowResNet(BODY, groups or (lambda width: FrozenBatchNorm2d(width, eps=1e-5)))
    layers = {f"layer{index + 1}": str(index) for index in range(4)}
    widths = [4 * width for width in BODY["bottleneck_channels"]]
    if kind == "vit":
        backbone = vit.Backbone(CHANNELS)
    else:
        backbone = BackboneWithFPN(body, layers, widths, CHANNELS, norm_layer=groups)
    settings = {
        "min_size": SIDE,
        "max_size": SIDE,
        "rpn_anchor_generator": AnchorGenerator(*ANCHORS),
        "box_head": TwoMLPHead(CHANNELS * 49, HIDDEN),
        "box_predictor": FastRCNNPredictor(HIDDEN, CLASSES),
        "rpn_pre_nms_top_n_train": 20,
        "rpn_post_nms_top_n_train": 40,
        "box_batch_size_per_image": 32,
    }
    if kind == "faster":
        return FasterRCNN(backbone, **settings)
    if kind in ("groups", "vit"):
        settings["box_head"] = FastRCNNConvFCHead((CHANNELS, 7, 7), [8], [HIDDEN], groups)
    if kind in ("mask", "cascade", "groups", "vit"):
        # The background of the cascade is its last class, and has no mask.
        predictor = MaskRCNNPredictor(CHANNELS, CHANNELS, CLASSES - (kind == "cascade"))
        masks = MaskRCNNHeads(CHANNELS, (8, 8), 1, groups)
        model = MaskRCNN(backbone, mask_head=masks, mask_predictor=predictor, **settings)
        if kind == "cascade":
            model.roi_heads = CascadeHeads(model.roi_heads, CHANNELS * 49, HIDDEN, CLASSES)
        return model
    head, predictor = KeypointRCNNHeads(CHANNELS, (8, 8)), KeypointRCNNPredictor(8, POINTS)
    return KeypointRCNN(backbone, keypoint_head=head, keypoint_predictor=predictor, **settings)


def record(kind, batches, tensors):
    """Records the steps of a detector, and returns the names of its losses."""
    torch.manual_seed(SEEDS[kind])
    model = detector(kind).train()
    with torch.no_grad():
        # The initial predictions are so close to each other that rounding decides which box suppresses which. After
        # such a step, losses can't be compared.
        model.rpn.head.cls_logits.weight *= 20
        model.rpn.head.bbox_pred.weight *= 20
        for predictor in model.roi_heads.predictors() if kind == "cascade" else ():
            # The boxes of each stage differ from those of the stage before.
            predictor.bbox_pred.weight *= 10
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(not name.startswith(FROZEN))
    weights = {vit.renamed(name): tensor.detach().clone() for name, tensor in model.state_dict().items()}
    tensors.update({f"{kind}/weights/{name}": tensor for name, tensor in weights.items()})
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    randperm, losses = torch.randperm, []
    for step in range(STEPS[kind]):
        calls = itertools.count()

        def recorded(*arguments, **settings):
            order = randperm(*arguments, **settings)
            tensors[f"{kind}/permutation.{step}.{next(calls)}"] = order.to(torch.int16)
            return order

        torch.randperm = recorded
        pixels, truth = batches[step % BATCHES]
        images = [image.permute(2, 0, 1) / 255 for image in pixels]
        of_step = model(images, [dict(target) for target in truth])
        torch.randperm = randperm
        optimizer.zero_grad()
        sum(of_step.values()).backward()
        optimizer.step()
        losses.append([value.item() for value in of_step.values()])
        if kind in ("cascade", "groups", "vit") and step == 2:
            keep("short", kind, model, tensors)
        print(kind, step, " ".join(f"{name} {value.item():.4f}" for name, value in of_step.items()))
    tensors[f"{kind}/losses"] = torch.tensor(losses)
    keep("end", kind, model, tensors)
    return list(of_step)


def keep(time, kind, model, tensors):
    """Records some weights."""
    weights = {vit.renamed(name): parameter for name, parameter in model.named_parameters()}
    tensors.update({f"{kind}/{time}/{name}": weights[name].detach().clone() for name in KEPT if name in weights})


def main():
    output, *kinds = sys.argv[1:]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    batches, tensors = [], {}
    for batch in range(BATCHES):
        pictures = [picture() for _ in range(BATCH_SIZE)]
        if "cascade" in kinds and batch == BATCHES - 1:
            pixels, truth = pictures[-1]
            pictures[-1] = (pixels, {name: tensor[:0] for name, tensor in truth.items()})
        batches.append(([pixels for pixels, _ in pictures], [truth for _, truth in pictures]))
        tensors[f"pixels.{batch}"] = torch.stack(batches[-1][0])
        for index, truth in enumerate(batches[-1][1]):
            tensors.update({f"{name}.{batch}.{index}": tensor for name, tensor in truth.items()})
    if "cascade" in kinds:
        l1_losses()
    names = {kind: record(kind, batches, tensors) for kind in kinds}
    metadata = {"losses": json.dumps(names), "torch": torch.__version__, "torchvision": torchvision.__version__}
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, output, metadata)


main()
