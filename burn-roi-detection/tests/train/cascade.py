"""The training of a Cascade Mask R-CNN, written after detectron2's `CascadeROIHeads` from torchvision's parts."""

import functools

import torch
import torchvision.models.detection.roi_heads as torchvision_heads
from torch import nn
from torch.nn import functional
from torchvision.models.detection._utils import BoxCoder, Matcher
from torchvision.ops import box_iou, clip_boxes_to_image

STAGES = (((10.0, 10.0, 5.0, 5.0), 0.5), ((20.0, 20.0, 10.0, 10.0), 0.6), ((30.0, 30.0, 15.0, 15.0), 0.7))


def l1_losses():
    """Gives all smooth L1 losses a beta of 0, detectron2's default. torchvision's has 1 / 9."""
    smooth = functional.smooth_l1_loss
    functional.smooth_l1_loss = lambda *arguments, **options: smooth(*arguments, **options | {"beta": 0.0})


class Head(nn.Module):
    """Two linear layers."""

    def __init__(self, features, hidden):
        super().__init__()
        self.fcs = nn.ModuleList([nn.Linear(features, hidden), nn.Linear(hidden, hidden)])

    def forward(self, pooled):
        return functools.reduce(lambda values, layer: layer(values).relu(), self.fcs, pooled.flatten(1))


class Predictor(nn.Module):
    """The background is the last class, and all classes have the same box deltas."""

    def __init__(self, hidden, classes):
        super().__init__()
        self.cls_score, self.bbox_pred = nn.Linear(hidden, classes), nn.Linear(hidden, 4)

    def forward(self, features):
        return self.cls_score(features), self.bbox_pred(features)


class Stage(nn.Module):
    """A box head after the first."""

    def __init__(self, features, hidden, classes):
        super().__init__()
        self.box_head, self.box_predictor = Head(features, hidden), Predictor(hidden, classes)


class CascadeHeads(torchvision_heads.RoIHeads):
    """Three box heads, of which each learns from the boxes that the one before refined, and a mask head."""

    def __init__(self, heads, features, hidden, classes):
        nn.Module.__init__(self)
        self.__dict__.update({name: value for name, value in vars(heads).items() if name != "_modules"})
        self._modules = dict(heads._modules)
        self.box_predictor = Predictor(hidden, classes)
        self.later_stages = nn.ModuleList([Stage(features, hidden, classes) for _ in STAGES[1:]])

    def predictors(self):
        return [self.box_predictor, *(stage.box_predictor for stage in self.later_stages)]

    def forward(self, features, proposals, image_shapes, targets=None):
        boxes, matched, labels, _ = self.select_training_samples(proposals, targets)
        masks = self.mask_loss(features, boxes, matched, labels, image_shapes, targets)
        losses, deltas = {}, None
        for index, (weights, threshold) in enumerate(STAGES):
            if index > 0:
                boxes = refined(deltas.detach(), boxes, STAGES[index - 1][0], image_shapes)
                matched, labels = self.matched(boxes, targets, threshold)
            pooled = self.box_roi_pool(features, boxes, image_shapes)
            pooled.register_hook(lambda gradient: gradient / len(STAGES))
            stage = self if index == 0 else self.later_stages[index - 1]
            logits, deltas = stage.box_predictor(stage.box_head(pooled))
            of_stage = stage_losses(logits, deltas, boxes, matched, labels, targets, BoxCoder(weights))
            losses |= {f"{name}_stage{index}": loss for name, loss in of_stage.items()}
        return [], losses | masks

    def matched(self, boxes, targets, threshold):
        self.proposal_matcher, kept = Matcher(threshold, threshold), self.proposal_matcher
        assigned = self.assign_targets_to_proposals(
            boxes, [target["boxes"] for target in targets], [target["labels"] for target in targets]
        )
        self.proposal_matcher = kept
        return assigned

    def mask_loss(self, features, boxes, matched, labels, image_shapes, targets):
        positive = [of_image > 0 for of_image in labels]
        boxes, matched = [[tensor[rows] for tensor, rows in zip(of, positive)] for of in (boxes, matched)]
        logits = self.mask_predictor(self.mask_head(self.mask_roi_pool(features, boxes, image_shapes)))
        masks, classes = [target["masks"] for target in targets], [target["labels"] - 1 for target in targets]
        return {"loss_mask": torchvision_heads.maskrcnn_loss(logits, boxes, masks, classes, matched)}


def refined(deltas, boxes, weights, image_shapes):
    """The moved boxes of each image, clipped to it, without those that are empty then."""
    moved = BoxCoder(weights).decode(deltas, boxes).squeeze(1).split([len(of_image) for of_image in boxes])
    clipped = [clip_boxes_to_image(of_image, size) for of_image, size in zip(moved, image_shapes)]
    return [of_image[(of_image[:, 2:] > of_image[:, :2]).all(1)] for of_image in clipped]


def stage_losses(logits, deltas, boxes, matched, labels, targets, coder):
    """The losses of a stage. The box loss is divided by the number of all boxes."""
    found = [
        target["boxes"][rows] if len(target["boxes"]) else torch.zeros_like(of_image)
        for target, rows, of_image in zip(targets, matched, boxes)
    ]
    boxes, found, labels = torch.cat(boxes), torch.cat(found), torch.cat(labels)
    positive = labels > 0
    wanted = coder.encode_single(found[positive], boxes[positive])
    box_loss = functional.smooth_l1_loss(deltas[positive], wanted, reduction="sum") / len(labels)
    print(f"{int(positive.sum())} of {len(labels)} boxes", end=", ")
    return {
        "loss_cls": functional.cross_entropy(logits, (labels - 1) % logits.shape[1]),
        "loss_box_reg": box_loss,
    }
