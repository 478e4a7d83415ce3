"""Writes cases.safetensors: arguments and results of torchvision's detection functions.

    python generate.py cases.safetensors

Needs torch, torchvision 0.29 and safetensors. Seeds are fixed, so the file is the same each time, except for the last
bits of results that torch computes with other vector instructions on another CPU. Tensors are named `case/tensor`. The
entry `metadata` has the function and the options of each case, as JSON.
"""

import sys

import torch
from torch import nn
from torchvision.models.detection._utils import BoxCoder
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNConvFCHead, FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.roi_heads import RoIHeads, maskrcnn_inference, paste_masks_in_image
from torchvision.models.detection.rpn import RegionProposalNetwork
from torchvision.ops import boxes as ops
from torchvision.ops.misc import Conv2dNormActivation

from recording import NAN, ODD, boxes, case, random_boxes, save, seed


def box_functions():
    seed("boxes")
    sets = {
        "random": random_boxes(20, 30, 40),
        "odd": ODD,
        "one": random_boxes(1, 30, 40),
        "empty": boxes([]),
        "half": random_boxes(9, 300, 400, torch.float16),
        "nan": boxes([[NAN, 0, 4, 4], [0, NAN, 4, 4], [0, 0, NAN, 4], [0, 0, 4, NAN], [1, 1, 4, 4]]),
    }
    other = {**sets, "random": random_boxes(13, 30, 40), "half": random_boxes(5, 300, 400, torch.float16)}
    for name, given in sets.items():
        case(f"box_area_{name}", "box_area", {"boxes": given}, [ops.box_area(given)])
        pair = {"left": given, "right": other[name]}
        case(f"box_iou_{name}", "box_iou", pair, [ops.box_iou(given, other[name])])
        for size in ([30, 40], [1, 1], [0, 7]):
            clipped = ops.clip_boxes_to_image(given, size)
            case(f"clip_{name}_{size[0]}_{size[1]}", "clip", {"boxes": given}, [clipped], image_size=size)
        for min_size in (0.0, 0.01, 5.0):
            kept = ops.remove_small_boxes(given, min_size)
            case(f"small_{name}_{min_size}", "small", {"boxes": given}, [kept], min_size=min_size)
    none = ops.box_iou(sets["random"], sets["empty"])
    case("box_iou_none", "box_iou", {"left": sets["random"], "right": sets["empty"]}, [none])


