"""Random weights that behave like trained ones.

With fresh weights, activations grow or vanish through the body, and all scores are nearly the same. Here the statistics
of the norms come from a batch of pictures, and the last layers of the heads are scaled so that their outputs spread
like a trained model's.
"""

import torch
from torch import nn
from torchvision.models.detection._utils import overwrite_eps
from torchvision.ops import FrozenBatchNorm2d


def prepare(model, pictures, frozen_epsilon, most_candidates):
    """Makes a fresh model behave on pictures. With an epsilon its norms become frozen ones."""
    settle_norms(model, pictures)
    spread_heads(model, pictures)
    if frozen_epsilon is not None:
        freeze_norms(model)
        overwrite_eps(model, frozen_epsilon)
    halve_precision(model)
    quieten(model, pictures, most_candidates)
    halve_precision(model)


def run_all(model, pictures):
    """Runs the model such that every box is kept, and so the heads of masks and keypoints run too."""
    heads = model.roi_heads
    kept = heads.score_thresh
    heads.score_thresh = 0.0
    with torch.no_grad():
        model(pictures)
    heads.score_thresh = kept


def settle_norms(model, pictures):
    """Gives all norms random scales and shifts, and statistics near, but not equal to, those of the pictures."""
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, 0.0, 0.2)
        norm.momentum = 1.0
        norm.train()
    run_all(model, pictures)
    for norm in norms:
        norm.running_mean += 0.1 * norm.running_var.sqrt() * torch.randn_like(norm.running_mean)
        norm.running_var *= torch.empty_like(norm.running_var).uniform_(0.8, 1.25)
        # A channel that is 0 everywhere has no variance.
        norm.running_var.clamp_(min=1e-2)
        norm.eval()


def spread_heads(model, pictures):
    """Gives the layers of the heads random biases, and the last layers a wider spread of outputs."""
    heads = model.roi_heads
    for part in (model.backbone.fpn, model.rpn.head, heads):
        for module in part.modules():
            if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)) and module.bias is not None:
                nn.init.normal_(module.bias, 0.0, 0.1)
    last = [
        # Probabilities near 1 tie in f32, and then the order of proposals is open.
        (model.rpn.head.cls_logits, 1.0),
        (model.rpn.head.bbox_pred, 0.3),
        (heads.box_predictor.cls_score, 2.5),
        (heads.box_predictor.bbox_pred, 1.0),
    ]
    if heads.has_mask():
        last.append((heads.mask_predictor.mask_fcn_logits, 2.0))
    if heads.has_keypoint():
        last.append((heads.keypoint_predictor.kps_score_lowres, 2.0))
    for module, spread in last:
        outputs = []
        hook = module.register_forward_hook(lambda _module, _inputs, output: outputs.append(output.flatten()))
        run_all(model, pictures)
        hook.remove()
        with torch.no_grad():
            module.weight *= spread / torch.cat(outputs).std()


def quieten(model, pictures, most_candidates):
    """Raises the bias of the background until at most `most_candidates` scores are above the threshold."""
    scorer, kept = model.roi_heads.box_predictor.cls_score, []
    hook = scorer.register_forward_hook(lambda _module, _inputs, output: kept.append(output))
    with torch.no_grad():
        model(pictures)
        logits = kept[0]
        while (logits.softmax(dim=1)[:, 1:] > model.roi_heads.score_thresh).sum() > most_candidates:
            logits[:, 0] += 0.125
            scorer.bias[0] += 0.125
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


def halve_precision(model):
    """Rounds all weights to f16, so that they can be stored as such."""
    state = model.state_dict()
    model.load_state_dict({name: tensor.half().to(tensor.dtype) for name, tensor in state.items()})
