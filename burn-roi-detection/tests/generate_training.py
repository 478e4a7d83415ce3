"""Writes training.safetensors: arguments and results of what torchvision's detectors are trained with.

    python generate_training.py training.safetensors

Needs what generate.py needs, and writes what it writes. `permutation0`, `permutation1` and so on are the orders that
torch.randperm returned. `gradient_` and the name of an argument is the gradient of the sum of all losses.
"""

import sys

import torch
from torchvision.models.detection import _utils
from torchvision.models.detection.roi_heads import (
    RoIHeads,
    fastrcnn_loss,
    keypointrcnn_loss,
    keypoints_to_heatmap,
    maskrcnn_loss,
    project_masks_on_boxes,
)
from torchvision.models.detection.rpn import RegionProposalNetwork
from torchvision.ops import boxes as ops

from recording import boxes, case, random_boxes, save, seed

ORDERS = []


def record_orders():
    draw = torch.randperm

    def recorded(*arguments, **options):
        ORDERS.append(draw(*arguments, **options))
        return ORDERS[-1]

    torch.randperm = recorded


def take_orders():
    orders = listed("permutation", ORDERS)
    ORDERS.clear()
    return orders


def listed(name, tensors):
    return {f"{name}{image}": tensor for image, tensor in enumerate(tensors)}


def objects(count, height, width):
    """Ground-truth boxes, which have a width and a height."""
    corners = torch.rand(count, 2) * torch.tensor([width, height]) * 0.6
    return torch.cat((corners, corners + 4 + torch.rand(count, 2) * torch.tensor([width, height]) * 0.35), 1)


def shifted(placed, count, by):
    """Proposals near the given boxes."""
    near = placed[torch.randint(0, len(placed), (count,))] + torch.randn(count, 4) * by
    return torch.cat((torch.minimum(near[:, :2], near[:, 2:]), torch.maximum(near[:, :2], near[:, 2:]) + 0.5), 1)


def matchers():
    def add(name, quality, high, low):
        results = [_utils.Matcher(high, low, allow)(quality) for allow in (False, True)]
        case(f"matcher_{name}", "matcher", {"quality": quality}, results, high_threshold=high, low_threshold=low)

    seed("matcher")
    placed = objects(5, 60, 80)
    random = ops.box_iou(placed, torch.cat((shifted(placed, 14, 3), random_boxes(6, 60, 80))))
    add("random", random, 0.7, 0.3)
    add("one_threshold", random, 0.5, 0.5)
    add("zero_thresholds", random, 0.0, 0.0)
    add("one_object", random[:1], 0.7, 0.3)
    add("one_prediction", random[:, :1], 0.7, 0.3)
    # Few values, so that maxima of columns and rows are equal, and equal to the thresholds.
    add("ties", (torch.rand(6, 24) * 4).round() / 4, 0.75, 0.25)
    # The f32 nearest to 0.7 is below 0.7, and the one nearest to 0.3 is above 0.3.
    add("at_thresholds", torch.tensor([[0.7, 0.3, 0.69999, 0.29999], [0.0, 0.0, 0.0, 0.0]]), 0.7, 0.3)
    # A ground truth that overlaps nothing has its highest quality, 0, everywhere.
    add("no_overlap", torch.tensor([[0.8, 0.4, 0.1, 0.0], [0.0, 0.0, 0.0, 0.0]]), 0.7, 0.3)
    add("double", random.double(), 0.7, 0.3)


def samplers():
    def add(name, labels, size, fraction):
        positive, negative = _utils.BalancedPositiveNegativeSampler(size, fraction)(labels)
        results = [torch.where(mask)[0] for image in zip(positive, negative) for mask in image]
        tensors = {**listed("labels", labels), **take_orders()}
        case(f"sampler_{name}", "sampler", tensors, results, batch_size_per_image=size, positive_fraction=fraction)

    seed("sampler")
    labels = [torch.randint(-1, 3, (30,)), torch.randint(-2, 2, (20,))]
    add("two_images", labels, 16, 0.25)
    add("all_positive", labels, 8, 1.0)
    add("none_positive", labels, 8, 0.0)
    add("too_few", labels, 1000, 0.5)
    add("rounded_down", labels, 7, 0.5)
    add("no_negative", [torch.tensor([1, -1, 2, 1])], 3, 0.5)
    add("no_positive", [torch.tensor([0, -1, 0, 0])], 2, 0.5)
    add("ignored", [torch.tensor([-1, -1])], 2, 0.5)
    add("empty_image", [torch.zeros(0, dtype=torch.int64), labels[1]], 8, 0.5)


