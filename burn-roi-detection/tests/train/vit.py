"""ViTDet's body and pyramid for a detector of torchvision, and their names in burn-roi-detection's table."""

import re

import torch

import vitdet

# The maps of pictures of 64 pixels have 4 x 4 patches.
BODY = {
    "channels": 8,
    "blocks": 3,
    "heads": 2,
    "global_blocks": [1],
    "patch_size": 16,
    "window_size": 3,
    "input_size": 96,
    "pretrained_size": 48,
}
RENAMED = (
    (r"\.bottom_up\.", ".body."),
    (r"\.simfp_2\.0\.", ".fpn.rescaling.first_double."),
    (r"\.simfp_2\.1\.", ".fpn.rescaling.norm."),
    (r"\.simfp_2\.3\.", ".fpn.rescaling.second_double."),
    (r"\.simfp_3\.0\.", ".fpn.rescaling.double."),
    # Of the elements of each level, the last two are its convolutions.
    (r"\.simfp_(2\.4|3\.1|4\.0|5\.1)\.", lambda match: f".fpn.inner_blocks.{int(match[1][0]) - 2}."),
    (r"\.simfp_(2\.5|3\.2|4\.1|5\.2)\.", lambda match: f".fpn.layer_blocks.{int(match[1][0]) - 2}."),
    (r"(_blocks\.\d)\.weight", r"\1.0.weight"),
    (r"(_blocks\.\d)\.norm\.", r"\1.1."),
)
KEPT = (
    "backbone.body.patch_embed.proj.bias",
    "backbone.body.pos_embed",
    "backbone.body.blocks.0.attn.rel_pos_h",
    "backbone.body.blocks.1.attn.rel_pos_w",
    "backbone.body.blocks.1.attn.qkv.weight",
    "backbone.body.blocks.1.norm1.weight",
    "backbone.body.blocks.2.mlp.fc2.weight",
    "backbone.fpn.rescaling.first_double.weight",
    "backbone.fpn.rescaling.norm.bias",
    "backbone.fpn.rescaling.double.weight",
    "backbone.fpn.inner_blocks.3.1.weight",
)


def renamed(name):
    for pattern, replacement in RENAMED if name.startswith("backbone.") else ():
        name = re.sub(pattern, replacement, name)
    return name


class Backbone(vitdet.SimpleFeaturePyramid):
    def __init__(self, channels):
        super().__init__(BODY, channels)
        self.out_channels = channels
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                # The steps change positions little. Rounding would show in larger ones.
                parameter *= 0.1 if "pos" in name else 1.0

    def forward(self, images):
        levels = super().forward(images).values()
        return dict(zip(("0", "1", "2", "3", "pool"), levels))
