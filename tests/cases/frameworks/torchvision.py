"""torchvision's operators and their gradients."""

import math
from itertools import product

import numpy as np

from problems import (ALIGN_TOLERANCE, SCALES, Case, affordable, anything, draw_pool_problem, draw_problem, output_size,
                      owner_boxes, position_sensitive, pyramid_box, with_batch_column)


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
    return Case(f"torchvision {torchvision.__version__.split('+')[0]}", attributes, ALIGN_TOLERANCE[dtype],
                {"input": problem.input, "boxes": boxes, "expected": expected.numpy()})


def torchvision_roi_pool(dealer, dtype):
    import torch
    import torchvision

    scale = dealer.deal("scale", SCALES)
    problem = draw_pool_problem(dealer, dtype, anything)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    expected = torchvision.ops.roi_pool(torch.from_numpy(problem.input), torch.from_numpy(boxes),
                                        problem.output, scale)
    return Case(f"torchvision {torchvision.__version__.split('+')[0]}",
                {"output_size": problem.output, "spatial_scale": scale}, 0.0,
                {"input": problem.input, "boxes": boxes, "expected": expected.numpy()})


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
    return Case(f"torchvision {torchvision.__version__.split('+')[0]}", attributes, ALIGN_TOLERANCE[dtype],
                {"input": problem.input, "boxes": boxes, "expected": expected.numpy()})


def torchvision_ps_roi_pool(dealer, dtype):
    import torch
    import torchvision

    scale = dealer.deal("scale", SCALES)
    problem = position_sensitive(dealer, dtype, draw_pool_problem, anything)
    boxes = with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))
    expected = torchvision.ops.ps_roi_pool(torch.from_numpy(problem.input), torch.from_numpy(boxes),
                                           problem.output, scale)
    return Case(f"torchvision {torchvision.__version__.split('+')[0]}",
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
    return Case(f"torchvision {torchvision.__version__.split('+')[0]}", attributes, ALIGN_TOLERANCE[dtype],
                {"input": features[0], "expected": expected.numpy(),
                 "boxes": np.concatenate(boxes), "batch_indices": indices,
                 **{f"input.{level}": map for level, map in enumerate(features) if level > 0}})


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


HALF_POSITIONS = {"f16": "its CPU kernel computes positions in f16 too"}
OPERATORS = {
    "torchvision.roi_align": (torchvision_roi_align, HALF_POSITIONS),
    "torchvision.roi_pool": (torchvision_roi_pool, HALF_POSITIONS),
    "torchvision.ps_roi_align": (torchvision_ps_roi_align, HALF_POSITIONS),
    "torchvision.ps_roi_pool": (torchvision_ps_roi_pool, {"f16": "it has no f16"}),
    **{f"torchvision.{name}.backward": (torchvision_backward(name, forward), HALF_POSITIONS)
       for name, forward in [("roi_align", torchvision_roi_align), ("roi_pool", torchvision_roi_pool),
                             ("ps_roi_align", torchvision_ps_roi_align), ("ps_roi_pool", torchvision_ps_roi_pool)]},
    "torchvision.MultiScaleRoIAlign": (torchvision_multi_scale_roi_align, HALF_POSITIONS),
}
