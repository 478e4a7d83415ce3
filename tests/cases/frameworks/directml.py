"""DirectML's operators. DirectML doesn't run here: the formulas of its documents, in float64."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from problems import SCALES, Case, draw_pool_problem, draw_problem, owner_boxes, with_batch_column

DIRECTML_TOLERANCE = {np.float32: 5e-5, np.float16: 2e-3}
MOST_DIRECTML_SAMPLES = 2_000
UNLIMITED = 2**32 - 1


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


UNDOCUMENTED = {"f64": "DirectML has no f64"}
OPERATORS = {
    "directml.ROI_ALIGN": (directml_roi_align, UNDOCUMENTED),
    "directml.ROI_ALIGN1": (directml_roi_align1, UNDOCUMENTED),
    "directml.ROI_POOLING": (directml_roi_pooling, UNDOCUMENTED),
}
