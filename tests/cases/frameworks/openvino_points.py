"""OpenVINO's operators whose samples are no grid of rows and columns of the map."""

import math

import numpy as np

from frameworks.openvino import openvino_answer, openvino_parameter, openvino_run
from problems import (ALIGN_TOLERANCE, MOST_SAMPLES, SCALES, SINGLE_BOXES, Case, anything, draw_problem, owner_boxes,
                      with_batch_column)

# The cosine and the sine of the angle are rounded, and move a sample by their error times the region's length.
ROTATED_TOLERANCE = {np.float32: 5e-5, np.float16: 2e-3}
# This crate takes at most so many samples of an element along an axis. The frameworks have no limit.
MOST_ADAPTIVE_SAMPLES = 65_536
ANGLES = ["any", "any", "upright", "quarter turns", "small", "many turns"]
RATIOS = [0, 1, 2, 3]


def draw_angle(dealer):
    return {
        "any": dealer.random.uniform(-math.pi, math.pi),
        "upright": 0.0,
        "quarter turns": dealer.random.integers(-4, 5) * math.pi / 2,
        "small": dealer.random.uniform(-1e-3, 1e-3),
        "many turns": dealer.random.uniform(-60, 60),
    }[dealer.deal("angle", ANGLES)]


def rotated_boxes(corners, scale, angles, dtype):
    """Boxes by their centres, sides and angles, in the coordinates that the owner multiplies by `scale`."""
    x1, y1, x2, y2 = (corners / scale).T
    boxes = np.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, angles], axis=1)
    largest = float(np.finfo(dtype).max)
    return np.clip(boxes, -largest, largest).astype(dtype)


def openvino_roi_align_rotated(dealer, dtype):
    from openvino import opset15

    ratio, scale = dealer.deal("ratio", RATIOS), dealer.deal("scale", SCALES)

    def accept(box, size, output):
        # A negative or no number of samples is an exception or NaN.
        _, _, width, height, _ = rotated_boxes(box[None], scale, [0], dtype)[0].astype(np.float64) * scale
        samples = [ratio or math.ceil(length / elements) for length, elements in zip((height, width), output)]
        affordable = math.prod(samples) * math.prod(output) <= MOST_SAMPLES
        return affordable and 0 < min(samples) and max(samples) <= MOST_ADAPTIVE_SAMPLES

    problem = draw_problem(dealer, dtype, accept)
    angles = [draw_angle(dealer) for _ in problem.boxes]
    attributes = {"pooled_h": problem.output[0], "pooled_w": problem.output[1], "sampling_ratio": ratio,
                  "spatial_scale": scale, "clockwise_mode": dealer.deal("clockwise", [False, True])}
    tensors = {"input": problem.input, "boxes": rotated_boxes(problem.boxes, scale, angles, dtype),
               "batch_indices": problem.batch_indices}
    parameters = [openvino_parameter(tensor) for tensor in tensors.values()]
    node = opset15.roi_align_rotated(*parameters, **attributes)
    tensors["expected"], source = openvino_answer(node, parameters, list(tensors.values()))
    return Case(source, attributes, ROTATED_TOLERANCE[dtype], tensors)


def square_problem(dealer, dtype, channels):
    """A problem whose output is a square, of `channels(side of the square)` channels, and that side."""
    side = dealer.deal("group size", [1, 2, 2, 3, 3, 4])
    while True:
        problem = draw_problem(dealer, dtype, anything, (side, side))
        images, _, height, width = problem.input.shape
        room = 3 * dealer.most_elements // (channels(side) * height * width)
        if room > 0:
            break
    images = min(images, room)
    problem.input = dealer.random.standard_normal((images, channels(side), height, width)).astype(dtype)
    problem.batch_indices %= images
    return problem, side


def openvino_deformable_ps_roi_pooling(dealer, dtype):
    from openvino import opset1

    random, scale = dealer.random, dealer.deal("scale", SCALES)
    has_offsets = dealer.deal("offsets", [True, True, True, False])
    classes, of_a_class = dealer.deal("classes", [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1)])
    output_dim = classes * of_a_class
    # Those past `output_dim * group_size^2` are not read.
    more = dealer.deal("more channels", [0, 0, 0, 3])
    problem, group_size = square_problem(dealer, dtype, lambda side: output_dim * side**2 + more)
    attributes = {"output_dim": output_dim, "spatial_scale": scale, "group_size": group_size,
                  "mode": "bilinear_deformable", "spatial_bins_x": dealer.deal("bins x", [1, 2, 3, 4]),
                  "spatial_bins_y": dealer.deal("bins y", [1, 2, 3, 4]),
                  "trans_std": dealer.deal("deviation", [0.1, 0.1, 1.0, 0.0, -0.3]),
                  "part_size": dealer.deal("part", [1, 2, 3, None, None, 7]) or group_size}
    tensors = {"input": problem.input,
               "boxes": with_batch_column(problem, owner_boxes(problem.boxes, scale, dtype))}
    if has_offsets:
        shape = (len(problem.boxes), 2 * classes, attributes["part_size"], attributes["part_size"])
        tensors["offsets"] = random.standard_normal(shape).astype(dtype)
    parameters = [openvino_parameter(tensor) for tensor in tensors.values()]
    names = ["feature_maps", "coords", "offsets"]
    node = opset1.deformable_psroi_pooling(**dict(zip(names, parameters)), **attributes)
    tensors["expected"], source = openvino_answer(node, parameters, list(tensors.values()))
    return Case(source, attributes, ALIGN_TOLERANCE[dtype], tensors)


def openvino_ps_roi_pooling_bilinear(dealer, dtype):
    from openvino import opset1

    scale, output_dim = dealer.deal("scale", [1.0, 1.0, 0.3, 2.0]), dealer.deal("output channels", [1, 2, 3])
    bins_y, bins_x = dealer.deal("bins", [(1, 1), (1, 3), (2, 1), (2, 2), (3, 2), (3, 3)])
    problem, group_size = square_problem(dealer, dtype, lambda side: bins_y * bins_x * output_dim)
    height, width = problem.input.shape[2:]
    # Boxes are normalized after their scale.
    scales = scale * np.array([max(width - 1, 1), max(height - 1, 1)] * 2)
    tensors = {"input": problem.input,
               "boxes": with_batch_column(problem, owner_boxes(problem.boxes, scales, dtype))}
    attributes = {"output_dim": output_dim, "group_size": group_size, "spatial_scale": scale,
                  "spatial_bins_x": bins_x, "spatial_bins_y": bins_y, "mode": "bilinear"}
    tensors["expected"], source = openvino_run(opset1.psroi_pooling, tensors, attributes)
    return Case(source, attributes, ALIGN_TOLERANCE[dtype], tensors)


OPERATORS = {
    "openvino.ROIAlignRotated": (openvino_roi_align_rotated, SINGLE_BOXES),
    "openvino.DeformablePSROIPooling": (openvino_deformable_ps_roi_pooling, SINGLE_BOXES),
    "openvino.PSROIPooling/bilinear": (openvino_ps_roi_pooling_bilinear, SINGLE_BOXES),
}
