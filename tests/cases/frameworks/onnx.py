"""ONNX's operators, by onnxruntime."""

from itertools import product

import numpy as np

from problems import (ALIGN_TOLERANCE, SCALES, Case, affordable, anything, draw_pool_problem, draw_problem, owner_boxes,
                      with_batch_column)

ONNX_TRANSFORMATIONS = ["output_half_pixel", "half_pixel"]


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


OPERATORS = {
    "onnx.RoiAlign": (onnx_roi_align, {}),
    "onnx.MaxRoiPool": (onnx_max_roi_pool, {"f64": "onnxruntime has no kernel"}),
}
