"""TensorFlow's crop_and_resize."""

import os

import numpy as np

from problems import ALIGN_TOLERANCE, SINGLE_BOXES, Case, anything, draw_problem, owner_boxes


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


OPERATORS = {
    "tensorflow.crop_and_resize": (tensorflow_crop_and_resize, SINGLE_BOXES),
}
