"""Graphs of ONNX's own region operators and of onnxruntime's CropAndResize."""

import zlib
from itertools import product

import numpy as np

import reference
from graph import BF16, Graph, by_rule, node, onnxruntime_in_f32, onnxruntime_of, with_constants

SCALE = 0.25
SIZE = (9, 12)
IMAGES, CHANNELS, REGIONS = 2, 3, 5
# onnxruntime has no kernels of opset 22, which added bfloat16 and changed no rule.
RUNNABLE = {10: None, 16: None, 22: 16}


def random_of(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def features_of(random, dtype=np.float32, size=SIZE, images=IMAGES):
    return random.standard_normal((images, CHANNELS, *size)).astype(dtype)


def boxes_of(random, dtype=np.float32, count=REGIONS, scale=SCALE, size=SIZE):
    """Boxes x1, y1, x2, y2 that are at least a third of a pixel long, some partly off the map."""
    limits = np.array([size[1], size[0]]) / scale
    low = random.uniform(-0.1, 0.6, (count, 2)) * limits
    lengths = random.uniform(0.03, 0.6, (count, 2)) * limits
    return np.concatenate([low, low + lengths], axis=1).astype(dtype)


def indices_of(random, count=REGIONS, dtype=np.int64):
    return random.integers(IMAGES, size=count).astype(dtype)


def run_of(opset, dtype):
    return (onnxruntime_in_f32 if dtype == BF16 else onnxruntime_of)(RUNNABLE.get(opset))


def roi_align(name, opset=16, dtype=np.float32, of_boxes=None, **attributes):
    random, of_boxes = random_of(name), of_boxes or dtype
    inputs = {"features": features_of(random, dtype), "rois": boxes_of(random, of_boxes),
              "batch_indices": indices_of(random)}
    align = node("RoiAlign", list(inputs), ["pooled"], **attributes)
    none = {"rois": np.zeros((0, 4), of_boxes), "batch_indices": np.zeros(0, np.int64)}
    free = {("rois", 0): "regions", ("batch_indices", 0): "regions"}
    return Graph(name, "RoiAlign", [align], inputs, opset, free=free, runs={"no_region": none},
                 run=run_of(opset, dtype))


def roi_align_variants():
    settings = {"output_height": 3, "output_width": 2, "spatial_scale": SCALE}
    for mode, ratio in product(["avg", "max"], [0, 2]):
        variant = f"{mode}_{'adaptive' if ratio == 0 else 'two'}"
        yield roi_align(f"roi_align_10_{variant}", 10, mode=mode, sampling_ratio=ratio, **settings)
        for opset, transformation in product([16, 22], ["half_pixel", "output_half_pixel"]):
            yield roi_align(f"roi_align_{opset}_{transformation}_{variant}", opset, mode=mode, sampling_ratio=ratio,
                            coordinate_transformation_mode=transformation, **settings)
    for opset in [10, 16, 22]:
        yield roi_align(f"roi_align_{opset}_defaults", opset)
        for name, dtype in [("f16", np.float16), ("f64", np.float64)]:
            yield roi_align(f"roi_align_{opset}_{name}", opset, dtype, sampling_ratio=2, **settings)
    yield roi_align("roi_align_16_max_f16", 16, np.float16, mode="max", **settings)
    yield roi_align("roi_align_22_bf16", 22, BF16, sampling_ratio=2, **settings)
    # As converters to half precision write it, though ONNX has one type for both.
    yield roi_align("roi_align_22_bf16_boxes_f32", 22, BF16, np.float32, sampling_ratio=2, **settings)


def constant_inputs():
    """Boxes, batch indices or both as initializers."""
    settings = {"output_height": 2, "output_width": 2, "spatial_scale": SCALE, "sampling_ratio": 2}
    for opset, constant in [(10, ["rois", "batch_indices"]), (16, ["rois", "batch_indices"]), (16, ["rois"]),
                            (16, ["batch_indices"]), (22, ["rois", "batch_indices"])]:
        name = f"roi_align_{opset}_constant_{'_and_'.join(constant)}"
        yield with_constants(roi_align(name, opset, **settings), *constant)


def computed_inputs():
    """Boxes and batch indices from one tensor `[K, 5]`, as exporters write it, between other operators."""
    name = "roi_align_16_computed_rois"
    random = random_of(name)
    inputs = {"features": features_of(random),
              "rois": np.concatenate([indices_of(random)[:, None], boxes_of(random)], axis=1, dtype=np.float32)}
    constants = {"zero": np.array([0]), "one": np.array([1]), "five": np.array([5]), "axis": np.array([1])}
    before = [
        node("Relu", ["features"], ["positive"]),
        node("Gather", ["rois", "zero"], ["column"], axis=1),
        node("Squeeze", ["column", "axis"], ["numbers"]),
        node("Cast", ["numbers"], ["batch_indices"], to=7),
        node("Slice", ["rois", "one", "five", "axis"], ["boxes"]),
    ]
    align = node("RoiAlign", ["positive", "boxes", "batch_indices"], ["regions"], output_height=3, output_width=3,
                 sampling_ratio=2, spatial_scale=SCALE, mode="avg")
    after = node("Flatten", ["regions"], ["pooled"], axis=1)
    yield Graph(name, "RoiAlign", [*before, align, after], inputs, 16, constants=constants,
                free={("rois", 0): "regions"}, run=onnxruntime_of(),
                runs={"no_region": {"rois": np.zeros((0, 5), np.float32)}})
    yield aligned_in_opset_10()


def aligned_in_opset_10():
    """What mmdeploy writes for an aligned RoiAlign of opset 10 or 11: boxes that it has moved by half a pixel."""
    name = "roi_align_10_moved_rois"
    random = random_of(name)
    inputs = {"features": features_of(random),
              "rois": np.concatenate([indices_of(random)[:, None], boxes_of(random)], axis=1, dtype=np.float32)}
    constants = {"first": np.array(0), "others": np.array([1, 2, 3, 4]), "half": np.float32(-0.5 / SCALE)}
    nodes = [
        node("Gather", ["rois", "first"], ["numbers"], axis=1),
        node("Cast", ["numbers"], ["batch_indices"], to=7),
        node("Gather", ["rois", "others"], ["boxes"], axis=1),
        node("Add", ["boxes", "half"], ["moved"]),
        node("RoiAlign", ["features", "moved", "batch_indices"], ["pooled"], output_height=2, output_width=3,
             sampling_ratio=2, spatial_scale=SCALE),
    ]
    return Graph(name, "RoiAlign", nodes, inputs, 11, constants=constants, free={("rois", 0): "regions"},
                 run=onnxruntime_of(), runs={"no_region": {"rois": np.zeros((0, 5), np.float32)}})


def max_roi_pool(name, opset, dtype=np.float32, run=None, of_boxes=None, **attributes):
    random, of_boxes = random_of(name), of_boxes or dtype
    scale = attributes.get("spatial_scale", 1.0)
    rois = np.concatenate([indices_of(random)[:, None], boxes_of(random, scale=scale)], axis=1).astype(of_boxes)
    inputs = {"features": features_of(random, dtype), "rois": rois}
    pool = node("MaxRoiPool", list(inputs), ["pooled"], **attributes)
    return Graph(name, "MaxRoiPool", [pool], inputs, opset, tolerance=0.0, free={("rois", 0): "regions"},
                 runs={"no_region": {"rois": np.zeros((0, 5), of_boxes)}}, run=run or run_of(opset, dtype))


def max_roi_pool_rule(inputs, attributes):
    yield reference.max_roi_pool(*inputs, attributes["pooled_shape"], attributes.get("spatial_scale", 1.0))


def max_roi_pool_variants():
    for opset in [8, 16, 22]:
        yield max_roi_pool(f"max_roi_pool_{opset}", opset, pooled_shape=[3, 2], spatial_scale=SCALE)
    yield max_roi_pool("max_roi_pool_defaults", 16, pooled_shape=[2, 2])
    yield max_roi_pool("max_roi_pool_f16", 16, np.float16, pooled_shape=[2, 3], spatial_scale=SCALE)
    yield max_roi_pool("max_roi_pool_f64", 16, np.float64, by_rule(max_roi_pool_rule), pooled_shape=[2, 3],
                       spatial_scale=SCALE)
    for name, of_boxes in [("max_roi_pool_22_bf16", BF16), ("max_roi_pool_22_bf16_boxes_f32", np.float32)]:
        yield max_roi_pool(name, 22, BF16, of_boxes=of_boxes, pooled_shape=[2, 3], spatial_scale=SCALE)
    constant = max_roi_pool("max_roi_pool_constant_rois", 16, pooled_shape=[2, 2], spatial_scale=SCALE)
    yield with_constants(constant, "rois")
    yield max_roi_pool_of_images()


def max_roi_pool_of_images():
    """Boxes and their batch indices in two tensors, joined before the operator."""
    name = "max_roi_pool_joined_rois"
    random = random_of(name)
    inputs = {"features": features_of(random), "boxes": boxes_of(random), "batch_indices": indices_of(random)}
    nodes = [
        node("Cast", ["batch_indices"], ["numbers"], to=1),
        node("Unsqueeze", ["numbers", "axis"], ["column"]),
        node("Concat", ["column", "boxes"], ["rois"], axis=1),
        node("MaxRoiPool", ["features", "rois"], ["regions"], pooled_shape=[2, 2], spatial_scale=SCALE),
        node("ReduceMean", ["regions"], ["pooled"], axes=[2, 3], keepdims=0),
    ]
    none = {"boxes": np.zeros((0, 4), np.float32), "batch_indices": np.zeros(0, np.int64)}
    return Graph(name, "MaxRoiPool", nodes, inputs, 16, constants={"axis": np.array([1])},
                 free={("boxes", 0): "regions", ("batch_indices", 0): "regions"}, runs={"no_region": none},
                 run=onnxruntime_of(), tolerance=1e-6)


def crop_and_resize(name, size=(3, 4), dtype=np.float32, **attributes):
    random = random_of(name)
    # y1, x1, y2, x2; some samples are off the map.
    boxes = boxes_of(random, dtype, scale=1.0, size=(1, 1))
    inputs = {"features": features_of(random, dtype), "rois": boxes,
              "batch_indices": indices_of(random, dtype=np.int32)}
    crop = node("CropAndResize", [*inputs, "crop_size"], ["pooled"], "com.microsoft", **attributes)
    none = {"rois": np.zeros((0, 4), dtype), "batch_indices": np.zeros(0, np.int32)}
    return Graph(name, "CropAndResize", [crop], inputs, constants={"crop_size": np.array(size, np.int32)},
                 free={("rois", 0): "regions", ("batch_indices", 0): "regions"}, runs={"no_region": none},
                 run=onnxruntime_of())


def crop_and_resize_variants():
    yield crop_and_resize("crop_and_resize_defaults")
    yield crop_and_resize("crop_and_resize_bilinear", mode="bilinear", extrapolation_value=-1.5)
    yield crop_and_resize("crop_and_resize_nearest", mode="nearest", extrapolation_value=2.0)
    yield crop_and_resize("crop_and_resize_one_pixel", (1, 1), mode="bilinear")
    yield crop_and_resize("crop_and_resize_f16", dtype=np.float16, mode="bilinear")
    constant = crop_and_resize("crop_and_resize_constant_rois", mode="bilinear")
    yield with_constants(constant, "rois", "batch_indices")
    # The size of the crops is known when the graph runs, and not before.
    computed = crop_and_resize("crop_and_resize_computed_size", mode="bilinear")
    computed.inputs |= {"crop_size": computed.constants.pop("crop_size")}
    yield computed


def graphs():
    for make in [roi_align_variants, constant_inputs, computed_inputs, max_roi_pool_variants, crop_and_resize_variants]:
        yield from make()
