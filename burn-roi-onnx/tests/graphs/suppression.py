"""Graphs of ONNX's NonMaxSuppression, with every input and attribute."""

import numpy as np
from onnx import TensorProto

from graph import Graph, node, onnxruntime_of
from standard import random_of

IMAGES, CLASSES, BOXES = 2, 3, 24
# The inputs that are numbers, in their order.
NUMBERS = {"most": np.int64, "iou_threshold": np.float32, "score_threshold": np.float32}


def boxes_of(random, center):
    """Boxes as y1, x1, y2, x2 with the corners in any order, or as centre x, centre y, width and height."""
    low, lengths = random.uniform(0, 40, (IMAGES, BOXES, 2)), random.uniform(10, 40, (IMAGES, BOXES, 2))
    if center:
        return np.concatenate([low + lengths / 2, lengths], axis=2).astype(np.float32)
    boxes = np.concatenate([low, low + lengths], axis=2)
    swapped = random.random((2, IMAGES, BOXES)) < 0.3
    for axis in range(2):
        ends = boxes[..., [axis, axis + 2]]
        boxes[..., [axis, axis + 2]] = np.where(swapped[axis][..., None], ends[..., ::-1], ends)
    return boxes.astype(np.float32)


def suppression(name, opset=11, center=None, constant=(), rank=1, equal_scores=False, **numbers):
    """A graph whose node has the given `numbers`; those of `constant` are initializers, the others are inputs."""
    random = random_of(name)
    scores = random.permutation(np.linspace(0.05, 0.95, IMAGES * CLASSES * BOXES))
    if equal_scores:
        scores = scores.round(1)
    inputs = {"boxes": boxes_of(random, center), "scores": scores.reshape(IMAGES, CLASSES, BOXES).astype(np.float32)}
    given = {key: np.full([1] * rank, value, NUMBERS[key]) for key, value in numbers.items()}
    # A missing input has an empty name, unless it is one of the last.
    last = max((at for at, key in enumerate(NUMBERS) if key in given), default=-1)
    names = [key if key in given else "" for key in list(NUMBERS)[:last + 1]]
    attributes = {} if center is None else {"center_point_box": int(center)}
    nodes = [node("NonMaxSuppression", ["boxes", "scores", *names], ["kept"], **attributes)]
    none = {"boxes": inputs["boxes"][:, :0], "scores": inputs["scores"][:, :, :0]}
    graph = Graph(name, "NonMaxSuppression", nodes, inputs, opset, outputs=["kept"], output_type=TensorProto.INT64,
                  free={("boxes", 1): "boxes", ("scores", 2): "boxes"}, runs={"no_box": none}, run=onnxruntime_of())
    for key, value in given.items():
        (graph.constants if key in constant else graph.inputs)[key] = value
    return graph


def graphs():
    every = {"most": 5, "iou_threshold": 0.4, "score_threshold": 0.3}
    for opset in [10, 11]:
        yield suppression(f"non_max_suppression_{opset}", opset, constant=every, **every)
    yield suppression("non_max_suppression_corners", center=False, constant=every, **every)
    yield suppression("non_max_suppression_center", center=True, constant=every, **every)
    yield suppression("non_max_suppression_computed_numbers", **every)
    yield suppression("non_max_suppression_ranks_of_0", constant=every, rank=0, **every)
    yield suppression("non_max_suppression_computed_ranks_of_0", rank=0, **every)
    yield suppression("non_max_suppression_defaults")
    yield suppression("non_max_suppression_most", constant=["most"], most=2**40)
    yield suppression("non_max_suppression_without_most", constant=every, iou_threshold=0.4, score_threshold=0.3)
    yield suppression("non_max_suppression_negative_most", constant=every, most=-1, iou_threshold=0.4)
    yield suppression("non_max_suppression_without_iou_threshold", constant=every, most=20, score_threshold=0.2)
    yield suppression("non_max_suppression_without_score_threshold", constant=every, most=20, iou_threshold=0.7)
    # A box is left out at a score of exactly the threshold, and the first of equal scores comes first.
    yield suppression("non_max_suppression_equal_scores", constant=every, equal_scores=True, most=20, iou_threshold=0.3,
                      score_threshold=0.5)
    for threshold in [0.0, 1.0]:
        yield suppression(f"non_max_suppression_iou_{threshold:.0f}", constant=every, most=20, iou_threshold=threshold)
