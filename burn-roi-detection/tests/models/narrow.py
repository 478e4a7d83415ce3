"""torchvision's detectors with narrow layers: the same classes and settings, and few channels."""

from torch import nn
from torchvision.models import detection
from torchvision.models._utils import _make_divisible
from torchvision.models.detection import faster_rcnn, keypoint_rcnn, mask_rcnn
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.rpn import RPNHead
from torchvision.models.mobilenetv3 import MobileNetV3, _mobilenet_v3_conf
from torchvision.models.resnet import Bottleneck, ResNet
from torchvision.ops.feature_pyramid_network import LastLevelMaxPool

NAMES = (
    "fasterrcnn_resnet50_fpn",
    "fasterrcnn_resnet50_fpn_v2",
    "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "maskrcnn_resnet50_fpn",
    "maskrcnn_resnet50_fpn_v2",
    "keypointrcnn_resnet50_fpn",
)
PYRAMID = 8
HIDDEN = 16
STEM = 8
PLANES = [4, 4, 8, 8]
MASKS = 8
KEYPOINTS = 8
CLASSES = 4


class NarrowResNet(ResNet):
    """A ResNet-50 without the classifier; each layer has its own width."""

    def __init__(self):
        nn.Module.__init__(self)
        self._norm_layer = nn.BatchNorm2d
        self.inplanes = STEM
        self.dilation = 1
        self.groups = 1
        self.base_width = 64  # the width of a block is its planes times this over 64
        self.conv1 = nn.Conv2d(3, STEM, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(STEM)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        for index, (planes, blocks) in enumerate(zip(PLANES, (3, 4, 6, 3))):
            layer = self._make_layer(Bottleneck, planes, blocks, stride=1 if index == 0 else 2)
            setattr(self, f"layer{index + 1}", layer)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


def narrow_blocks():
    """The blocks of `mobilenet_v3_large` with an eighth of the channels."""
    blocks, _ = _mobilenet_v3_conf("mobilenet_v3_large")
    for block in blocks:
        block.input_channels //= 8
        block.expanded_channels //= 8
        block.out_channels //= 8
    return blocks


def build(name, wide=False, **settings):
    """A detector of torchvision with fresh weights; narrow, unless it is to be wide.

    Returns the model, and what differs from the published model, by the names of burn-roi-detection's config.
    """
    if wide:
        return getattr(detection, name)(weights=None, weights_backbone=None, **settings), {}
    second, has_masks, has_keypoints = name.endswith("_v2"), name.startswith("mask"), name.startswith("keypoint")
    classes = 2 if has_keypoints else CLASSES
    model = getattr(detection, name)(weights=None, weights_backbone=None, num_classes=classes, **settings)
    anchors = model.rpn.anchor_generator.num_anchors_per_location()[0]
    changes = {"feature_pyramid": {"channels": PYRAMID}}
    if not has_keypoints:
        changes["classes"] = [f"class {index}" for index in range(classes)]
    model.backbone, changes["body"] = narrow_backbone(name, nn.BatchNorm2d if second else None)
    model.rpn.head = RPNHead(PYRAMID, anchors, conv_depth=2 if second else 1)
    heads = model.roi_heads
    if second:
        heads.box_head = faster_rcnn.FastRCNNConvFCHead((PYRAMID, 7, 7), [PYRAMID] * 4, [HIDDEN], nn.BatchNorm2d)
        changes["box_head"] = {"convolutions": [PYRAMID] * 4, "fully_connected": [HIDDEN]}
    else:
        heads.box_head = faster_rcnn.TwoMLPHead(PYRAMID * 49, HIDDEN)
        changes["box_head"] = {"fully_connected": [HIDDEN] * 2}
    heads.box_predictor = faster_rcnn.FastRCNNPredictor(HIDDEN, classes)
    if has_masks:
        norm = nn.BatchNorm2d if second else None
        heads.mask_head = mask_rcnn.MaskRCNNHeads(PYRAMID, [MASKS] * 4, 1, norm_layer=norm)
        heads.mask_predictor = mask_rcnn.MaskRCNNPredictor(MASKS, MASKS, classes)
        changes["mask_head"] = {"convolutions": [MASKS] * 4, "predictor_channels": MASKS}
    if has_keypoints:
        heads.keypoint_head = keypoint_rcnn.KeypointRCNNHeads(PYRAMID, (KEYPOINTS,) * 8)
        heads.keypoint_predictor = keypoint_rcnn.KeypointRCNNPredictor(KEYPOINTS, 17)
        changes["keypoint_head"] = {"convolutions": [KEYPOINTS] * 8}
    return model, changes


def narrow_backbone(name, norm_layer):
    """The backbone, and its config."""
    if "mobilenet" not in name:
        body = NarrowResNet()
        layers = {f"layer{index + 1}": str(index) for index in range(4)}
        channels = [4 * planes for planes in PLANES]
        config = {"stem_channels": STEM, "bottleneck_channels": PLANES}
    else:
        blocks = narrow_blocks()
        body = MobileNetV3(blocks, 8, norm_layer=nn.BatchNorm2d).features
        layers = {"13": "0", "16": "1"}
        channels = [body[int(part)].out_channels for part in layers]
        config = {
            "stem_channels": blocks[0].input_channels,
            "last_channels": channels[1],
            "blocks": [
                {
                    "kernel_size": block.kernel,
                    "expanded_channels": block.expanded_channels,
                    "output_channels": block.out_channels,
                    "squeeze_channels": _make_divisible(block.expanded_channels // 4, 8) if block.use_se else None,
                    "hard_swish": block.use_hs,
                    "stride": block.stride,
                }
                for block in blocks
            ],
        }
    pyramid = BackboneWithFPN(body, layers, channels, PYRAMID, LastLevelMaxPool(), norm_layer)
    return pyramid, config