def ground_truth():
    """Three images; the second has no objects."""
    placed = [objects(3, 60, 80), boxes([]), objects(1, 50, 100)]
    labels = [torch.tensor([2, 1, 4]), torch.zeros(0, dtype=torch.int64), torch.tensor([3])]
    return placed, labels


def given_proposals(placed):
    near = [shifted(boxes_, 9, 2) if len(boxes_) else boxes([]) for boxes_ in placed]
    return [torch.cat((near_, random_boxes(4, 60, 80))) for near_ in near]


def heads(high=0.5, low=0.5, size=512, fraction=0.25, weights=None):
    return RoIHeads(None, None, None, high, low, size, fraction, weights, 0.05, 0.5, 100)


def assignments():
    seed("assignments")
    placed, labels = ground_truth()
    given = given_proposals(placed)
    shared = {**listed("gt_boxes", placed), **listed("gt_labels", labels)}
    for name, high, low in (("defaults", 0.5, 0.5), ("ignoring", 0.7, 0.3)):
        matched, assigned = heads(high, low).assign_targets_to_proposals(given, placed, labels)
        tensors = {**shared, **listed("proposals", given)}
        results = [tensor for image in zip(matched, assigned) for tensor in image]
        options = {"high_threshold": high, "low_threshold": low}
        case(f"assign_proposals_{name}", "assign_proposals", tensors, results, **options)

    # An image without objects and without proposals.
    matched, assigned = heads().assign_targets_to_proposals([boxes([])], [boxes([])], [labels[1]])
    tensors = {"proposals0": boxes([]), "gt_boxes0": boxes([]), "gt_labels0": labels[1]}
    options = {"high_threshold": 0.5, "low_threshold": 0.5}
    case("assign_proposals_empty", "assign_proposals", tensors, [*matched, *assigned], **options)

    anchors = torch.cat((given[0], given[2]))
    network = RegionProposalNetwork(None, None, 0.7, 0.3, 256, 0.5, {}, {}, 0.7)
    assigned, matched = network.assign_targets_to_anchors([anchors] * 3, [{"boxes": placed_} for placed_ in placed])
    results = [tensor for image in zip(assigned, matched) for tensor in image]
    results = [result.long() if result.dim() == 1 else result for result in results]
    case("assign_anchors", "assign_anchors", {"anchors": anchors, **listed("gt_boxes", placed)}, results)


def samples():
    def add(name, given, placed, labels, **options):
        network = heads(0.5, options["low"], options["size"], options["fraction"], options["weights"])
        targets = [{"boxes": placed_, "labels": labels_} for placed_, labels_ in zip(placed, labels)]
        selected = network.select_training_samples(list(given), targets)
        results = [tensor for image in zip(*selected) for tensor in image]
        tensors = {**listed("proposals", given), **listed("gt_boxes", placed), **listed("gt_labels", labels)}
        case(f"samples_{name}", "samples", {**tensors, **take_orders()}, results, **options)

    seed("samples")
    placed, labels = ground_truth()
    given = given_proposals(placed)
    options = {"low": 0.5, "size": 12, "fraction": 0.25, "weights": [10.0, 10.0, 5.0, 5.0]}
    add("three_images", given, placed, labels, **options)
    add("all", given, placed, labels, **{**options, "size": 512})
    add("weights", given[:1], placed[:1], labels[:1], **{**options, "low": 0.2, "weights": [1.0, 2.0, 3.0, 4.0]})
    add("no_proposals", [boxes([]), boxes([])], placed[:2], labels[:2], **options)


