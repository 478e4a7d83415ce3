"""detectron2's models as mayaku builds them: their configs, pooling as detectron2 does it, and a cascade."""

import copy

from mayaku.cli._factory import build_detector
from mayaku.d2 import config_from_d2
from mayaku.models import poolers
from mayaku.models.backbones import resnet
from mayaku.models.heads.fast_rcnn import fast_rcnn_inference
from mayaku.models.proposals.box_regression import Box2BoxTransform
from mayaku.structures.boxes import Boxes
from mayaku.structures.instances import Instances
from torch import nn
from torchvision.ops import roi_align

import narrow

LEVELS = ["p2", "p3", "p4", "p5"]
LAYERS = ["res2", "res3", "res4", "res5"]


def config(name, wide, arguments):
    """What a model of the zoo has otherwise than detectron2's defaults, and narrow widths."""
    model = {
        "META_ARCHITECTURE": "GeneralizedRCNN",
        "MASK_ON": name.endswith("mask_rcnn"),
        "KEYPOINT_ON": name == "keypoint_rcnn",
        "BACKBONE": {"NAME": "build_resnet_fpn_backbone"},
        "RESNETS": {"OUT_FEATURES": LAYERS, "STRIDE_IN_1X1": True},
        "FPN": {"IN_FEATURES": LAYERS},
        "ANCHOR_GENERATOR": {"SIZES": [[32], [64], [128], [256], [512]], "ASPECT_RATIOS": [[0.5, 1.0, 2.0]]},
        "RPN": {"IN_FEATURES": [*LEVELS, "p6"], "PRE_NMS_TOPK_TEST": 1000},
        "ROI_HEADS": {"NAME": "StandardROIHeads", "IN_FEATURES": LEVELS, "NUM_CLASSES": 80 if wide else 3},
        "ROI_BOX_HEAD": {"NUM_FC": 2, "POOLER_RESOLUTION": 7},
        "ROI_MASK_HEAD": {"NUM_CONV": 4},
    }
    if name == "keypoint_rcnn":
        model["ROI_HEADS"]["NUM_CLASSES"] = 1
    if name.startswith("cascade"):
        model["ROI_HEADS"]["NAME"] = "CascadeROIHeads"
        model["ROI_BOX_HEAD"]["CLS_AGNOSTIC_BBOX_REG"] = True
    if not wide:
        width = narrow.PYRAMID
        model["RESNETS"] |= {"STEM_OUT_CHANNELS": 8, "RES2_OUT_CHANNELS": 16, "WIDTH_PER_GROUP": 4}
        model["FPN"]["OUT_CHANNELS"] = width
        model["ROI_BOX_HEAD"]["FC_DIM"] = narrow.HIDDEN
        model["ROI_MASK_HEAD"]["CONV_DIM"] = width
        model["ROI_KEYPOINT_HEAD"] = {"CONV_DIMS": [width] * 8}
    sizes = {"MIN_SIZE_TEST": arguments.min_size, "MAX_SIZE_TEST": arguments.max_size}
    return {"MODEL": model, "INPUT": sizes, "VERSION": 2}


def build(settings, wide):
    """mayaku's model with fresh weights and batch norms, and mayaku's config."""
    if not wide:
        # mayaku has no setting of the body's width.
        narrow.PLANES, narrow.STEM = [4, 8, 16, 32], 8
        resnet._construct_torchvision = lambda _name: narrow.NarrowResNet()
        resnet._OUT_CHANNELS.update(dict(zip(LAYERS, (16, 32, 64, 128))))
    model = dict(settings["MODEL"])
    body = {key: model["RESNETS"][key] for key in ("OUT_FEATURES", "STRIDE_IN_1X1")}
    model |= {"RESNETS": body | {"NORM": "BN"}, "BACKBONE": model["BACKBONE"] | {"FREEZE_AT": 0}}
    model["ROI_HEADS"] = model["ROI_HEADS"] | {"NAME": "StandardROIHeads"}
    made, _ = config_from_d2(settings | {"MODEL": model})
    made = build_detector(made)
    if settings["MODEL"]["ROI_HEADS"]["NAME"] == "CascadeROIHeads":
        made.roi_heads = Cascade(made.roi_heads)
    return made.eval()


class Cascade(nn.Module):
    """detectron2's `CascadeROIHeads` at inference: three box heads, of which each moves the boxes of the one before."""

    def __init__(self, heads):
        super().__init__()
        self.heads = heads
        parts = nn.ModuleDict({"box_head": heads.box_head, "box_predictor": heads.box_predictor})
        self.later = nn.ModuleList([copy.deepcopy(parts) for _ in range(2)])
        for factor, stage in zip((2.0, 3.0), self.later):
            for module in stage.modules():
                if isinstance(module, nn.Linear):
                    module.reset_parameters()
            weights = heads.box_predictor.box_transform.weights
            stage["box_predictor"].box_transform = Box2BoxTransform(tuple(factor * weight for weight in weights))

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.heads, name)

    def predictors(self):
        return [self.heads.box_predictor, *(stage["box_predictor"] for stage in self.later)]

    def forward(self, features, proposals, targets=None):
        maps = [features[name] for name in self.heads.in_features]
        sizes = [image.image_size for image in proposals]
        probabilities = []
        for head, predictor in zip(
            [self.heads.box_head, *(stage["box_head"] for stage in self.later)], self.predictors()
        ):
            if probabilities:
                proposals = [clipped(moved, size) for moved, size in zip(boxes, sizes)]
            pooled = self.heads.box_pooler(maps, [image.proposal_boxes for image in proposals])
            predictions = predictor(head(pooled))
            boxes = predictor.predict_boxes(predictions, proposals)
            probabilities.append(predictor.predict_probs(predictions, proposals))
        scores = [sum(stages) / len(stages) for stages in zip(*probabilities)]
        first = self.heads.box_predictor
        results = fast_rcnn_inference(
            boxes,
            scores,
            sizes,
            score_thresh=first.score_thresh_test,
            nms_thresh=first.nms_thresh_test,
            topk_per_image=first.topk_per_image,
        )
        self.heads._forward_mask_infer(maps, results)
        return results, {}


def clipped(boxes, size):
    """Proposals of boxes, which may be empty: the stages' scores must have the same rows."""
    proposals = Instances(image_size=size)
    proposals.proposal_boxes = Boxes(boxes.clone())
    proposals.proposal_boxes.clip(size)
    return proposals


def predictors(model):
    """The layers that predict classes and boxes, of each stage of a cascade."""
    heads = model.roi_heads
    return heads.predictors() if isinstance(heads, Cascade) else [heads.box_predictor]


def pool(self, features, rois, levels):
    """detectron2's pooling: each region from its level, with the config's number of samples."""
    output = rois.new_zeros(len(rois), features[0].shape[1], *self.output_size)
    for level, (scale, feature) in enumerate(zip(self.scales, features)):
        chosen = levels == level
        if chosen.any():
            output[chosen] = roi_align(feature, rois[chosen], self.output_size, scale, self.sampling_ratio, True)
    return output


poolers.ROIPooler._forward_onepass = pool