def nms():
    seed("nms")
    crowd = random_boxes(300, 60, 80)
    ties = (torch.rand(300) * 5).round() / 5
    # IoUs of 0.3, 0.7 and 0.5. The f32 nearest to 0.3 is above 0.3, and the one nearest to 0.7 is below 0.7.
    exact = boxes([[0, 0, 10, 1], [0, 0, 3, 1], [0, 4, 10, 5], [0, 4, 7, 5], [0, 8, 10, 9], [0, 8, 5, 9]])
    with_nan = boxes([[NAN, 0, 9, 9], [0, 0, 9, 9], [0, 0, 9, 9], [0, 0, NAN, 9]])
    sets = {
        "random": (crowd, torch.rand(300)),
        "ties": (crowd, ties),
        "same": (crowd[:40], torch.full((40,), 0.5)),
        "exact": (exact, torch.linspace(1, 0.5, 6)),
        "odd": (torch.cat((ODD, ODD)), torch.cat((torch.linspace(0, 1, 8), torch.linspace(0.1, 0.9, 8)))),
        "zeros": (boxes([[0, 0, 9, 9]] * 4 + [[20, 0, 29, 9]] * 2), torch.tensor([-0.0, 0.0, -0.0, 0.0, 0.0, -0.0])),
        "infinite": (crowd[:6], torch.tensor([0.5, -float("inf"), float("inf"), 0.1, -3.0, 0.5])),
        "nan": (with_nan, torch.tensor([0.9, 0.8, 0.7, 0.95])),
        "one": (crowd[:1], torch.rand(1)),
        "empty": (boxes([]), torch.rand(0)),
    }
    for name, (given, scores) in sets.items():
        for threshold in (0.0, 0.3, 0.5, 0.7, 1.0):
            kept = ops.nms(given, scores, threshold)
            tensors = {"boxes": given, "scores": scores}
            case(f"nms_{name}_{threshold}", "nms", tensors, [kept], threshold=threshold)
    for name, (given, scores) in sets.items():
        classes = torch.randint(0, 4, (len(scores),))
        # The last sort of `_batched_nms_vanilla` leaves the order of equal scores open; here the first comes first.
        kept = ops._batched_nms_vanilla(given, scores, classes, 0.5).sort().values
        kept = kept[scores[kept].sort(descending=True, stable=True).indices]
        tensors = {"boxes": given, "scores": scores, "classes": classes}
        case(f"batched_nms_{name}", "batched_nms", tensors, [kept], threshold=0.5)
    # For up to 1000 boxes torchvision adds an offset to each class. With whole coordinates the sums are exact.
    given, scores = random_boxes(200, 60, 80).round(), torch.rand(200)
    classes = torch.randint(0, 3, (200,))
    tensors = {"boxes": given, "scores": scores, "classes": classes}
    case("batched_nms_few", "batched_nms", tensors, [ops.batched_nms(given, scores, classes, 0.4)], threshold=0.4)
    given, scores = random_boxes(1200, 90, 90), torch.rand(1200)
    classes = torch.randint(-2, 3, (1200,))
    tensors = {"boxes": given, "scores": scores, "classes": classes}
    case("batched_nms_many", "batched_nms", tensors, [ops.batched_nms(given, scores, classes, 0.4)], threshold=0.4)


def coders():
    seed("coder")
    for name, weights in (("ones", [1.0, 1.0, 1.0, 1.0]), ("tens", [10.0, 10.0, 5.0, 5.0])):
        coder = BoxCoder(tuple(weights))
        for count in (0, 1, 12):
            left, right = random_boxes(count, 30, 40), random_boxes(count, 30, 40)
            deltas = coder.encode_single(left, right)
            tensors = {"reference": left, "proposals": right}
            case(f"encode_{name}_{count}", "encode", tensors, [deltas], weights=weights)
            for classes in (1, 3):
                deltas = torch.randn(count, 4 * classes) * 3
                decoded = coder.decode_single(deltas, right).reshape(count, classes, 4)
                tensors = {"deltas": deltas, "boxes": right}
                case(f"decode_{name}_{count}_{classes}", "decode", tensors, [decoded], weights=weights)
    coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
    deltas = boxes(
        [
            [0, 0, 100, -100],
            [1e3, -1e3, 4.2, 4.1],
            [0, 0, 1e30, -1e30],
            [0.5, 0, 0, 0],
            [0, 0, 5, 5],
            [0, 0, 0, 0],
            [1, 1, 1, 1],
            [0, 0, 0, 0],
        ]
    )
    decoded = coder.decode_single(deltas, ODD).reshape(8, 1, 4)
    case("decode_overflow", "decode", {"deltas": deltas, "boxes": ODD}, [decoded], weights=[1.0] * 4)
    deltas = boxes([[NAN, 0, 0, 0], [0, NAN, 0, 0], [0, 0, NAN, 0], [0, 0, 0, NAN]])
    decoded = coder.decode_single(deltas, ODD[:4]).reshape(4, 1, 4)
    case("decode_nan", "decode", {"deltas": deltas, "boxes": ODD[:4]}, [decoded], weights=[1.0] * 4)
    clipped = BoxCoder((1.0, 2.0, 3.0, 4.0), bbox_xform_clip=0.5)
    deltas = torch.randn(8, 4) * 3
    decoded = clipped.decode_single(deltas, ODD).reshape(8, 1, 4)
    options = {"weights": [1.0, 2.0, 3.0, 4.0], "bbox_xform_clip": 0.5}
    case("decode_clip", "decode", {"deltas": deltas, "boxes": ODD}, [decoded], **options)