def box_losses():
    def add(name, labels, classes, dtype=torch.float32, scale=1.0):
        count = sum(map(len, labels))
        logits = (torch.randn(count, classes, dtype=dtype) * scale).requires_grad_()
        deltas = (torch.randn(count, 4 * classes, dtype=dtype) * scale * 0.3).requires_grad_()
        targets = [torch.randn(len(labels_), 4, dtype=dtype) * 0.3 for labels_ in labels]
        # Box deltas within beta of their targets, where the loss is a square.
        with torch.no_grad():
            close = torch.cat(targets)[:, None] + 0.05 * torch.randn(count, classes, 4, dtype=dtype)
            deltas[::2] = close.reshape(count, 4 * classes)[::2]
        losses = fastrcnn_loss(logits, deltas, labels, targets)
        sum(losses).backward()
        tensors = {"class_logits": logits, "box_regression": deltas}
        tensors.update({"gradient_class_logits": logits.grad, "gradient_box_regression": deltas.grad})
        tensors.update({**listed("labels", labels), **listed("regression_targets", targets)})
        case(f"fastrcnn_loss_{name}", "fastrcnn_loss", tensors, [loss.reshape(1) for loss in losses])

    seed("fastrcnn_loss")
    two = [torch.tensor([0, 3, 1, 0, 2]), torch.tensor([1, 0, 0])]
    add("two_images", two, 4)
    add("double", two, 4, torch.float64)
    add("large", two, 4, scale=60.0)
    add("empty_image", [two[1], torch.zeros(0, dtype=torch.int64)], 3)
    add("background", [torch.tensor([0, 0])], 3)
    add("no_background", [torch.tensor([1, 1])], 2)
    add("one", [torch.tensor([1])], 2)
    add("many_classes", [torch.tensor([20])], 21)


def region_losses():
    def add(name, labels, size=8, fraction=0.5, dtype=torch.float32, scale=1.0):
        images, anchors = len(labels), len(labels[0])
        objectness = (torch.randn(images, anchors, dtype=dtype) * scale).requires_grad_()
        deltas = (torch.randn(images, anchors, 4, dtype=dtype) * scale * 0.2).requires_grad_()
        targets = [torch.randn(anchors, 4, dtype=dtype) * 0.2 for _ in labels]
        network = RegionProposalNetwork(None, None, 0.7, 0.3, size, fraction, {}, {}, 0.7)
        floats = [labels_.to(dtype) for labels_ in labels]
        losses = network.compute_loss(objectness.reshape(-1, 1), deltas.reshape(-1, 4), floats, targets)
        sum(losses).backward()
        tensors = {"objectness": objectness, "pred_bbox_deltas": deltas}
        tensors.update({"gradient_objectness": objectness.grad, "gradient_pred_bbox_deltas": deltas.grad})
        tensors.update({**listed("labels", labels), **listed("regression_targets", targets), **take_orders()})
        results = [loss.reshape(1) for loss in losses]
        case(f"rpn_loss_{name}", "rpn_loss", tensors, results, batch_size_per_image=size, positive_fraction=fraction)

    seed("rpn_loss")
    two = [torch.randint(-1, 2, (14,)) for _ in range(2)]
    add("two_images", two)
    add("double", two[:1], dtype=torch.float64)
    add("all", two, size=256)
    add("large", two[:1], scale=100.0)
    add("background", [torch.tensor([0, 0, -1])])
    add("objects", [torch.tensor([1, 1, -1])], fraction=1.0)
    add("one_image_ignored", [torch.full((5,), -1), torch.tensor([0, 1, 0, 0, -1])])


def mask_losses():
    def add(name, placed, masks, labels, matched, size, classes, dtype=torch.float32, scale=1.0):
        count = sum(map(len, placed))
        logits = (torch.randn(count, classes, size, size, dtype=dtype) * scale).requires_grad_()
        loss = maskrcnn_loss(logits, placed, masks, labels, matched)
        loss.backward()
        images = zip(masks, placed, matched)
        projected = torch.cat([project_masks_on_boxes(mask, box, rows, size) for mask, box, rows in images])
        tensors = {"mask_logits": logits, "gradient_mask_logits": logits.grad, **listed("proposals", placed)}
        tensors.update({**listed("gt_masks", masks), **listed("gt_labels", labels), **listed("matched_idxs", matched)})
        case(f"maskrcnn_loss_{name}", "maskrcnn_loss", tensors, [loss.reshape(1), projected])

    seed("maskrcnn_loss")
    masks = [(torch.rand(3, 14, 16) > 0.4).float(), (torch.rand(1, 12, 18) > 0.6).float()]
    labels = [torch.tensor([2, 1, 2]), torch.tensor([1])]
    # The last ones reach beyond the image.
    placed = [boxes([[2.3, 1.7, 11.2, 9.1], [0, 0, 16, 14], [10, 8, 21, 18]]), boxes([[-4, 3, 7.5, 15]])]
    matched = [torch.tensor([2, 0, 1]), torch.tensor([0])]
    add("two_images", placed, masks, labels, matched, 5, 3)
    add("large", placed, masks, labels, matched, 3, 3, scale=60.0)
    narrow = boxes([[3, 3, 3.4, 15], [5, 5, 5, 5]])
    add("narrow", [narrow], masks[:1], labels[:1], [torch.tensor([1, 1])], 4, 3)
    double = [[tensor.double() for tensor in tensors] for tensors in (placed[1:], masks[1:])]
    add("double", *double, labels[1:], matched[1:], 6, 2, dtype=torch.float64)
    none = [boxes([]), torch.zeros(0, dtype=torch.int64)]
    nothing = torch.zeros(0, 9, 9)
    images = [placed[1], none[0]], [masks[1], nothing], [labels[1], none[1]], [matched[1], none[1]]
    add("empty_image", *images, 6, 2)
    add("no_proposals", [none[0]], [nothing], [none[1]], [none[1]], 6, 2)


