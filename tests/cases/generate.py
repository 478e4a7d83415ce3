#!/usr/bin/env python3
"""Runs the frameworks on small random problems and stores what they answer.

Every file is one case: an input, boxes, the operator's attributes under the owner's own names, and
the output. DirectML doesn't run here; its cases follow the formulas of its documents in float64. mmcv's prroi_pool
runs on CUDA only; its cases follow its rule, with positions in the type of the tensors and integrals in float64.
`generate_points.py` has the operators whose samples are no grid of rows and columns.
"""

import argparse
import json
import math
import os
import struct
import zlib
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

DTYPES = {"f32": np.float32, "f16": np.float16, "f64": np.float64}
STORED_NAMES = {"float32": "F32", "float16": "F16", "float64": "F64", "int64": "I64"}
ALIGN_TOLERANCE = {np.float32: 2e-5, np.float16: 2e-3, np.float64: 1e-10}
# Sums of gradients of boxes are of up to a hundred elements.
MMCV_TOLERANCE = {np.float32: 5e-5, np.float64: 1e-10}
DIRECTML_TOLERANCE = {np.float32: 5e-5, np.float16: 2e-3}

# Keep a file below 8 KB, and a box below what its owner can spend on every sample.
MOST_ELEMENTS = 850
MOST_SAMPLES = 200_000
MOST_DIRECTML_SAMPLES = 2_000
UNLIMITED = 2**32 - 1

SCALES = [1.0, 0.5, 0.25, 0.0625, 0.3, 2.0]
MAPS = ["one pixel", "one row", "one column", "tiny", "ordinary", "ordinary", "wide"]
OUTPUTS = ["one element", "one row", "one column", "square", "oblong", "thirteen"]
INTERVALS = ["random", "grid", "halves", "partly outside", "outside", "centred on a border",
             "sample on a bound", "border to border", "empty", "inverted", "huge"]
# Numbers of pixels whose bins end elsewhere when the length of a bin is rounded to a float32.
INEXACT_BINS = {7: [57], 11: [29, 47, 58], 13: [7, 14, 28, 56]}
ONNX_TRANSFORMATIONS = ["output_half_pixel", "half_pixel"]
OPENVINO_ALIGNED_MODES = ["asymmetric", "half_pixel_for_nn", "half_pixel"]


class Dealer:
    """Deals the values of a list in random order, all of them before any a second time."""

    def __init__(self, seed, stretch=1):
        self.random = np.random.default_rng(seed)
        self.left = {}
        self.stretch = stretch
        self.most_elements = MOST_ELEMENTS * stretch**2

    def deal(self, name, values):
        if not self.left.get(name):
            values = list(values)
            self.left[name] = [values[index] for index in self.random.permutation(len(values))]
        return self.left[name].pop()


@dataclass
class Problem:
    """What all operators share. Boxes are x1, y1, x2, y2 in pixels of the map, still in float64."""

    input: np.ndarray
    batch_indices: np.ndarray
    output: tuple
    boxes: np.ndarray


@dataclass
class Case:
    source: str
    attributes: dict
    tolerance: float
    tensors: dict


def map_size(dealer):
    low, high = dealer.random.integers(2, 6), dealer.random.integers(6, 17)
    return {
        "one pixel": (1, 1),
        "one row": (1, high),
        "one column": (high, 1),
        "tiny": (low, dealer.random.integers(2, 6)),
        "ordinary": (dealer.random.integers(6, 17) * dealer.stretch, high * dealer.stretch),
        "wide": (3, 57 + low),
    }[dealer.deal("map", MAPS)]


def output_size(dealer):
    size, other = dealer.random.permutation([1, 2, 3, 4, 5, 6, 7, 9, 11])[:2]
    return {
        "one element": (1, 1),
        "one row": (1, size),
        "one column": (size, 1),
        "square": (dealer.deal("square", [2, 7]),) * 2,
        "oblong": (size, other),
        "thirteen": (size, 13),
    }[dealer.deal("output", OUTPUTS)]


def interval(kind, random, size, elements):
    """One axis of a box, on a map of `size` pixels that becomes `elements` outputs."""
    if kind == "random":
        return sorted(random.uniform(0, size, 2))
    if kind == "grid":
        low = random.integers(-2, size)
        return low, low + elements * random.integers(1, 4)
    if kind == "halves":
        low = random.integers(-2, 2 * size) / 2
        return low, low + random.integers(1, 4 * elements + 1) / 2
    if kind == "partly outside":
        low, high = random.uniform(-size - 1, 0), random.uniform(0, size)
        return (low, high) if random.random() < 0.5 else (size - high, size - low)
    if kind == "outside":
        low, high = sorted(random.uniform(1, 5, 2))
        return (size + low, size + high) if random.random() < 0.5 else (-1 - high, -1 - low)
    if kind == "centred on a border":
        centre = random.choice([-1, -0.5, 0, 0.5, size - 1, size - 0.5, size, size + 0.5])
        length = random.choice([1, 3, elements, 3 * elements, random.uniform(0.5, 3 * elements)])
        return centre - length / 2, centre + length / 2
    if kind == "sample on a bound":
        samples = elements * random.integers(1, 5)
        share = (random.integers(samples) + 0.5) / samples
        length = random.integers(1, 30) / random.choice([1, 2, 3, 10])
        low = random.choice([-1, size]) + random.choice([0, 0.5]) - share * length
        return low, low + length
    if kind == "border to border":
        return random.integers(-1, 2), size + random.integers(-1, 2)
    if kind == "empty":
        place = random.choice([random.uniform(0, size), random.integers(-1, size + 1)])
        return place, place
    if kind == "inverted":
        high, low = interval(random.choice(["random", "grid", "halves"]), random, size, elements)
        return low, high
    assert kind == "huge"
    low = -random.choice([random.integers(0, 10_000), random.uniform(0, 10_000)])
    return low, low + 10_000


def draw_box(dealer, size, output):
    kind = dealer.deal("box", INTERVALS)
    # Two dealt kinds too often meet outside of the map, so one axis is as often an ordinary one.
    other = dealer.random.choice([kind, dealer.deal("box", INTERVALS), "random", "random"])
    kinds = dealer.random.permutation([kind, other])
    (y1, y2), (x1, x2) = (interval(*axis) for axis in zip(kinds, [dealer.random] * 2, size, output))
    return np.array([x1, y1, x2, y2], np.float64)


