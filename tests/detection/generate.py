"""Writes cases.safetensors: arguments and results of torchvision's detection functions.

    python generate.py cases.safetensors

Needs torch, torchvision 0.26 and safetensors. Seeds are fixed, so that the file is the same each time.
Tensors are named `case/tensor`; the entry `metadata` has, as JSON, the function and the options of each
case.
"""

import json
import sys
import zlib

import torch
import torchvision
from safetensors.torch import save_file
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

TENSORS = {}
CASES = {}
NAN = float("nan")


def case(name, function, tensors, results, **options):
    """Adds a case; its results are `out0`, `out1`, ..."""
    assert name not in CASES, name
    CASES[name] = {"function": function, "options": options}
    for index, result in enumerate(results):
        tensors[f"out{index}"] = result
    for key, tensor in tensors.items():
        TENSORS[f"{name}/{key}"] = tensor.detach().clone().contiguous()


def seed(name):
    torch.manual_seed(zlib.crc32(name.encode()))


def random_boxes(count, height, width, dtype=torch.float32):
    corners = torch.rand(count, 2, 2) * torch.tensor([width, height]) * 1.2 - torch.tensor([width, height]) * 0.1
    boxes = torch.cat((corners.min(1).values, corners.max(1).values), 1)
    return boxes.to(dtype)


def boxes(rows, dtype=torch.float32):
    return torch.tensor(rows, dtype=dtype).reshape(-1, 4)


ODD = boxes(
    [
        [0, 0, 10, 10],
        [0, 0, 10, 5],
        [5, 5, 5, 9],
        [5, 5, 5, 5],
        [8, 8, 2, 3],
        [-7, -3, 4, 50],
        [30, 40, 90, 95],
        [0, 0, 0.01, 0.01],
    ]
)


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


