"""MindSpore's ROIAlign and its gradient."""

from functools import partial
from itertools import product

import numpy as np

from problems import ALIGN_TOLERANCE, SCALES, Case, affordable, draw_problem, owner_boxes, with_batch_column


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


TYPES = {"f16": "its kernel computes positions in f16 too", "f64": "it has no f64"}
OPERATORS = {
    "mindspore.ROIAlign": (mindspore_roi_align, TYPES),
    "mindspore.ROIAlign.backward": (partial(mindspore_roi_align, backward=True), TYPES),
}
