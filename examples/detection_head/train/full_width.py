"""torchvision's own architectures with random weights that behave like trained ones.

With fresh weights and frozen norms, activations grow or vanish through the body, and all scores are nearly the same.
Here the statistics of the norms come from one picture, and the last layers of the heads are scaled so that their
outputs spread like a trained model's.
"""

import torch
from torch import nn
from torchvision.models.detection import (
    MaskRCNN_ResNet50_FPN_Weights,
    maskrcnn_resnet50_fpn,
    maskrcnn_resnet50_fpn_v2,
)
from torchvision.models.detection._utils import overwrite_eps
from torchvision.ops import FrozenBatchNorm2d

MOST_CANDIDATES = 100


def configuration(second):
    """The configuration of `maskrcnn_resnet50_fpn`, or of the second version, as published."""
    return {
        "name": "maskrcnn_resnet50_fpn_v2" if second else "maskrcnn_resnet50_fpn",
        "classes": MaskRCNN_ResNet50_FPN_Weights.COCO_V1.meta["categories"],
        "body": {
            "stem_channels": 64,
            "bottleneck_channels": [64, 128, 256, 512],
            "blocks": [3, 4, 6, 3],
            # torchvision sets this to zero for the published weights of the first version.
            "batch_norm_epsilon": 1e-5 if second else 0.0,
        },
        "feature_pyramid": {"channels": 256, "normalized": second},
        "region_proposals": {
            "convolutions": 2 if second else 1,
            "anchor_sizes": [[32], [64], [128], [256], [512]],
            "aspect_ratios": [0.5, 1.0, 2.0],
            "pre_nms_top_n": 1000,
            "post_nms_top_n": 1000,
            "nms_threshold": 0.7,
            "score_threshold": 0.0,
            "min_size": 0.001,
        },
        "box_head": {
            "convolutions": [256] * 4 if second else [],
            "fully_connected": [1024] if second else [1024, 1024],
            "normalized": second,
            "pooled_size": 7,
            "sampling_ratio": 2,
            "weights": [10.0, 10.0, 5.0, 5.0],
            "score_threshold": 0.05,
            "nms_threshold": 0.5,
            "detections_per_image": 100,
        },
        "mask_head": {
            "convolutions": [256] * 4,
            "normalized": second,
            "predictor_channels": 256,
            "pooled_size": 14,
            "sampling_ratio": 2,
            "mask_threshold": 0.5,
        },
        "preprocessing": {
            "min_size": 800,
            "max_size": 1333,
            "mean": [0.485, 0.456, 0.406],
            "std": [0.229, 0.224, 0.225],
            "size_divisible": 32,
        },
    }


def random(config, second, pixels, seed):
    """A model with random weights. The first version has frozen norms, like the published model."""
    torch.manual_seed(seed)
    sizes = {name: config["preprocessing"][name] for name in ("min_size", "max_size")}
    builder = maskrcnn_resnet50_fpn_v2 if second else maskrcnn_resnet50_fpn
    model = builder(weights=None, weights_backbone=None, **sizes).eval()
    prepare(model, pixels, None if second else config["body"]["batch_norm_epsilon"])
    return model


def prepare(model, pixels, frozen_epsilon, most_candidates=MOST_CANDIDATES):
    """Makes a fresh model behave like a trained one on a picture. With an epsilon its norms become frozen ones."""
    settle_norms(model, pixels)
    spread_heads(model, pixels)
    if frozen_epsilon is not None:
        freeze_norms(model)
        overwrite_eps(model, frozen_epsilon)
    quieten(model, pixels, most_candidates)


def settle_norms(model, pixels):
    """Gives all norms random scales and shifts, and statistics near, but not equal to, those of a picture."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, 0.0, 0.2)
        norm.momentum = 1.0
        norm.train()
    # Keep every box: this run is only for the statistics, and the scores mean nothing yet.
    model.roi_heads.score_thresh, kept = 0.0, model.roi_heads.score_thresh
    with torch.no_grad():
        model([pixels])
    model.roi_heads.score_thresh = kept
    for norm in norms:
        norm.running_mean += 0.1 * norm.running_var.sqrt() * torch.randn_like(norm.running_mean)
        norm.running_var *= torch.empty_like(norm.running_var).uniform_(0.8, 1.25)
        norm.momentum = 0.1
        norm.eval()


def spread_heads(model, pixels):
    """Gives the layers of the heads random biases, and the last layers a wider spread of outputs."""
    for part in (model.backbone.fpn, model.rpn.head, model.roi_heads):
        for module in part.modules():
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)) and module.bias is not None:
                nn.init.normal_(module.bias, 0.0, 0.1)
    last = [
        (model.rpn.head.cls_logits, 2.0),
        (model.rpn.head.bbox_pred, 0.3),
        (model.roi_heads.box_predictor.cls_score, 2.5),
        (model.roi_heads.box_predictor.bbox_pred, 1.0),
    ]
    if model.roi_heads.has_mask():
        last.append((model.roi_heads.mask_predictor.mask_fcn_logits, 2.0))
    if model.roi_heads.has_keypoint():
        last.append((model.roi_heads.keypoint_predictor.kps_score_lowres, 2.0))
    for module, spread in last:
        outputs = []
        hook = module.register_forward_hook(lambda _module, _inputs, output: outputs.append(output.flatten()))
        model.roi_heads.score_thresh, kept = 0.0, model.roi_heads.score_thresh
        with torch.no_grad():
            model([pixels])
            module.weight *= spread / torch.cat(outputs).std()
        model.roi_heads.score_thresh = kept
        hook.remove()


def quieten(model, pixels, most_candidates):
    """Raises the bias of the background until at most `most_candidates` scores are above the threshold."""
    scorer, kept = model.roi_heads.box_predictor.cls_score, []
    hook = scorer.register_forward_hook(lambda _module, _inputs, output: kept.append(output))
    with torch.no_grad():
        model([pixels])
        logits = kept[0]
        while (logits.softmax(dim=1)[:, 1:] > model.roi_heads.score_thresh).sum() > most_candidates:
            logits[:, 0] += 0.1
            scorer.bias[0] += 0.1
    hook.remove()


def freeze_norms(module):
    """Replaces all norms by frozen norms with the same values."""
    for name, child in module.named_children():
        if isinstance(child, nn.BatchNorm2d):
            frozen = FrozenBatchNorm2d(child.num_features)
            frozen.load_state_dict(child.state_dict())
            setattr(module, name, frozen)
        else:
            freeze_norms(child)


def published_state(model, second):
    """The state dict under the published names. Only the second version has counters of batches."""
    state = {name: tensor.contiguous().clone() for name, tensor in model.state_dict().items()}
    assert second or not any(name.endswith("num_batches_tracked") for name in state)
    return state
