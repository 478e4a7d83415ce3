#!/usr/bin/env python3
"""Compares the functions of reference.py with runtimes that have an operator of the same rule.

    python check_reference.py

Prints the largest difference of each, and fails if one is above its tolerance.
"""

import numpy as np
import torch
import torchvision

import reference
import standard
import vendors
from graph import Graph, node, onnxruntime_of, openvino_run

SCALE = standard.SCALE


def run(operator, inputs, opset=16, domain="", constants=None, **attributes):
    """What onnxruntime gives for one operator."""
    operation = node(operator, [*inputs, *(constants or {})], ["pooled"], domain, **attributes)
    graph = Graph("check", operator, [operation], inputs, opset, domain, constants or {})
    return onnxruntime_of()(graph, inputs)[0]["pooled"]


def roi_align(random):
    features, rois, indices = standard.features_of(random), standard.boxes_of(random), standard.indices_of(random)
    inputs = {"features": features, "rois": rois, "batch_indices": indices}
    for ratio in [0, 2]:
        for aligned, mode in [(0, "output_half_pixel"), (1, "half_pixel")]:
            for pooling, reduction in [("avg", "mean"), ("max", "max of corners")]:
                found = run("RoiAlign", inputs, output_height=3, output_width=2, spatial_scale=SCALE, mode=pooling,
                            sampling_ratio=ratio, coordinate_transformation_mode=mode)
                expected = reference.roi_align(features, indices, rois, (3, 2), SCALE, ratio, aligned, reduction)
                yield f"roi_align, {pooling}, of onnxruntime", found, expected
            joined = torch.from_numpy(np.concatenate([indices[:, None], rois], axis=1, dtype=np.float32))
            found = torchvision.ops.roi_align(torch.from_numpy(features), joined, (3, 2), SCALE, ratio, bool(aligned))
            expected = reference.roi_align(features, indices, rois, (3, 2), SCALE, ratio, aligned)
            yield "roi_align of torchvision", found.numpy(), expected


def max_roi_pool(random):
    inputs = {"features": standard.features_of(random), "rois": vendors.indexed_boxes(random)}
    found = run("MaxRoiPool", inputs, pooled_shape=[3, 2], spatial_scale=SCALE)
    yield "max_roi_pool of onnxruntime", found, reference.max_roi_pool(*inputs.values(), (3, 2), SCALE)


def crop_and_resize(random):
    for size in [(3, 4), (1, 1)]:
        inputs = {"features": standard.features_of(random), "rois": standard.boxes_of(random, scale=1.0, size=(1, 1)),
                  "batch_indices": standard.indices_of(random, dtype=np.int32)}
        found = run("CropAndResize", inputs, domain="com.microsoft", mode="bilinear",
                    constants={"crop_size": np.array(size, np.int32)})
        features, boxes, indices = inputs.values()
        yield "crop_and_resize of onnxruntime", found, reference.crop_and_resize(features, indices, boxes, size)


def roi_align_rotated(random):
    import openvino
    from openvino import opset15

    graph = vendors.mmcv_roi_align_rotated(f"check_{random.integers(1000)}")
    rois, features = graph.inputs["rois"], graph.inputs["features"]
    for clockwise in [False, True]:
        parts = [features, rois[:, 1:].copy(), rois[:, 0].astype(np.int32)]
        parameters = [opset15.parameter(part.shape, part.dtype) for part in parts]
        output = opset15.roi_align_rotated(*parameters, pooled_h=2, pooled_w=3, sampling_ratio=2, spatial_scale=SCALE,
                                           clockwise_mode=clockwise)
        model = openvino.compile_model(openvino.Model([output], parameters), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        expected = reference.roi_align_rotated(features, rois, (2, 3), SCALE, 2, 1, clockwise)
        yield "roi_align_rotated of OpenVINO", model(parts)[0], expected


def multi_level(random):
    """OpenVINO's extractor has the levels of a finest scale of 56, and regions of a pixel at least."""
    for aligned in [0, 1]:
        graph = vendors.openvino_feature_extractor(f"check_{random.integers(1000)}", output_size=3,
                                                   pyramid_scales=[16, 32, 64], sampling_ratio=2, aligned=aligned)
        found = openvino_run(graph, graph.inputs)[0]["pooled"]
        *maps, rois = graph.inputs.values()
        expected = reference.multi_level_roi_align(rois, maps, (3, 3), [16, 32, 64], 56, 0, 2, aligned, "mean")
        yield "multi_level_roi_align of OpenVINO's extractor", found, expected


def pyramid(random):
    """With half-pixel coordinates, and boxes within the image, the plugin's rule is that of torchvision's pooler."""
    graph = vendors.trt_pyramid(f"check_{random.integers(1000)}", image_size=[512, 512], pooled_size=3,
                                sampling_ratio=2)
    *maps, rois = graph.inputs.values()
    rois = np.clip(rois, 0, 512)
    maps = [np.repeat(level.repeat(8, axis=2), 8, axis=3) for level in maps]
    boxes = [torch.from_numpy(of_image) for of_image in rois]
    levels = torchvision.ops.poolers.LevelMapper(2, 5)(boxes)
    rule = reference.pyramid_roi_align(rois, maps, {"image_size": [512, 512], "pooled_size": 3, "sampling_ratio": 2})
    joined = torch.cat([torch.cat([torch.full((len(of_image), 1), float(index)), of_image], dim=1)
                        for index, of_image in enumerate(boxes)])
    found = torch.zeros(rule.reshape(-1, *rule.shape[2:]).shape)
    for level, map in enumerate(maps):
        chosen = levels == level
        scale = 2.0 ** -(level + 2)
        found[chosen] = torchvision.ops.roi_align(torch.from_numpy(map), joined[chosen], 3, scale, 2, True)
    yield "pyramid_roi_align of torchvision's levels", found.numpy(), rule.reshape(found.shape)


def main():
    worst = {}
    for seed in range(20):
        random = np.random.default_rng(seed)
        for check in [roi_align, max_roi_pool, crop_and_resize, roi_align_rotated, multi_level, pyramid]:
            for name, found, expected in check(random):
                worst[name] = max(worst.get(name, 0.0), float(np.abs(found - expected).max()))
    for name, difference in worst.items():
        print(f"{name}: at most {difference:.1e} apart")
    assert max(worst.values()) < 2e-5


if __name__ == "__main__":
    main()