def suppression():
    seed("nms")
    crowd = random_boxes(300, 60, 80)
    ties = (torch.rand(300) * 5).round() / 5
    # Overlaps of 3 and 7 tenths and of a half: an f32 of 0.3 is above 0.3, one of 0.7 below 0.7.
    exact = boxes([[0, 0, 10, 1], [0, 0, 3, 1], [0, 4, 10, 5], [0, 4, 7, 5], [0, 8, 10, 9], [0, 8, 5, 9]])
    sets = {
        "random": (crowd, torch.rand(300)),
        "ties": (crowd, ties),
        "same": (crowd[:40], torch.full((40,), 0.5)),
        "exact": (exact, torch.linspace(1, 0.5, 6)),
        "odd": (torch.cat((ODD, ODD)), torch.cat((torch.linspace(0, 1, 8), torch.linspace(0.1, 0.9, 8)))),
        "zeros": (boxes([[0, 0, 9, 9]] * 4 + [[20, 0, 29, 9]] * 2), torch.tensor([-0.0, 0.0, -0.0, 0.0, 0.0, -0.0])),
        "infinite": (crowd[:6], torch.tensor([0.5, -float("inf"), float("inf"), 0.1, -3.0, 0.5])),
        "nan": (boxes([[NAN, 0, 9, 9], [0, 0, 9, 9], [0, 0, 9, 9], [0, 0, NAN, 9]]), torch.tensor([0.9, 0.8, 0.7, 0.95])),
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
        # Its last sort leaves open in which order boxes of one score come.
        kept = ops._batched_nms_vanilla(given, scores, classes, 0.5).sort().values
        kept = kept[scores[kept].sort(descending=True, stable=True).indices]
        tensors = {"boxes": given, "scores": scores, "classes": classes}
        case(f"batched_nms_{name}", "batched_nms", tensors, [kept], threshold=0.5)
    # On whole coordinates the offsets of the classes are exact.
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
            codes = coder.encode_single(left, right)
            tensors = {"reference": left, "proposals": right}
            case(f"encode_{name}_{count}", "encode", tensors, [codes], weights=weights)
            for classes in (1, 3):
                codes = torch.randn(count, 4 * classes) * 3
                decoded = coder.decode_single(codes, right).reshape(count, classes, 4)
                tensors = {"codes": codes, "boxes": right}
                case(f"decode_{name}_{count}_{classes}", "decode", tensors, [decoded], weights=weights)
    coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
    codes = boxes([[0, 0, 100, -100], [1e3, -1e3, 4.2, 4.1], [0, 0, 1e30, -1e30], [0.5, 0, 0, 0], [0, 0, 5, 5], [0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]])
    decoded = coder.decode_single(codes, ODD).reshape(8, 1, 4)
    case("decode_overflow", "decode", {"codes": codes, "boxes": ODD}, [decoded], weights=[1.0] * 4)
    codes = boxes([[NAN, 0, 0, 0], [0, NAN, 0, 0], [0, 0, NAN, 0], [0, 0, 0, NAN]])
    decoded = coder.decode_single(codes, ODD[:4]).reshape(4, 1, 4)
    case("decode_nan", "decode", {"codes": codes, "boxes": ODD[:4]}, [decoded], weights=[1.0] * 4)
    clipped = BoxCoder((1.0, 2.0, 3.0, 4.0), bbox_xform_clip=0.5)
    codes = torch.randn(8, 4) * 3
    decoded = clipped.decode_single(codes, ODD).reshape(8, 1, 4)
    case("decode_clip", "decode", {"codes": codes, "boxes": ODD}, [decoded], weights=[1.0, 2.0, 3.0, 4.0], clip=0.5)


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
    # Halves: 2.5 becomes 2 and 7.5 becomes 8.
    add("halves", [[5.0, 15.0, 1.0, 3.0]], [[1.0, 4.0, 0.25]], [10, 10], [[3, 4]])
    add("uneven", [[30.0, 60.0], [100.5]], [[0.33, 1.7], [1.0]], [101, 77], [[7, 9], [3, 2]])
    add("one_pixel", [[32.0]], [[1.0]], [1, 1], [[1, 1]])
    # A map that is larger than the image: all anchors lie upon each other.
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
    def add(name, logits, codes, proposals, sizes, score=0.05, overlap=0.5, limit=100):
        found = RoIHeads(None, None, None, 0.5, 0.5, 1, 0.5, None, score, overlap, limit)
        out = found.postprocess_detections(logits, codes, proposals, [tuple(size) for size in sizes])
        tensors = {"logits": logits, "codes": codes}
        tensors.update({f"proposals{image}": given for image, given in enumerate(proposals)})
        results = [tensor.reshape(-1, 4) if kind == 0 else tensor for image in zip(*out) for kind, tensor in enumerate(image)]
        options = {"image_sizes": sizes, "score": score, "overlap": overlap, "limit": limit}
        case(f"detections_{name}", "detections", tensors, results, **options)

    seed("detections")
    count, classes, sizes = 90, 5, [[60, 80], [50, 100]]
    logits, codes = torch.randn(count, classes) * 2, torch.randn(count, 4 * classes)
    proposals = [random_boxes(50, 60, 80), random_boxes(40, 50, 100)]
    add("two_images", logits, codes, proposals, sizes)
    add("few", logits, codes, proposals, sizes, limit=7)
    add("none", logits, codes, proposals, sizes, score=1.0)
    add("no_limit", logits, codes, proposals, sizes, score=0.0, limit=10000)
    add("strict", logits, codes, proposals, sizes, overlap=0.0)
    add("one_pixel", logits, codes, proposals, [[1, 1], [1, 100]])
    # Many proposals with the same scores: the order is theirs.
    equal = torch.tensor([[1.0, 2.0, 0.0, 0.5, 0.0]]).expand(count, classes)
    add("ties", equal, codes, proposals, sizes, overlap=0.9)
    empty = boxes([])
    add("empty_first", logits[:40], codes[:40], [empty, proposals[1]], sizes)
    add("empty_last", logits[:50], codes[:50], [proposals[0], empty], sizes)
    add("no_proposals", logits[:0], codes[:0], [empty, empty], sizes)
    add("background_only", logits[:, :1], codes[:, :4], proposals, sizes)
    # Boxes outside of the image have no area once they are clipped.
    outside = [proposals[0] + 500, proposals[1] - 500]
    add("outside", logits, codes * 0.1, outside, sizes)


def proposals():
    def add(name, given, objectness, sizes, levels, before=1000, after=1000, overlap=0.7, score=0.0):
        counts = {"training": 1, "testing": before}, {"training": 1, "testing": after}
        network = RegionProposalNetwork(None, None, 0.5, 0.5, 1, 0.5, *counts, overlap, score).eval()
        chosen, scores = network.filter_proposals(given, objectness, [tuple(size) for size in sizes], levels)
        tensors = {"proposals": given, "objectness": objectness}
        results = [tensor for image in zip(chosen, scores) for tensor in image]
        options = {"image_sizes": sizes, "levels": levels, "before": before, "after": after, "overlap": overlap, "score": score}
        case(f"proposals_{name}", "proposals", tensors, results, **options)

    seed("proposals")
    levels, sizes = [120, 50, 10], [[60, 80], [50, 100]]
    given = torch.stack([random_boxes(180, 60, 80), random_boxes(180, 50, 100)])
    given[:, ::9, 2] = given[:, ::9, 0]
    # No ties: what top-n makes of them is open in torch.
    objectness = torch.randn(2, 180)
    add("two_images", given, objectness, sizes, levels)
    add("before", given, objectness, sizes, levels, before=30)
    add("after", given, objectness, sizes, levels, after=11)
    add("neither", given, objectness, sizes, levels, before=0)
    add("strict", given, objectness, sizes, levels, overlap=0.2, score=0.4)
    add("one_pixel", given, objectness, [[1, 1], [1, 50]], levels)
    add("empty_level", given, objectness, sizes, [120, 0, 60])
    # Scores that the sigmoid makes equal.
    certain = torch.linspace(20, 40, 360)[torch.randperm(360)].reshape(2, 180)
    add("certain", given, certain, sizes, levels)
    halves = torch.randn(2, 180)
    halves[0, 7], halves[1, 130] = 0.0, 0.0
    add("half", given, halves, sizes, levels, score=0.5, overlap=1.0)
    add("no_anchors", given[:, :0], objectness[:, :0], sizes, [0, 0])


def pasteable(placed, pixels, size):
    """The boxes that torchvision can paste: it fails on most that are inverted or wholly outside."""

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
    # Sides that growth brings near whole numbers: 28 pixels grow by 1 on each side.
    whole = boxes([[1, 1, 29, 29], [0.999, 0.999, 29, 29], [1.001, 1.001, 29.001, 29.001], [2, 3, 30, 17]])
    beyond = boxes([[-6, -4, 9, 30], [-0.4, -0.6, 3.5, 3.5], [18, 15, 40, 50], [-30, -30, 60, 50]])
    # One that is inverted, one without area, one that ends where the image begins.
    none = boxes([[9, 8, 3, 4], [4, 4, 4, 4], [12, 3, 11.5, 9], [-5.9, 3, -1.2, 9]])
    right = boxes([[24.5, 3, 29, 9], [3, 20.5, 9, 27], [24, 3, 24, 9], [25, 3, 29, 9]])
    for pixels in (28, 14, 1):
        for name, placed in (("inside", inside), ("whole", whole), ("beyond", beyond), ("none", none), ("right", right)):
            placed = pasteable(placed, pixels, size)
            add(f"{name}_{pixels}", torch.rand(len(placed), 1, pixels, pixels), placed, size)
    for padding in (0, 2):
        add(f"padding_{padding}", torch.rand(4, 1, 7, 7), inside, size, padding)
    corner = pasteable(torch.cat((inside - 2.5, beyond)), 28, [1, 1])
    add("one_pixel", torch.rand(len(corner), 1, 28, 28), corner, [1, 1])
    # A window as large as the padded mask is the mask itself.
    add("same_size", torch.rand(1, 1, 6, 6), boxes([[3.1, 3.1, 8.4, 8.4]]), size)
    add("empty", torch.rand(0, 1, 28, 28), boxes([]), size)
    add("double", torch.rand(4, 1, 14, 14, dtype=torch.float64), inside.double(), size)
    add("half", torch.rand(4, 1, 14, 14).half(), inside.half(), size)


def main():
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for group in (box_functions, suppression, coders, anchors, heads, detections, proposals, masks):
        group()
    # One entry, since the order of several changes from run to run.
    metadata = {"torchvision": torchvision.__version__, "cases": CASES}
    save_file(TENSORS, sys.argv[1], {"metadata": json.dumps(metadata)})


main()