def anchors():
    def add(name, sizes, ratios, image, maps):
        generator = AnchorGenerator(tuple(map(tuple, sizes)), tuple(map(tuple, ratios)))
        features = [torch.zeros(1, 1, *size) for size in maps]
        generator(ImageList(torch.zeros(1, 3, *image), [tuple(image)]), features)
        strides = [[torch.tensor(image[0] // h), torch.tensor(image[1] // w)] for h, w in maps]
        levels = generator.grid_anchors(maps, strides)
        options = {"sizes": sizes, "aspect_ratios": ratios, "image_size": image, "map_sizes": maps}
        options["per_location"] = generator.num_anchors_per_location()
        case(f"anchors_{name}", "anchors", {}, levels, **options)

    pyramid = [[32.0], [64.0], [128.0], [256.0], [512.0]]
    add("pyramid", pyramid, [[0.5, 1.0, 2.0]] * 5, [96, 128], [[24, 32], [12, 16], [6, 8], [3, 4], [2, 2]])
    # Coordinates that end in .5 are rounded to even: 2.5 becomes 2 and 7.5 becomes 8.
    add("halves", [[5.0, 15.0, 1.0, 3.0]], [[1.0, 4.0, 0.25]], [10, 10], [[3, 4]])
    add("uneven", [[30.0, 60.0], [100.5]], [[0.33, 1.7], [1.0]], [101, 77], [[7, 9], [3, 2]])
    add("one_pixel", [[32.0]], [[1.0]], [1, 1], [[1, 1]])
    # A map that is larger than the image has a stride of 0: all its pixels have the same anchors.
    add("stride_0", [[8.0]], [[1.0, 2.0]], [2, 2], [[3, 3]])


def randomize(module):
    module.eval()
    for key, value in module.state_dict().items():
        if key.endswith("running_var"):
            nn.init.uniform_(value, 0.5, 2.0)
        elif value.is_floating_point():
            nn.init.normal_(value, std=0.4)
    return module


def heads():
    def add(name, function, module, given, **options):
        seed(name)
        weights = {f"weights.{key}": value for key, value in randomize(module).state_dict().items()}
        weights = {key: value for key, value in weights.items() if "num_batches" not in key}
        for count in (5, 0):
            out = module(given[:count])
            out = out if isinstance(out, tuple) else (out,)
            case(f"{name}_{count}", function, {"given": given[:count], **weights}, out, **options)

    seed("heads")
    pooled = torch.randn(5, 3, 4, 4)
    add("two_mlp", "two_mlp", TwoMLPHead(48, 6), pooled)
    add("predictor", "predictor", FastRCNNPredictor(6, 3), torch.randn(5, 6))
    for norm in (None, nn.BatchNorm2d):
        normalized = norm is not None
        options = {"normalized": normalized}
        suffix = "_normalized" if normalized else ""
        add(f"conv_fc{suffix}", "conv_fc", FastRCNNConvFCHead((3, 4, 4), [4, 5], [6, 7], norm), pooled, **options)
        add(f"mask_heads{suffix}", "mask_heads", MaskRCNNHeads(3, [4, 5], 1, norm), pooled, **options)
    add("mask_predictor", "mask_predictor", MaskRCNNPredictor(3, 4, 5), pooled)
    plain = Conv2dNormActivation(3, 4, 1, norm_layer=lambda size: nn.BatchNorm2d(size, eps=1e-2), activation_layer=None)
    add("conv_block", "conv_block", plain, pooled)


def detections():
    defaults = {"score_threshold": 0.05, "nms_threshold": 0.5, "detections_per_image": 100}

    def add(name, logits, deltas, proposals, sizes, **changes):
        options = {**defaults, **changes}
        network = RoIHeads(None, None, None, 0.5, 0.5, 1, 0.5, None, *options.values())
        images = network.postprocess_detections(logits, deltas, proposals, [tuple(size) for size in sizes])
        tensors = {"logits": logits, "deltas": deltas}
        tensors.update({f"proposals{image}": given for image, given in enumerate(proposals)})
        results = [out for placed, scores, labels in zip(*images) for out in (placed.reshape(-1, 4), scores, labels)]
        case(f"detections_{name}", "detections", tensors, results, image_sizes=sizes, **options)

    seed("detections")
    count, classes, sizes = 90, 5, [[60, 80], [50, 100]]
    logits, deltas = torch.randn(count, classes) * 2, torch.randn(count, 4 * classes)
    proposals = [random_boxes(50, 60, 80), random_boxes(40, 50, 100)]
    add("two_images", logits, deltas, proposals, sizes)
    add("few", logits, deltas, proposals, sizes, detections_per_image=7)
    add("none", logits, deltas, proposals, sizes, score_threshold=1.0)
    add("no_limit", logits, deltas, proposals, sizes, score_threshold=0.0, detections_per_image=10000)
    add("strict", logits, deltas, proposals, sizes, nms_threshold=0.0)
    add("one_pixel", logits, deltas, proposals, [[1, 1], [1, 100]])
    # Many proposals with equal scores: the first comes first.
    equal = torch.tensor([[1.0, 2.0, 0.0, 0.5, 0.0]]).expand(count, classes)
    add("ties", equal, deltas, proposals, sizes, nms_threshold=0.9)
    empty = boxes([])
    add("empty_first", logits[:40], deltas[:40], [empty, proposals[1]], sizes)
    add("empty_last", logits[:50], deltas[:50], [proposals[0], empty], sizes)
    add("no_proposals", logits[:0], deltas[:0], [empty, empty], sizes)
    add("background_only", logits[:, :1], deltas[:, :4], proposals, sizes)
    # Boxes that are not in bounds have no area after clipping.
    outside = [proposals[0] + 500, proposals[1] - 500]
    add("outside", logits, deltas * 0.1, outside, sizes)


def proposals():
    defaults = {"pre_nms_top_n": 1000, "post_nms_top_n": 1000, "nms_threshold": 0.7, "score_threshold": 0.0}

    def add(name, given, objectness, sizes, levels, **changes):
        options = {**defaults, **changes}
        before, after, *thresholds = options.values()
        counts = {"training": 1, "testing": before}, {"training": 1, "testing": after}
        network = RegionProposalNetwork(None, None, 0.5, 0.5, 1, 0.5, *counts, *thresholds).eval()
        chosen, scores = network.filter_proposals(given, objectness, [tuple(size) for size in sizes], levels)
        tensors = {"proposals": given, "objectness": objectness}
        results = [tensor for image in zip(chosen, scores) for tensor in image]
        sizes_and_levels = {"image_sizes": sizes, "anchors_per_level": levels}
        case(f"proposals_{name}", "proposals", tensors, results, **sizes_and_levels, **options)

    seed("proposals")
    levels, sizes = [120, 50, 10], [[60, 80], [50, 100]]
    given = torch.stack([random_boxes(180, 60, 80), random_boxes(180, 50, 100)])
    given[:, ::9, 2] = given[:, ::9, 0]
    # No equal values: torch leaves open which of them top-n takes.
    objectness = torch.randn(2, 180)
    add("two_images", given, objectness, sizes, levels)
    add("before", given, objectness, sizes, levels, pre_nms_top_n=30)
    add("after", given, objectness, sizes, levels, post_nms_top_n=11)
    add("neither", given, objectness, sizes, levels, pre_nms_top_n=0)
    add("strict", given, objectness, sizes, levels, nms_threshold=0.2, score_threshold=0.4)
    add("one_pixel", given, objectness, [[1, 1], [1, 50]], levels)
    add("empty_level", given, objectness, sizes, [120, 0, 60])
    # Objectness so high that the sigmoid gives equal scores.
    certain = torch.linspace(20, 40, 360)[torch.randperm(360)].reshape(2, 180)
    add("certain", given, certain, sizes, levels)
    halves = torch.randn(2, 180)
    halves[0, 7], halves[1, 130] = 0.0, 0.0
    add("half", given, halves, sizes, levels, score_threshold=0.5, nms_threshold=1.0)
    add("no_anchors", given[:, :0], objectness[:, :0], sizes, [0, 0])


def pasteable(placed, pixels, size):
    """The boxes that torchvision can paste. It fails for most boxes that are inverted or not in bounds."""

    def works(box):
        try:
            paste_masks_in_image(torch.rand(1, 1, pixels, pixels), box[None], tuple(size))
            return True
        except RuntimeError:
            return False

    return placed[[works(box) for box in placed]]


def masks():
    seed("masks")
    logits, labels = torch.randn(6, 4, 5, 5), torch.tensor([1, 3, 2, 0, 1, 3])
    for count in (6, 1, 0):
        chosen = maskrcnn_inference(logits[:count], [labels[:count]])[0]
        case(f"class_masks_{count}", "class_masks", {"logits": logits[:count], "labels": labels[:count]}, [chosen])

    def add(name, given, placed, size, padding=1):
        pasted = paste_masks_in_image(given, placed, tuple(size), padding)
        case(f"paste_{name}", "paste", {"masks": given, "boxes": placed}, [pasted], image_size=size, padding=padding)

    size = [20, 24]
    inside = boxes([[2.5, 3.2, 15.9, 12.1], [0, 0, 24, 20], [5, 5, 6, 6], [7.99, 7.01, 8.01, 16.4]])
    # Coordinates that are nearly whole after the growth: 28 pixels grow by 1 on each side.
    whole = boxes([[1, 1, 29, 29], [0.999, 0.999, 29, 29], [1.001, 1.001, 29.001, 29.001], [2, 3, 30, 17]])
    beyond = boxes([[-6, -4, 9, 30], [-0.4, -0.6, 3.5, 3.5], [18, 15, 40, 50], [-30, -30, 60, 50]])
    # Boxes that are inverted, that have no area, or that end before the image begins.
    none = boxes([[9, 8, 3, 4], [4, 4, 4, 4], [12, 3, 11.5, 9], [-5.9, 3, -1.2, 9]])
    right = boxes([[24.5, 3, 29, 9], [3, 20.5, 9, 27], [24, 3, 24, 9], [25, 3, 29, 9]])
    for pixels in (28, 14, 1):
        groups = {"inside": inside, "whole": whole, "beyond": beyond, "none": none, "right": right}
        for name, placed in groups.items():
            placed = pasteable(placed, pixels, size)
            add(f"{name}_{pixels}", torch.rand(len(placed), 1, pixels, pixels), placed, size)
    for padding in (0, 2):
        add(f"padding_{padding}", torch.rand(4, 1, 7, 7), inside, size, padding)
    corner = pasteable(torch.cat((inside - 2.5, beyond)), 28, [1, 1])
    add("one_pixel", torch.rand(len(corner), 1, 28, 28), corner, [1, 1])
    # A window as large as the padded mask shows the mask unchanged.
    add("same_size", torch.rand(1, 1, 6, 6), boxes([[3.1, 3.1, 8.4, 8.4]]), size)
    add("empty", torch.rand(0, 1, 28, 28), boxes([]), size)
    add("double", torch.rand(4, 1, 14, 14, dtype=torch.float64), inside.double(), size)
    add("half", torch.rand(4, 1, 14, 14).half(), inside.half(), size)


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for group in (box_functions, nms, coders, anchors, heads, detections, proposals, masks):
        group()
    save(sys.argv[1])


main()
