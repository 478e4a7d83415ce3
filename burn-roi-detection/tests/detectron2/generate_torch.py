"""Writes a checkpoint and configs as a training of detectron2 does, by torch, yacs and PyYAML themselves.

    python generate_torch.py path/of/detectron2/config/defaults.py torch

The first argument is detectron2's file of default settings; nothing else of detectron2 is needed. It writes:

    model_final.pth              what detectron2's checkpointer passes to `torch.save`
    maskrcnn_resnet50_fpn.pth    a state dict in a zip archive whose first entry has 76 bytes in its directory, since
                                 its name has 21 characters
    training.pth                 what torchvision's reference scripts pass to `torch.save` after an epoch
    config.yaml                  what `cfg.dump()` returns, which detectron2 writes at the start of a training
    pickled.yaml                 what `yaml.dump(cfg)` returns, with the tags of Python's objects
"""

import argparse
import collections
import pathlib
import sys
import types

import torch
import yacs.config
import yaml

# The tags name the class by its module.
CfgNode = type("CfgNode", (yacs.config.CfgNode,), {"__module__": "detectron2.config.config"})
for name in ("detectron2", "detectron2.config", "detectron2.config.config"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["detectron2.config.config"].CfgNode = CfgNode


def defaults(path):
    """detectron2's default settings."""
    source = pathlib.Path(path).read_text().replace("from .config import CfgNode as CN", "")
    names = {"CN": CfgNode}
    exec(source, names)
    return names["_C"]


def keypoint_model(config):
    """The settings of a narrow Keypoint R-CNN with a feature pyramid, of which inference needs many."""
    settings = {
        "MODEL.KEYPOINT_ON": True,
        "MODEL.BACKBONE.NAME": "build_resnet_fpn_backbone",
        "MODEL.RESNETS.OUT_FEATURES": ["res2", "res3", "res4", "res5"],
        "MODEL.RESNETS.RES2_OUT_CHANNELS": 16,
        "MODEL.FPN.IN_FEATURES": ["res2", "res3", "res4", "res5"],
        "MODEL.ANCHOR_GENERATOR.SIZES": [[32], [64], [128], [256], [512]],
        "MODEL.RPN.IN_FEATURES": ["p2", "p3", "p4", "p5", "p6"],
        "MODEL.RPN.PRE_NMS_TOPK_TEST": 1000,
        "MODEL.ROI_HEADS.NAME": "StandardROIHeads",
        "MODEL.ROI_HEADS.IN_FEATURES": ["p2", "p3", "p4", "p5"],
        "MODEL.ROI_HEADS.NUM_CLASSES": 1,
        "MODEL.ROI_BOX_HEAD.NAME": "FastRCNNConvFCHead",
        "MODEL.ROI_BOX_HEAD.NUM_FC": 2,
        "MODEL.ROI_BOX_HEAD.POOLER_RESOLUTION": 7,
        "MODEL.ROI_KEYPOINT_HEAD.CONV_DIMS": (8, 16),
        "DATASETS.TRAIN": ("keypoints_coco_2017_train",),
        "SOLVER.STEPS": (210000, 250000),
    }
    for name, value in settings.items():
        *sections, key = name.split(".")
        node = config
        for section in sections:
            node = node[section]
        node[key] = value
    return config


def main():
    config, folder = keypoint_model(defaults(sys.argv[1])), pathlib.Path(sys.argv[2])
    (folder / "config.yaml").write_text(config.dump())
    (folder / "pickled.yaml").write_text(yaml.dump(config))
    counted = (torch.arange(6.0) - 5).reshape(2, 3)
    model = collections.OrderedDict(
        [
            ("proposal_generator.rpn_head.conv.weight", counted),
            ("transposed", counted.T),
            ("half", counted.half()),
            ("backbone.bottom_up.stem.conv1.norm.num_batches_tracked", torch.tensor(7)),
            ("pixel_mean", torch.zeros(3, 1, 1)),
        ]
    )
    # An optimizer with a momentum has tensors too.
    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.9)
    weight.sum().backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1, 2])
    parts = {"model": model, "optimizer": optimizer.state_dict(), "scheduler": schedule.state_dict(), "iteration": 9}
    torch.save(parts, folder / "model_final.pth")
    torch.save({"weight": counted}, folder / "maskrcnn_resnet50_fpn.pth")
    arguments = argparse.Namespace(data_path="coco", lr=0.02, lr_steps=[16, 22])
    parts = {"model": {"weight": counted}, "optimizer": optimizer.state_dict(), "lr_scheduler": schedule.state_dict()}
    torch.save(parts | {"args": arguments, "epoch": 3}, folder / "training.pth")


main()