def keypoints_of(placed, points):
    """Keypoints [G, P, 3] in and around boxes. The visibility is 0, 1 or 2, as in COCO."""
    first, last = placed[:, None, :2], placed[:, None, 2:]
    place = first + (last - first) * (torch.rand(len(placed), points, 2) * 1.2 - 0.1)
    return torch.cat((place, torch.randint(0, 3, (len(placed), points, 1)).float()), 2)


def heatmaps():
    def add(name, keypoints, rois, size):
        pixels, valid = keypoints_to_heatmap(keypoints, rois, size)
        tensors = {"keypoints": keypoints, "rois": rois}
        case(f"keypoints_to_heatmap_{name}", "keypoints_to_heatmap", tensors, [pixels, valid], heatmap_size=size)

    seed("keypoints_to_heatmap")
    placed = objects(6, 60, 80)
    add("random", keypoints_of(placed, 9), placed, 56)
    add("double", keypoints_of(placed, 9).double(), placed.double(), 56)
    add("one_pixel", keypoints_of(placed, 9), placed, 1)
    # The last column and row, the limits of all bins, and keypoints that are not visible.
    steps = torch.arange(0, 21).float() / 2
    grid = torch.stack((steps, 10 - steps, torch.ones(21)), 1)
    edges = torch.tensor([[10, 10, 1], [10, 0, 2], [10, 11, 1], [10, 10, 0], [-0.001, 5, 1], [5, 5, -1]])
    add("edges", torch.cat((grid, edges))[None], boxes([[0, 0, 10, 10]]), 7)
    add("no_extent", torch.tensor([[[5.0, 5, 1], [5, 6, 1], [4, 5, 1]]]), boxes([[5, 5, 5, 9]]), 7)
    add("empty", torch.zeros(0, 17, 3), boxes([]), 56)


def keypoint_losses():
    def add(name, placed, keypoints, matched, size, dtype=torch.float32, scale=1.0):
        shape = (sum(map(len, placed)), keypoints[0].shape[1], size, size)
        logits = (torch.randn(shape, dtype=dtype) * scale).requires_grad_()
        loss = keypointrcnn_loss(logits, placed, keypoints, matched)
        loss.backward()
        tensors = {"keypoint_logits": logits, "gradient_keypoint_logits": logits.grad, **listed("proposals", placed)}
        tensors.update({**listed("gt_keypoints", keypoints), **listed("matched_idxs", matched)})
        case(f"keypointrcnn_loss_{name}", "keypointrcnn_loss", tensors, [loss.reshape(1)])

    seed("keypointrcnn_loss")
    placed = [objects(3, 60, 80), objects(1, 50, 100)]
    keypoints = [keypoints_of(placed_, 4) for placed_ in placed]
    matched = [torch.tensor([2, 0, 1, 2, 0]), torch.tensor([0, 0])]
    given = [placed_[rows] + torch.randn(len(rows), 4) for placed_, rows in zip(placed, matched)]
    add("two_images", given, keypoints, matched, 7)
    add("large", given, keypoints, matched, 3, scale=60.0)
    double = [[tensor.double() for tensor in tensors] for tensors in (given[1:], keypoints[1:])]
    add("double", *double, matched[1:], 6, dtype=torch.float64)
    none = torch.zeros(0, dtype=torch.int64)
    add("empty_image", [given[0], boxes([])], [keypoints[0], torch.zeros(0, 4, 3)], [matched[0], none], 5)
    hidden = [torch.cat((keypoints_[..., :2], torch.zeros_like(keypoints_[..., :1])), 2) for keypoints_ in keypoints]
    add("hidden", given, hidden, matched, 5)


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    record_orders()
    losses = (box_losses, region_losses, mask_losses, keypoint_losses)
    for group in (matchers, samplers, assignments, samples, heatmaps, *losses):
        ORDERS.clear()
        group()
    save(sys.argv[1])


main()