def draw_problem(dealer, dtype, accept, output=None):
    """A problem whose boxes all pass `accept(box, map size, output size)`, of some output size if it is given none."""
    size = tuple(int(side) for side in map_size(dealer))
    output = output or tuple(int(side) for side in output_size(dealer))
    pixels, elements = math.prod(size), math.prod(output)
    images = min(dealer.deal("images", [1, 2, 3]), dealer.most_elements // pixels)
    boxes = min(dealer.deal("boxes", [1, 2, 3, 4, 6]), dealer.most_elements // elements)
    channels = min(dealer.deal("channels", [1, 2, 3, 5, 17]),
                   dealer.most_elements // (pixels * images), dealer.most_elements // (elements * boxes))
    accepted = []
    while len(accepted) < boxes:
        box = draw_box(dealer, size, output)
        if accept(box, size, output):
            accepted.append(box)
    return Problem(
        input=dealer.random.standard_normal((images, channels, *size)).astype(dtype),
        batch_indices=dealer.random.integers(images, size=boxes),
        output=output,
        boxes=np.array(accepted),
    )


def draw_pool_problem(dealer, dtype, accept):
    """A problem whose first box depends, where the output allows, on how bins are divided."""
    problem = draw_problem(dealer, dtype, accept)
    _, _, height, width = problem.input.shape
    for axis, size, elements in [(1, height, problem.output[0]), (0, width, problem.output[1])]:
        if elements in INEXACT_BINS:
            # The pixel after the region, which rounding adds to the last bin, is the map's last.
            pixels = dealer.random.choice(INEXACT_BINS[elements])
            other, other_size = 1 - axis, width + height - size
            problem.boxes[0, [axis, axis + 2]] = size - 1 - pixels, size - 2
            problem.boxes[0, [other, other + 2]] = 0, other_size - 1
    return problem


def owner_boxes(problem_boxes, scale, dtype):
    """Pixels of the map in the coordinates that the owner multiplies by `scale`."""
    largest = float(np.finfo(dtype).max)
    return np.clip(problem_boxes / scale, -largest, largest).astype(dtype)


def with_batch_column(problem, boxes):
    return np.concatenate([problem.batch_indices[:, None].astype(boxes.dtype), boxes], axis=1)


def affordable(scale, dtype, ratio, aligned, zero_samples_allowed=True):
    """Rejects boxes that take too many samples, or a number on which the owner fails."""
    def accept(box, size, output):
        box = owner_boxes(box, scale, dtype).astype(np.float64) * scale
        lengths = box[3] - box[1], box[2] - box[0]
        if not aligned:
            lengths = [max(length, 1) for length in lengths]
        samples = math.prod(ratio if ratio > 0 else math.ceil(length / elements)
                            for length, elements in zip(lengths, output))
        # One inverted axis makes the number negative: an exception, or foreign memory as a result.
        possible = samples > 0 or (samples == 0 and zero_samples_allowed)
        return possible and samples * math.prod(output) <= MOST_SAMPLES
    return accept


def anything(box, size, output):
    return True


def torchvision_roi_align(dealer, dtype):
    import torch
    import torchvision

    aligned, adaptive = dealer.deal("variant", product([False, True], [False, True]))
    ratio = dealer.deal("adaptive", [-1, 0]) if adaptive else dealer.deal("ratio", [1, 2, 3, 4])
    scale = dealer.deal("scale", SCALES)
    problem = draw_problem(dealer, dtype, affordable(scale, dtype, ratio, aligned))
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    expected = torchvision.ops.roi_align(torch.from_numpy(problem.input), torch.from_numpy(boxes),
                                         problem.output, scale, ratio, aligned)
    attributes = {"output_size": problem.output, "spatial_scale": scale,
                  "sampling_ratio": ratio, "aligned": aligned}
    return Case(f"torchvision {torchvision.__version__}", attributes, ALIGN_TOLERANCE[dtype],
                {"input": problem.input, "boxes": boxes, "expected": expected.numpy()})


def torchvision_roi_pool(dealer, dtype):
    import torch
    import torchvision

    scale = dealer.deal("scale", SCALES)
    problem = draw_pool_problem(dealer, dtype, anything)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    expected = torchvision.ops.roi_pool(torch.from_numpy(problem.input), torch.from_numpy(boxes),
                                        problem.output, scale)
    return Case(f"torchvision {torchvision.__version__}",
                {"output_size": problem.output, "spatial_scale": scale}, 0.0,
                {"input": problem.input, "boxes": boxes, "expected": expected.numpy()})


def position_sensitive(dealer, dtype, draw, accept):
    """A problem with one channel of the features for each output element."""
    while True:
        problem = draw(dealer, dtype, accept)
        images, channels, *size = problem.input.shape
        elements = math.prod(problem.output)
        if elements <= 48:
            break
    channels = max(1, min(channels, dealer.most_elements // (elements * images * math.prod(size))))
    shape = (images, channels * elements, *size)
    return replace(problem, input=dealer.random.standard_normal(shape).astype(dtype))


def torchvision_ps_roi_align(dealer, dtype):
    import torch
    import torchvision

    ratio = dealer.deal("ratio", [-1, 0, 1, 2, 3])
    scale = dealer.deal("scale", SCALES)
    # Without a sample torchvision divides 0 by 0.
    accept = affordable(scale, dtype, ratio, True, zero_samples_allowed=False)
    problem = position_sensitive(dealer, dtype, draw_problem, accept)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    expected = torchvision.ops.ps_roi_align(torch.from_numpy(problem.input), torch.from_numpy(boxes),
                                            problem.output, scale, ratio)
    attributes = {"output_size": problem.output, "spatial_scale": scale, "sampling_ratio": ratio}
    return Case(f"torchvision {torchvision.__version__}", attributes, ALIGN_TOLERANCE[dtype],
                {"input": problem.input, "boxes": boxes, "expected": expected.numpy()})


def torchvision_ps_roi_pool(dealer, dtype):
    import torch
    import torchvision

    scale = dealer.deal("scale", SCALES)
    problem = position_sensitive(dealer, dtype, draw_pool_problem, anything)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    expected = torchvision.ops.ps_roi_pool(torch.from_numpy(problem.input), torch.from_numpy(boxes),
                                           problem.output, scale)
    return Case(f"torchvision {torchvision.__version__}",
                {"output_size": problem.output, "spatial_scale": scale}, ALIGN_TOLERANCE[dtype],
                {"input": problem.input, "boxes": boxes, "expected": expected.numpy()})


def torchvision_multi_scale_roi_align(dealer, dtype):
    import torch
    import torchvision

    random = dealer.random
    levels, stride = dealer.deal("levels", [1, 2, 3, 4]), dealer.deal("stride", [2, 4])
    canonical_scale, canonical_level = dealer.deal("canonical", product([8, 13, 16], [1, 2, 3]))
    ratio, output = dealer.deal("multi-scale ratio", [-1, 1, 2, 3]), output_size(dealer)
    while math.prod(output) > 30:
        output = output_size(dealer)
    output = tuple(int(side) for side in output)
    images = [tuple(int(side) for side in random.integers(17, 40, 2))
              for _ in range(dealer.deal("images", [1, 2]))]
    padded = [math.ceil(max(sides) / 32) * 32 for sides in zip(*images)]
    maps = [(len(images), 2, *(math.ceil(side / stride / 2**level) for side in padded))
            for level in range(levels)]
    features = [random.standard_normal(shape).astype(dtype) for shape in maps]
    boxes = [np.array([pyramid_box(dealer, size, canonical_scale) for _ in range(count)], dtype)
             for size, count in zip(images, [3, 4])]
    pooler = torchvision.ops.MultiScaleRoIAlign(
        [str(level) for level in range(levels)], output, ratio,
        canonical_scale=canonical_scale, canonical_level=canonical_level)
    expected = pooler({str(level): torch.from_numpy(map) for level, map in enumerate(features)},
                      [torch.from_numpy(of_image) for of_image in boxes], images)
    attributes = {"output_size": output, "sampling_ratio": ratio, "image_shapes": images,
                  "canonical_scale": canonical_scale, "canonical_level": canonical_level}
    indices = np.repeat(np.arange(len(images)), [len(of_image) for of_image in boxes])
    return Case(f"torchvision {torchvision.__version__}", attributes, ALIGN_TOLERANCE[dtype],
                {"input": features[0], "expected": expected.numpy(),
                 "boxes": np.concatenate(boxes), "batch_indices": indices,
                 **{f"input.{level}": map for level, map in enumerate(features) if level > 0}})


def pyramid_box(dealer, image, canonical_scale):
    """A box of an image; some have the very area from which on a region belongs to the next level."""
    kind = dealer.deal("pyramid box", ["random", "random", "next level", "nearly", "whole", "empty"])
    low = dealer.random.uniform(-2, 20, 2)
    if kind == "random":
        sides = 2.0 ** dealer.random.uniform(0, 6, 2)
    elif kind == "whole":
        low, sides = np.zeros(2), np.array(image[::-1])
    elif kind == "empty":
        sides = dealer.random.uniform(0, 9) * dealer.random.permutation([0, 1])
    else:
        # The corner is whole, so that the sides are exact in float32.
        low, power = np.floor(low), 2.0 ** dealer.random.integers(-2, 3)
        stretch = 2.0 ** dealer.random.integers(-1, 2)
        sides = canonical_scale * power * np.array([stretch, 1 / stretch])
        if kind == "nearly":
            sides[0] *= 1 - 2.0**-10
    return np.concatenate([low, low + sides])


def onnx_session(operator, opset, attributes, dtype):
    import onnx
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    value = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    types = {"input": value, "boxes": value}
    if operator == "RoiAlign":
        types["batch_indices"] = onnx.TensorProto.INT64
    node = onnx.helper.make_node(operator, list(types), ["expected"], **attributes)
    graph = onnx.helper.make_graph(
        [node], "case",
        [onnx.helper.make_tensor_value_info(name, type, None) for name, type in types.items()],
        [onnx.helper.make_tensor_value_info("expected", value, None)])
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)
    return onnxruntime.InferenceSession(model.SerializeToString(),
                                        providers=["CPUExecutionProvider"])


def onnx_source():
    import onnxruntime

    return f"onnxruntime {onnxruntime.__version__} CPU"


def onnx_roi_align_opsets(dealer, dtype):
    """The opsets of 10, 16 and 22 that onnxruntime runs, asked once."""
    if "opsets" not in vars(dealer):
        dealer.opsets = []
        for opset in [10, 16, 22]:
            try:
                onnx_session("RoiAlign", opset, {}, dtype)
                dealer.opsets.append(opset)
            except Exception as error:
                print(f"{onnx_source()} refuses RoiAlign of opset {opset}: "
                      f"{str(error).splitlines()[0]}")
    return dealer.opsets


def onnx_scale(dealer, dtype):
    # The attribute is a float32 even where the tensors are not.
    scale = dealer.deal("scale", SCALES)
    return float(np.float32(scale)) if dtype is np.float64 else scale


def onnx_roi_align(dealer, dtype):
    variants = [(opset, transformation) for opset in onnx_roi_align_opsets(dealer, dtype)
                for transformation in (ONNX_TRANSFORMATIONS if opset >= 16 else [None])]
    (opset, transformation), mode, adaptive = dealer.deal(
        "variant", product(variants, ["avg", "max"], [False, True]))
    ratio = 0 if adaptive else dealer.deal("ratio", [1, 2, 3, 4])
    scale = onnx_scale(dealer, dtype)
    accept = affordable(scale, dtype, ratio, aligned=transformation == "half_pixel")
    problem = draw_problem(dealer, dtype, accept)
    attributes = {"mode": mode, "output_height": problem.output[0],
                  "output_width": problem.output[1], "sampling_ratio": ratio,
                  "spatial_scale": scale}
    if transformation:
        attributes["coordinate_transformation_mode"] = transformation
    tensors = {"input": problem.input, "boxes": owner_boxes(problem.boxes, scale, dtype),
               "batch_indices": problem.batch_indices}
    [tensors["expected"]] = onnx_session("RoiAlign", opset, attributes, dtype).run(None, tensors)
    return Case(onnx_source(), attributes | {"opset": opset}, ALIGN_TOLERANCE[dtype], tensors)


def onnx_max_roi_pool(dealer, dtype):
    problem = draw_pool_problem(dealer, dtype, anything)
    scale = onnx_scale(dealer, dtype)
    attributes = {"pooled_shape": problem.output, "spatial_scale": scale}
    boxes = owner_boxes(problem.boxes, scale, dtype)
    tensors = {"input": problem.input, "boxes": with_batch_column(problem, boxes)}
    [tensors["expected"]] = onnx_session("MaxRoiPool", 16, attributes, dtype).run(None, tensors)
    return Case(onnx_source(), attributes, 0.0, tensors)


def openvino_roi_align(dealer, dtype):
    import openvino
    from openvino import opset3, opset9

    variants = [(3, None)] + [(9, aligned_mode) for aligned_mode in OPENVINO_ALIGNED_MODES]
    (version, aligned_mode), mode, adaptive = dealer.deal(
        "variant", product(variants, ["avg", "max"], [False, True]))
    ratio = 0 if adaptive else dealer.deal("ratio", [1, 2, 3, 4])
    scale = dealer.deal("scale", SCALES)
    # An average over no sample at all is NaN.
    accept = affordable(scale, dtype, ratio, aligned=aligned_mode not in [None, "asymmetric"],
                        zero_samples_allowed=mode == "max")
    problem = draw_problem(dealer, dtype, accept)
    attributes = {"pooled_h": problem.output[0], "pooled_w": problem.output[1],
                  "sampling_ratio": ratio, "spatial_scale": scale, "mode": mode}
    if aligned_mode:
        attributes["aligned_mode"] = aligned_mode
    tensors = {"input": problem.input, "boxes": owner_boxes(problem.boxes, scale, dtype),
               "batch_indices": problem.batch_indices}
    parameters = [opset9.parameter(list(tensor.shape), tensor.dtype) for tensor in tensors.values()]
    build = opset3.roi_align if version == 3 else opset9.roi_align
    model = openvino.Model([build(*parameters, **attributes)], parameters)
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    tensors["expected"] = np.array(compiled(list(tensors.values()))[0])
    return Case(f"openvino {openvino.__version__.split('-')[0]} CPU",
                attributes | {"version": version}, ALIGN_TOLERANCE[dtype], tensors)


def openvino_parameter(tensor):
    from openvino import opset1

    return opset1.parameter(list(tensor.shape), tensor.dtype)


def openvino_answer(node, parameters, inputs):
    """What the CPU device gives, and who it is."""
    import openvino

    model = openvino.Model([node.output(0)], parameters)
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return np.array(compiled(inputs)[0]), f"openvino {openvino.__version__.split('-')[0]} CPU"


def openvino_run(build, tensors, attributes):
    """What an operator of features and boxes gives."""
    inputs = [tensors["input"], tensors["boxes"]]
    parameters = [openvino_parameter(tensor) for tensor in inputs]
    return openvino_answer(build(*parameters, **attributes), parameters, inputs)


def openvino_roi_pooling(dealer, dtype):
    from openvino import opset2

    method, scale = dealer.deal("method", ["max", "bilinear"]), dealer.deal("scale", SCALES)
    problem = draw_pool_problem(dealer, dtype, anything)
    height, width = problem.input.shape[2:]
    # A bilinear crop has normalized boxes, and no scale.
    scales = scale if method == "max" else np.array([max(width - 1, 1), max(height - 1, 1)] * 2)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scales, dtype))
    tensors = {"input": problem.input, "boxes": boxes}
    attributes = {"output_roi": problem.output, "spatial_scale": scale, "method": method}
    tensors["expected"], source = openvino_run(opset2.roi_pooling, tensors, attributes)
    attributes["output_size"] = attributes.pop("output_roi")
    return Case(source, attributes, 0.0 if method == "max" else ALIGN_TOLERANCE[dtype], tensors)


def openvino_feature_extractor(dealer, dtype):
    from openvino.utils.node_factory import NodeFactory

    random, levels = dealer.random, dealer.deal("levels", [1, 2, 3])
    output, ratio = dealer.deal("extractor output", [1, 2, 3]), dealer.deal("multi-scale ratio", [0, 1, 2, 3])
    scales = dealer.deal("pyramid scales", [[16, 32, 64], [8, 16, 64], [12, 30, 50]])[:levels]
    features = [random.standard_normal((1, 2, *random.integers(4, 12, 2))).astype(dtype) for _ in scales]
    boxes = np.array([pyramid_box(dealer, (300, 500), 224) * random.choice([1, 1, 4]) for _ in range(5)], dtype)
    attributes = {"output_size": output, "sampling_ratio": ratio, "pyramid_scales": scales,
                  "aligned": dealer.deal("aligned", [False, True])}
    tensors = {"boxes": boxes, **{"input" + f".{level}" * (level > 0): map for level, map in enumerate(features)}}
    parameters = [openvino_parameter(tensor) for tensor in tensors.values()]
    # It has no function in Python.
    node = NodeFactory("opset6").create("ExperimentalDetectronROIFeatureExtractor", parameters, attributes)
    tensors["expected"], source = openvino_answer(node, parameters, list(tensors.values()))
    return Case(source, attributes, ALIGN_TOLERANCE[dtype], tensors)


def square_problem(dealer, dtype, accept):
    """A position-sensitive problem whose output is a square, and one side of that."""
    while True:
        problem = position_sensitive(dealer, dtype, draw_problem, accept)
        if problem.output[0] == problem.output[1]:
            return problem, problem.output[0]


def openvino_ps_roi_pooling(dealer, dtype):
    from openvino import opset1

    scale = dealer.deal("scale", SCALES)
    problem, group_size = square_problem(dealer, dtype, anything)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    tensors = {"input": problem.input, "boxes": boxes}
    attributes = {"output_dim": problem.input.shape[1] // group_size**2, "group_size": group_size,
                  "spatial_scale": scale, "spatial_bins_x": 1, "spatial_bins_y": 1, "mode": "average"}
    tensors["expected"], source = openvino_run(opset1.psroi_pooling, tensors, attributes)
    return Case(source, attributes, ALIGN_TOLERANCE[dtype], tensors)


def paddle_case(dealer, dtype, problem, boxes, attributes, call, backward):
    """What `call(features, boxes, counts)` of Paddle gives, or its gradient of features."""
    import paddle

    # Paddle has the boxes of one image after those of another.
    indices = np.sort(problem.batch_indices)
    counts = np.bincount(indices, minlength=len(problem.input)).astype(np.int32)
    features = paddle.to_tensor(problem.input, stop_gradient=False)
    output = call(features, *map(paddle.to_tensor, [boxes, counts]))
    tensors = {"input": problem.input, "boxes": boxes, "batch_indices": indices}
    if backward:
        tensors["grad_output"] = dealer.random.standard_normal(tuple(output.shape)).astype(dtype)
        (gradient,) = paddle.grad(output, features, paddle.to_tensor(tensors["grad_output"]))
        tensors["expected_grad_input"] = gradient.numpy()
    else:
        tensors["expected"] = output.numpy()
    return Case(f"paddle {paddle.__version__} CPU", attributes, ALIGN_TOLERANCE[dtype], tensors)


def paddle_roi_align(dealer, dtype, backward=False):
    import paddle

    # The attribute is a float32 even where the tensors are not.
    scale = float(np.float32(dealer.deal("scale", SCALES)))
    ratio, aligned = dealer.deal("sampling", product([-1, 0, 1, 2, 3], [False, True]))
    within_means = affordable(scale, dtype, ratio, aligned)

    def accept(box, size, output):
        x1, y1, x2, y2 = owner_boxes(box, scale, dtype)
        # Paddle gives NaN for a region without samples, and aborts for one with a negative number of them. Its gradient
        # takes every region to be a pixel long at least, its forward pass only those that are not aligned.
        shortest = min(x2 - x1, y2 - y1) * scale
        takes = not aligned or (shortest > 1.001 if backward else shortest > 0 or ratio > 0)
        return takes and within_means(box, size, output)

    problem = draw_problem(dealer, dtype, accept)
    attributes = {"output_size": problem.output, "spatial_scale": scale, "sampling_ratio": ratio, "aligned": aligned}

    def call(features, boxes, counts):
        return paddle.vision.ops.roi_align(features, boxes, counts, list(problem.output), scale, ratio, aligned)

    boxes = owner_boxes(problem.boxes, scale, dtype)
    return paddle_case(dealer, dtype, problem, boxes, attributes, call, backward)


def paddle_ps_roi_pool(dealer, dtype, backward=False):
    import paddle

    # The attribute is a float32 even where the tensors are not.
    scale = float(np.float32(dealer.deal("scale", SCALES)))
    problem = position_sensitive(dealer, dtype, draw_pool_problem, anything)
    while problem.input.shape[1] < 2 * math.prod(problem.output):
        # Paddle refuses an output of one channel.
        problem = position_sensitive(dealer, dtype, draw_pool_problem, anything)
    attributes = {"output_size": problem.output, "spatial_scale": scale}

    def call(features, boxes, counts):
        return paddle.vision.ops.psroi_pool(features, boxes, counts, list(problem.output), scale)

    boxes = owner_boxes(problem.boxes, scale, dtype)
    return paddle_case(dealer, dtype, problem, boxes, attributes, call, backward)


def mindspore_roi_align(dealer, dtype, backward=False):
    import mindspore
    from mindspore import Tensor, ops

    # The attribute is a float32.
    scale = float(np.float32(dealer.deal("scale", SCALES)))
    # Of mode 0, its gradient is not that of its forward pass.
    samples, mode = dealer.deal("sampling", product([0, 1, 2, 3], [1] if backward else [0, 1]))
    anything_affordable = affordable(scale, dtype, samples, aligned=True)

    def accept(box, size, output):
        x1, y1, x2, y2 = owner_boxes(box, scale, dtype)
        lengths = [(side + mode) * scale for side in (y2 - y1, x2 - x1)]
        if mode == 0:
            lengths = [max(length, 1) for length in lengths]
        # MindSpore gives NaN for an element without samples.
        has_samples = all(length > 1.001 * elements for length, elements in zip(lengths, output))
        # It writes no output for a box whose x1 and x2 are 0, and what is there changes from run to run.
        is_written = max(abs(x1), abs(x2)) > 0.01
        return is_written and (samples > 0 or has_samples) and anything_affordable(box, size, output)

    problem = draw_problem(dealer, dtype, accept)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    call = ops.ROIAlign(*problem.output, scale, samples, mode)
    attributes = {"pooled_height": problem.output[0], "pooled_width": problem.output[1], "spatial_scale": scale,
                  "sample_num": samples, "roi_end_mode": mode}
    tensors = {"input": problem.input, "boxes": boxes}
    output = call(Tensor(problem.input), Tensor(boxes)).asnumpy()
    if backward:
        tensors["grad_output"] = dealer.random.standard_normal(output.shape).astype(dtype)
        gradient = ops.GradOperation(sens_param=True)(lambda features: call(features, Tensor(boxes)))
        tensors["expected_grad_input"] = gradient(Tensor(problem.input), Tensor(tensors["grad_output"])).asnumpy()
    else:
        tensors["expected"] = output
    return Case(f"mindspore {mindspore.__version__} CPU", attributes, ALIGN_TOLERANCE[dtype], tensors)


def tensorflow_crop_and_resize(dealer, dtype):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow

    problem = draw_problem(dealer, dtype, anything)
    height, width = problem.input.shape[2:]
    scales = np.array([max(width - 1, 1), max(height - 1, 1)] * 2)
    boxes = owner_boxes(problem.boxes, scales, dtype)[:, [1, 0, 3, 2]].copy()
    attributes = {"crop_size": problem.output,
                  "method": dealer.deal("method", ["bilinear", "nearest"]),
                  "extrapolation_value": dealer.deal("outside", [0.0, -7.5, 3.25])}
    # Boxes and crops are float32, whatever the image is.
    crops = tensorflow.image.crop_and_resize(
        problem.input.transpose(0, 2, 3, 1), boxes.astype(np.float32),
        problem.batch_indices.astype(np.int32), **attributes)
    return Case(f"tensorflow {tensorflow.__version__}", attributes, ALIGN_TOLERANCE[dtype],
                {"input": problem.input, "boxes": boxes, "batch_indices": problem.batch_indices,
                 "expected": crops.numpy().transpose(0, 3, 1, 2).astype(dtype)})


@dataclass
class Axis:
    """The sample points of one axis of a region, all computed in one floating-point type."""

    quotient: float
    samples: int
    start: float
    step: float
    positions: np.ndarray


def directml_axis(low, high, elements, scale, attributes, real):
    start, end = real(low) * real(scale), real(high) * real(scale)
    quotient = (end - start) / real(elements)
    samples = int(min(max(math.ceil(quotient), attributes["MinimumSamplesPerOutput"]),
                      attributes["MaximumSamplesPerOutput"]))
    points = elements * samples
    # Nobody looks at the positions of a region with more points than this.
    numbers = np.arange(min(points, MOST_DIRECTML_SAMPLES))
    corners = int(attributes.get("AlignRegionsToCorners", False))
    input_offset = real(attributes.get("InputPixelOffset", 0.5))
    output_offset = real(attributes.get("OutputPixelOffset", -0.5))
    if corners and points == 1:
        # One point can't reach both corners: it takes the region's middle.
        step, numbers, output_offset = end - start, np.array([0.5]), real(0)
    else:
        step = (end - start) / real(points - corners)
    positions = (numbers.astype(real) - output_offset) * step + start - input_offset
    return Axis(quotient, samples, start, step, positions)


def directml_axes(box, output, attributes, real):
    x1, y1, x2, y2 = box
    return (directml_axis(y1, y2, output[0], attributes["SpatialScaleY"], attributes, real),
            directml_axis(x1, x2, output[1], attributes["SpatialScaleX"], attributes, real))


def same_decisions(exact, rounded, size, nearest):
    """Whether float32, in whatever order, finds the same samples and the same pixels."""
    near_a_jump = abs(exact.quotient - round(exact.quotient)) < 1e-4
    if exact.samples != rounded.samples or (near_a_jump and exact.quotient != rounded.quotient):
        return False
    jumps = np.array([-1, size, *(np.arange(-1, size + 1) + 0.5 if nearest else [])])
    away = np.abs(exact.positions[:, None] - jumps).min(axis=1) > 1e-4
    close = np.abs(exact.positions - rounded.positions) < 4e-6
    outside = (exact.positions < -1.5) | (exact.positions > size + 0.5)
    equal = exact.positions == rounded.positions
    equal &= exact.start == rounded.start and exact.step == rounded.step
    return bool(np.all(equal | outside | (close & away)))


def trustworthy(attributes, dtype):
    """Keeps the boxes that mean the same in float32 as in the float64 of the reference."""
    scales = np.array([attributes["SpatialScaleX"], attributes["SpatialScaleY"]] * 2)
    nearest = attributes["InterpolationMode"] == "nearest"

    def accept(box, size, output):
        box = owner_boxes(box, scales, dtype)
        exact = directml_axes(box, output, attributes, np.float64)
        rounded = directml_axes(box, output, attributes, np.float32)
        samples = math.prod(axis.samples for axis in exact) * math.prod(output)
        return samples <= MOST_DIRECTML_SAMPLES and all(
            same_decisions(*axes, side, nearest) for *axes, side in zip(exact, rounded, size))
    return accept


def directml_sample(image, y, x, attributes):
    """One sample point of all channels: the document's interpolate2D."""
    channels, height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return np.full(channels, attributes["OutOfBoundsInputValue"])
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    if attributes["InterpolationMode"] == "nearest":
        return image[:, math.ceil(y - 0.5), math.ceil(x - 0.5)]
    top, left = math.floor(y), math.floor(x)
    bottom, right = min(top + 1, height - 1), min(left + 1, width - 1)
    upper = image[:, top, left] * (left + 1 - x) + image[:, top, right] * (x - left)
    lower = image[:, bottom, left] * (left + 1 - x) + image[:, bottom, right] * (x - left)
    return upper * (top + 1 - y) + lower * (y - top)


def directml_region(image, box, output, attributes):
    """One region, sample by sample."""
    axis_y, axis_x = directml_axes(box, output, attributes, np.float64)
    reduce = {"average": np.mean, "max": np.max}[attributes["ReductionFunction"]]
    result = np.empty((image.shape[0], *output))
    for row, column in np.ndindex(output):
        ys = axis_y.positions[row * axis_y.samples:(row + 1) * axis_y.samples]
        xs = axis_x.positions[column * axis_x.samples:(column + 1) * axis_x.samples]
        samples = [directml_sample(image, y, x, attributes) for y in ys for x in xs]
        result[:, row, column] = reduce(samples, axis=0)
    return result


def directml_align(dealer, dtype, own_attributes):
    scale = dealer.deal("scale", SCALES)
    minimum, maximum = dealer.deal("samples", [(1, UNLIMITED), (1, 3), (2, 2), (2, 4), (1, 1)])
    reduction, interpolation = dealer.deal("variant", product(["average", "max"],
                                                              ["linear", "nearest"]))
    attributes = {"ReductionFunction": reduction,
                  "InterpolationMode": interpolation,
                  "SpatialScaleX": scale,
                  "SpatialScaleY": scale * dealer.deal("anisotropy", [1.0, 0.75]),
                  "OutOfBoundsInputValue": dealer.deal("outside", [0.0, -7.5, 3.25]),
                  "MinimumSamplesPerOutput": minimum,
                  "MaximumSamplesPerOutput": maximum} | own_attributes
    problem = draw_problem(dealer, dtype, trustworthy(attributes, dtype))
    scales = np.array([attributes["SpatialScaleX"], attributes["SpatialScaleY"]] * 2)
    boxes = owner_boxes(problem.boxes, scales, dtype)
    images = problem.input.astype(np.float64)[problem.batch_indices]
    expected = [directml_region(image, box, problem.output, attributes)
                for image, box in zip(images, boxes)]
    return Case("document, float64", {"OutputSize": problem.output} | attributes,
                DIRECTML_TOLERANCE[dtype],
                {"input": problem.input, "boxes": boxes, "batch_indices": problem.batch_indices,
                 "expected": np.array(expected).astype(dtype)})


def directml_roi_align(dealer, dtype):
    return directml_align(dealer, dtype, {})


def directml_roi_align1(dealer, dtype):
    return directml_align(dealer, dtype, {
        "InputPixelOffset": dealer.deal("input offset", [0.0, 0.5]),
        "OutputPixelOffset": dealer.deal("output offset", [0.0, -0.5]),
        "AlignRegionsToCorners": dealer.deal("corners", [False, True])})


def directml_round(scaled):
    return int(math.copysign(math.floor(abs(scaled) + 0.5), scaled))


def rounds_alike(scale, dtype):
    """Keeps regions with ends in order that round alike in float32 and float64."""
    def accept(box, size, output):
        ends = owner_boxes(box, scale, dtype)
        exact = ends.astype(np.float64) * scale
        rounded = ends.astype(np.float32) * np.float32(scale)
        away_from_half = np.abs(np.abs(exact) % 1 - 0.5) > 1e-3
        in_order = exact[0] <= exact[2] and exact[1] <= exact[3]
        return in_order and np.all(away_from_half | (exact == rounded))
    return accept


def directml_bins(low, high, elements, size, scale):
    first, last = directml_round(float(low) * scale), directml_round(float(high) * scale)
    length = last - first + 1
    starts = [element * length // elements + first for element in range(elements)]
    ends = [((element + 1) * length + elements - 1) // elements + first
            for element in range(elements)]
    return [slice(min(max(start, 0), size), min(max(end, 0), size))
            for start, end in zip(starts, ends)]


def directml_roi_pooling(dealer, dtype):
    scale = dealer.deal("scale", SCALES)
    problem = draw_pool_problem(dealer, dtype, rounds_alike(scale, dtype))
    boxes = owner_boxes(problem.boxes, scale, dtype)
    _, channels, height, width = problem.input.shape
    expected = np.zeros((len(boxes), channels, *problem.output), dtype)
    for index, (x1, y1, x2, y2) in enumerate(boxes):
        image = problem.input[problem.batch_indices[index]]
        for row, rows in enumerate(directml_bins(y1, y2, problem.output[0], height, scale)):
            bins = directml_bins(x1, x2, problem.output[1], width, scale)
            for column, columns in enumerate(bins):
                pixels = image[:, rows, columns]
                if pixels.size > 0:
                    expected[index, :, row, column] = pixels.max(axis=(1, 2))
    return Case("document", {"PooledSize": problem.output, "SpatialScale": scale}, 0.0,
                {"input": problem.input, "boxes": with_batch_column(problem, boxes),
                 "expected": expected})


def hat_below(position):
    """The integral of a hat on pixel 0 up to a position."""
    inside = np.clip(position, -1, 1)
    return np.where(inside < 0, (inside + 1) ** 2 / 2, 1 - (1 - inside) ** 2 / 2)


def prroi_axis(low, high, bins, size, scale):
    """Weights [bins, size] of pixels, and by how much they grow with each end of the region."""
    start, end = low * scale, high * scale
    length = max(end - start, type(start)(0)) / type(start)(bins)
    if length == 0:
        return np.zeros((3, bins, size))
    place = np.arange(bins, dtype=start.dtype)
    lows = (start + place * length).astype(np.float64)[:, None] - np.arange(size)
    length, scale, place = float(length), float(scale), place.astype(np.float64)[:, None]
    hat = lambda position: np.maximum(0, 1 - np.abs(position))
    weights = (hat_below(lows + length) - hat_below(lows)) / length
    by_low, by_high = (weights - hat(lows)) / length, (hat(lows + length) - weights) / length
    share = place / bins, (place + 1) / bins
    return np.array([weights, scale * ((1 - share[0]) * by_low + (1 - share[1]) * by_high),
                     scale * (share[0] * by_low + share[1] * by_high)])


def mmcv_prroi_pool(dealer, dtype, backward=False):
    # The attribute is a float32 even where the tensors are not.
    scale = dtype(np.float32(dealer.deal("scale", SCALES)))
    problem = draw_problem(dealer, dtype, anything)
    boxes = owner_boxes(problem.boxes, float(scale), dtype)
    images, channels, height, width = problem.input.shape
    features = problem.input.astype(np.float64)
    output = np.zeros((len(boxes), channels, *problem.output))
    gradient = dealer.random.standard_normal(output.shape).astype(dtype)
    of_features, of_boxes = np.zeros_like(features), np.zeros((len(boxes), 4))
    for row, (image, (x1, y1, x2, y2)) in enumerate(zip(problem.batch_indices, boxes)):
        y = prroi_axis(y1, y2, problem.output[0], height, scale)
        x = prroi_axis(x1, x2, problem.output[1], width, scale)
        mean = lambda y, x: np.einsum("pi,qj,cij->cpq", y, x, features[image])
        output[row] = mean(y[0], x[0])
        of_features[image] += np.einsum("pi,qj,cpq->cij", y[0], x[0], gradient[row].astype(np.float64))
        ends = [(y[0], x[1]), (y[1], x[0]), (y[0], x[2]), (y[2], x[0])]
        of_boxes[row] = [(mean(*weights) * gradient[row]).sum() for weights in ends]
    tensors = {"input": problem.input, "boxes": with_batch_column(problem, boxes)}
    if backward:
        tensors |= {"grad_output": gradient, "expected_grad_input": of_features.astype(dtype),
                    "expected_grad_boxes": of_boxes.astype(dtype)}
    else:
        tensors["expected"] = output.astype(dtype)
    attributes = {"output_size": problem.output, "spatial_scale": float(scale)}
    return Case("mmcv's rule, float64", attributes, MMCV_TOLERANCE[dtype], tensors)


def torchvision_backward(name, forward):
    """The function of the gradient of features, on problems of the forward pass."""
    def make(dealer, dtype):
        import torch
        import torchvision

        case = forward(dealer, dtype)
        attributes, boxes = dict(case.attributes), torch.from_numpy(case.tensors["boxes"])
        features = torch.from_numpy(case.tensors["input"]).requires_grad_()
        output = getattr(torchvision.ops, name)(features, boxes, **attributes)
        gradient = dealer.random.standard_normal(tuple(output.shape)).astype(dtype)
        (expected,) = torch.autograd.grad(output, features, torch.from_numpy(gradient))
        return Case(case.source, attributes, ALIGN_TOLERANCE[dtype],
                    {"input": case.tensors["input"], "boxes": case.tensors["boxes"], "grad_output": gradient,
                     "expected_grad_input": expected.numpy()})

    return make


# The function of each operator, and why it gives no cases of some types. What follows a `/` names files only.
HALF_POSITIONS = {"f16": "its CPU kernel computes positions in f16 too"}
SINGLE_BOXES = {"f64": "it computes in f32"}
ROUNDED_POSITIONS = {"f16": "its kernel computes positions in f16 too"}
MINDSPORE_TYPES = {"f16": "its kernel computes positions in f16 too", "f64": "it has no f64"}
UNDOCUMENTED = {"f64": "DirectML has no f64"}
OPERATORS = {
    "torchvision.roi_align": (torchvision_roi_align, HALF_POSITIONS),
    "torchvision.roi_pool": (torchvision_roi_pool, HALF_POSITIONS),
    "torchvision.ps_roi_align": (torchvision_ps_roi_align, HALF_POSITIONS),
    "torchvision.ps_roi_pool": (torchvision_ps_roi_pool, {"f16": "it has no f16"}),
    **{f"torchvision.{name}.backward": (torchvision_backward(name, forward), HALF_POSITIONS)
       for name, forward in [("roi_align", torchvision_roi_align), ("roi_pool", torchvision_roi_pool),
                             ("ps_roi_align", torchvision_ps_roi_align), ("ps_roi_pool", torchvision_ps_roi_pool)]},
    "torchvision.MultiScaleRoIAlign": (torchvision_multi_scale_roi_align, HALF_POSITIONS),
    "onnx.RoiAlign": (onnx_roi_align, {}),
    "onnx.MaxRoiPool": (onnx_max_roi_pool, {"f64": "onnxruntime has no kernel"}),
    "openvino.ROIAlign": (openvino_roi_align, SINGLE_BOXES),
    "openvino.ROIPooling": (openvino_roi_pooling, SINGLE_BOXES),
    "openvino.PSROIPooling": (openvino_ps_roi_pooling, SINGLE_BOXES),
    "openvino.ExperimentalDetectronROIFeatureExtractor": (openvino_feature_extractor, SINGLE_BOXES),
    "paddle.roi_align": (paddle_roi_align, {"f16": "it has no f16"}),
    "paddle.roi_align.backward": (partial(paddle_roi_align, backward=True), {"f16": "it has no f16"}),
    "paddle.psroi_pool": (paddle_ps_roi_pool, {"f16": "it has no f16"}),
    "paddle.psroi_pool.backward": (partial(paddle_ps_roi_pool, backward=True), {"f16": "it has no f16"}),
    "tensorflow.crop_and_resize": (tensorflow_crop_and_resize, SINGLE_BOXES),
    "mindspore.ROIAlign": (mindspore_roi_align, MINDSPORE_TYPES),
    "mindspore.ROIAlign.backward": (partial(mindspore_roi_align, backward=True), MINDSPORE_TYPES),
    "mmcv.prroi_pool": (mmcv_prroi_pool, ROUNDED_POSITIONS),
    "mmcv.prroi_pool.backward": (partial(mmcv_prroi_pool, backward=True), ROUNDED_POSITIONS),
    "directml.ROI_ALIGN": (directml_roi_align, UNDOCUMENTED),
    "directml.ROI_ALIGN1": (directml_roi_align1, UNDOCUMENTED),
    "directml.ROI_POOLING": (directml_roi_pooling, UNDOCUMENTED),
}


def save(path, operator, case):
    """Writes safetensors byte by byte: the library's order of metadata changes from run to run."""
    header = {"__metadata__": {"op": operator, "attrs": json.dumps(case.attributes),
                               "source": case.source, "tolerance": str(case.tolerance)}}
    data = b""
    # The widest elements first, so that all are aligned.
    for name, tensor in sorted(case.tensors.items(), key=lambda item: (-item[1].itemsize, item[0])):
        content = tensor.tobytes()
        header[name] = {"dtype": STORED_NAMES[tensor.dtype.name], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def generate(operator, make, skipped, arguments):
    if arguments.dtype in skipped:
        print(f"{operator}: no {arguments.dtype}, {skipped[arguments.dtype]}")
        return
    # Seeded by its name, an operator's cases don't depend on which others are generated.
    dealer = Dealer([arguments.seed, zlib.crc32(operator.encode())], arguments.stretch)
    for number in range(arguments.count):
        case = make(dealer, DTYPES[arguments.dtype])
        for tensor in case.tensors.values():
            assert np.isfinite(tensor).all(), (operator, number)
        name = f"{operator.replace('.', '_').replace('/', '_')}_{number:03}.safetensors"
        save(arguments.output / name, operator.split("/")[0], case)
    print(f"{operator}: {arguments.count} cases, {case.source}")


def main(operators):
    owners = list(dict.fromkeys(operator.split(".")[0] for operator in operators))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=12, help="cases of each operator")
    parser.add_argument("--operators", default=",".join(owners), help="owners, separated by commas")
    parser.add_argument("--stretch", type=int, default=1, help="ordinary maps are this many times as long")
    parser.add_argument("--dtype", choices=DTYPES, default="f32")
    arguments = parser.parse_args()
    chosen = arguments.operators.split(",")
    if unknown := set(chosen) - set(owners):
        parser.error(f"unknown owners {sorted(unknown)}; there are {owners}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for operator, (make, skipped) in operators.items():
        if operator.split(".")[0] in chosen:
            generate(operator, make, skipped, arguments)


if __name__ == "__main__":
    main(OPERATORS)
