"""Graphs of `Resize` and `Upsample`."""

import numpy as np

from graph import Graph, node, onnxruntime_of

CROPS = dict(coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=7.5)


def graph(name, inputs, attributes, opset=13, constants=None, shape=(2, 2, 5, 6), operator="Resize"):
    features = np.random.default_rng(len(name)).uniform(-1, 1, shape).astype(np.float32)
    given = {"x": features, **{key: np.array(value, kind_of(key)) for key, value in inputs.items()}}
    fixed = {key: np.array(value, kind_of(key)) for key, value in (constants or {}).items()}
    there = given.keys() | fixed.keys()
    if operator == "Resize" and opset >= 11:
        names = ["x", *(key if key in there else "" for key in ["roi", "scales", "sizes"])]
        while names[-1] == "":
            names.pop()
    else:
        names = ["x", *(key for key in ["scales"] if key in there)]
    return Graph(f"resize_{name}", operator, [node(operator, names, ["pooled"], **attributes)], given, opset,
                 constants=fixed, run=onnxruntime_of())


def kind_of(name):
    return np.int64 if name == "sizes" else np.float32


def graphs():
    roi = [0, 0, 0.1, -0.2, 1, 1, 0.8, 1.1]
    sizes, whole = [2, 2, 4, 7], [0, 0, 0, 0, 1, 1, 1, 1]
    yield graph("crop_linear", {"roi": roi}, {"mode": "linear", **CROPS}, constants={"sizes": sizes})
    yield graph("crop_constant", {}, {"mode": "linear", **CROPS}, constants={"sizes": sizes, "roi": roi})
    yield graph("crop_nearest", {"roi": roi, "sizes": sizes}, {"mode": "nearest", **CROPS})
    yield graph("crop_nearest_ceil", {"roi": roi}, {"mode": "nearest", "nearest_mode": "round_prefer_ceil", **CROPS},
                constants={"sizes": sizes})
    yield graph("crop_scales", {"roi": roi, "scales": [1, 1, 1.5, 2.2]}, {"mode": "linear", **CROPS})
    yield graph("crop_one_pixel", {"roi": roi}, {"mode": "linear", **CROPS}, constants={"sizes": [2, 2, 1, 3]})
    yield graph("crop_inverted", {"roi": [0, 0, 0.9, 0.2, 1, 1, 0.1, 0.7]}, {"mode": "linear", **CROPS},
                constants={"sizes": sizes})
    for mode in ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]:
        yield graph(f"linear_{mode}", {}, {"mode": "linear", "coordinate_transformation_mode": mode},
                    constants={"sizes": [2, 2, 8, 4]})
        yield graph(f"nearest_{mode}", {}, {"mode": "nearest", "coordinate_transformation_mode": mode},
                    constants={"scales": [1, 1, 1.7, 0.6]})
    for rounding in ["round_prefer_ceil", "floor", "ceil"]:
        yield graph(f"nearest_{rounding}", {}, {"mode": "nearest", "nearest_mode": rounding},
                    constants={"sizes": [2, 2, 7, 4]})
    yield graph("symmetric", {}, {"mode": "linear", "coordinate_transformation_mode": "half_pixel_symmetric"}, 19,
                {"scales": [1, 1, 1.3, 0.7]})
    yield graph("cubic", {}, {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}, constants={"sizes": sizes})
    yield graph("axes_not_larger", {}, {"mode": "linear", "axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}, 18,
                {"sizes": [9, 9]})
    yield graph("10_nearest", {}, {"mode": "nearest"}, 10, {"scales": [1, 1, 2.5, 0.6]})
    yield graph("10_linear", {"scales": [1, 1, 2, 1.5]}, {"mode": "linear"}, 10)
    yield graph("upsample_9", {}, {"mode": "nearest"}, 9, {"scales": [1, 1, 2, 3]}, operator="Upsample")
    yield graph("upsample_7", {}, {"mode": "linear", "scales": [1.0, 1.0, 2.0, 2.0]}, 7, operator="Upsample")
    yield graph("whole", {"roi": whole}, {"mode": "linear", **CROPS}, constants={"sizes": [2, 2, 5, 6]})
