"""mmcv's prroi_pool.

It runs on CUDA only: its rule, with positions in the type of the tensors, and integrals in float64.
"""

from functools import partial

import numpy as np

from problems import SCALES, Case, anything, draw_problem, owner_boxes, with_batch_column

# Sums of gradients of boxes are of up to a hundred elements.
MMCV_TOLERANCE = {np.float32: 5e-5, np.float64: 1e-10}


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


ROUNDED_POSITIONS = {"f16": "its kernel computes positions in f16 too"}
OPERATORS = {
    "mmcv.prroi_pool": (mmcv_prroi_pool, ROUNDED_POSITIONS),
    "mmcv.prroi_pool.backward": (partial(mmcv_prroi_pool, backward=True), ROUNDED_POSITIONS),
}
