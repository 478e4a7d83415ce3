"""Builds torchvision's Mask R-CNN with the widths and settings of a configuration file.

The modules, and so the names of the tensors in the state dict, are those of torchvision's
`maskrcnn_resnet50_fpn`; only the numbers of channels and classes and the sizes of the anchors differ.
"""

import json

from torch import nn
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.rpn import RPNHead
from torchvision.models.resnet import Bottleneck, ResNet
from torchvision.ops import FrozenBatchNorm2d, MultiScaleRoIAlign


class NarrowResNet(ResNet):
    """A ResNet of bottleneck blocks without the classifier; each layer has its own width."""

    def __init__(self, body, norm_layer):
        nn.Module.__init__(self)
        self._norm_layer = norm_layer
        self.inplanes = body["stem_channels"]
        self.dilation = 1
        self.groups = 1
        self.base_width = 64  # the width of a block is its planes times this over 64
        self.conv1 = nn.Conv2d(3, self.inplanes, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = norm_layer(self.inplanes)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        for index, (planes, blocks) in enumerate(zip(body["bottleneck_channels"], body["blocks"])):
            layer = self._make_layer(Bottleneck, planes, blocks, stride=1 if index == 0 else 2)
            setattr(self, f"layer{index + 1}", layer)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


def read(path):
    """Reads a configuration from a JSON file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def build(config, batch_norm=FrozenBatchNorm2d, **settings):
    """Builds the model; `settings` are further arguments of torchvision's `MaskRCNN`, such as those of training."""
    body, boxes, masks = config["body"], config["box_head"], config["mask_head"]
    proposals, preprocessing = config["region_proposals"], config["preprocessing"]
    channels, classes = config["feature_pyramid"]["channels"], len(config["classes"])
    hidden = boxes["fully_connected"]
    if boxes["convolutions"] or len(hidden) != 2 or hidden[0] != hidden[1]:
        raise ValueError("the box head must be two fully connected layers of one width")
    if any(part.get("norm") for part in (config["feature_pyramid"], boxes, masks)):
        raise ValueError("only the body can be normalised")

    def norm_layer(width):
        return batch_norm(width, eps=body["batch_norm_epsilon"])

    def pool(part):
        return MultiScaleRoIAlign(["0", "1", "2", "3"], part["pooled_size"], part["sampling_ratio"])

    anchors = AnchorGenerator(
        sizes=tuple(tuple(sizes) for sizes in proposals["anchor_sizes"]),
        aspect_ratios=(tuple(proposals["aspect_ratios"]),) * len(proposals["anchor_sizes"]),
    )
    backbone = BackboneWithFPN(
        NarrowResNet(body, norm_layer),
        {f"layer{index + 1}": str(index) for index in range(4)},
        [4 * planes for planes in body["bottleneck_channels"]],
        channels,
    )
    return MaskRCNN(
        backbone,
        min_size=preprocessing["min_size"],
        max_size=preprocessing["max_size"],
        image_mean=preprocessing["mean"],
        image_std=preprocessing["std"],
        size_divisible=preprocessing["size_divisible"],
        rpn_anchor_generator=anchors,
        rpn_head=RPNHead(channels, anchors.num_anchors_per_location()[0], proposals["convolutions"]),
        rpn_pre_nms_top_n_test=proposals["pre_nms_top_n"],
        rpn_post_nms_top_n_test=proposals["post_nms_top_n"],
        rpn_nms_thresh=proposals["nms_threshold"],
        rpn_score_thresh=proposals["score_threshold"],
        box_roi_pool=pool(boxes),
        box_head=TwoMLPHead(channels * boxes["pooled_size"] ** 2, hidden[0]),
        box_predictor=FastRCNNPredictor(hidden[1], classes),
        box_score_thresh=boxes["score_threshold"],
        box_nms_thresh=boxes["nms_threshold"],
        box_detections_per_img=boxes["detections_per_image"],
        bbox_reg_weights=boxes["weights"],
        mask_roi_pool=pool(masks),
        mask_head=MaskRCNNHeads(channels, masks["convolutions"], 1),
        mask_predictor=MaskRCNNPredictor(masks["convolutions"][-1], masks["predictor_channels"], classes),
        **settings,
    )
