"""OpenVINO's operators whose samples are a grid of rows and columns of the map."""

from itertools import product

import numpy as np

from problems import (ALIGN_TOLERANCE, SCALES, SINGLE_BOXES, Case, affordable, anything, draw_pool_problem,
                      draw_problem, owner_boxes, position_sensitive, pyramid_box, with_batch_column)

OPENVINO_ALIGNED_MODES = ["asymmetric", "half_pixel_for_nn", "half_pixel"]


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


OPERATORS = {
    "openvino.ROIAlign": (openvino_roi_align, SINGLE_BOXES),
    "openvino.ROIPooling": (openvino_roi_pooling, SINGLE_BOXES),
    "openvino.PSROIPooling": (openvino_ps_roi_pooling, SINGLE_BOXES),
    "openvino.ExperimentalDetectronROIFeatureExtractor": (openvino_feature_extractor, SINGLE_BOXES),
}
