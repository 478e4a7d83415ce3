"""Paddle's operators and their gradients."""

import math
from functools import partial
from itertools import product

import numpy as np

from problems import (ALIGN_TOLERANCE, SCALES, Case, affordable, anything, draw_pool_problem, draw_problem, owner_boxes,
                      position_sensitive)


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


NO_HALVES = {"f16": "it has no f16"}
OPERATORS = {
    "paddle.roi_align": (paddle_roi_align, NO_HALVES),
    "paddle.roi_align.backward": (partial(paddle_roi_align, backward=True), NO_HALVES),
    "paddle.psroi_pool": (paddle_ps_roi_pool, NO_HALVES),
    "paddle.psroi_pool.backward": (partial(paddle_ps_roi_pool, backward=True), NO_HALVES),
}
