"""Graphs of operators that mmcv, mmdeploy, TensorRT and OpenVINO add to ONNX.

README.md lists their attributes, and where these are documented.
"""

import numpy as np
from onnx import TensorProto

import reference
from graph import Graph, by_rule, node, openvino_run, with_constants
from standard import IMAGES, SCALE, boxes_of, features_of, indices_of, random_of

REDUCTIONS = {"avg": "mean", "max": "max of samples"}
NO_ROI = np.zeros((0, 5), np.float32)


def indexed_boxes(random, **arguments):
    """Boxes `[K, 5]` with the batch index first."""
    boxes = boxes_of(random, **arguments)
    return np.concatenate([indices_of(random, len(boxes))[:, None], boxes], axis=1, dtype=boxes.dtype)


def mmcv_roi_align_rule(inputs, attributes):
    features, rois = inputs
    output = attributes["output_height"], attributes["output_width"]
    yield reference.roi_align(features, rois[:, 0], rois[:, 1:], output, attributes["spatial_scale"],
                              attributes["sampling_ratio"], attributes["aligned"],
                              REDUCTIONS[attributes["mode"].decode()])


def mmcv_roi_align(name, domain="mmcv", before=(), **attributes):
    random = random_of(name)
    inputs = {"features": features_of(random), "rois": indexed_boxes(random)}
    attributes = {"output_height": 3, "output_width": 2, "spatial_scale": SCALE, "sampling_ratio": 2, "mode": "avg",
                  "aligned": 1, **attributes}
    features = before[-1].output[0] if before else "features"
    align = node("MMCVRoiAlign", [features, "rois"], ["pooled"], domain, **attributes)
    return Graph(name, "MMCVRoiAlign", [*before, align], inputs, domain=domain, free={("rois", 0): "regions"},
                 runs={"no_region": {"rois": NO_ROI}}, run=by_rule(mmcv_roi_align_rule))


def mmcv_roi_align_rotated_rule(inputs, attributes):
    output = attributes["output_height"], attributes["output_width"]
    yield reference.roi_align_rotated(*inputs, output, *(attributes[name] for name in [
        "spatial_scale", "sampling_ratio", "aligned", "clockwise"]))


def mmcv_roi_align_rotated(name, domain="mmcv", **attributes):
    random = random_of(name)
    boxes = boxes_of(random)
    centres, lengths = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    angles = random.uniform(-3, 3, (len(boxes), 1))
    rois = np.concatenate([indices_of(random)[:, None], centres, lengths, angles], axis=1, dtype=np.float32)
    inputs = {"features": features_of(random), "rois": rois}
    attributes = {"output_height": 2, "output_width": 3, "spatial_scale": SCALE, "sampling_ratio": 2, "aligned": 1,
                  "clockwise": 0, **attributes}
    align = node("MMCVRoIAlignRotated", list(inputs), ["pooled"], domain, **attributes)
    return Graph(name, "MMCVRoIAlignRotated", [align], inputs, domain=domain, free={("rois", 0): "regions"},
                 runs={"no_region": {"rois": np.zeros((0, 6), np.float32)}}, run=by_rule(mmcv_roi_align_rotated_rule))


def pyramid_of(random, levels, images=IMAGES, size=(16, 24)):
    """Maps by name, each half as long as the one before."""
    return {f"level_{level}": features_of(random, size=(size[0] >> level, size[1] >> level), images=images)
            for level in range(levels)}


def boxes_of_all_levels(random, finest, levels, limits):
    """Boxes x1, y1, x2, y2 of areas that are well within those of a level, two for each."""
    sides = finest * 2.0 ** (np.arange(levels).repeat(2) + random.uniform(0.2, 0.8, 2 * levels))
    shares = 2.0 ** random.uniform(-0.4, 0.4, len(sides))
    lengths = np.stack([sides * shares, sides / shares], axis=1)
    low = random.uniform(0, 1, lengths.shape) * np.maximum(np.array(limits)[::-1] - lengths, 0)
    return np.concatenate([low, low + lengths], axis=1).astype(np.float32)


def multi_level_rule(inputs, attributes):
    rois, *features = inputs
    output = attributes.get("output_height", 7), attributes.get("output_width", 7)
    yield reference.multi_level_roi_align(
        rois, features, output, attributes["featmap_strides"], attributes.get("finest_scale", 56),
        attributes.get("roi_scale_factor", -1), attributes.get("sampling_ratio", 2), attributes.get("aligned", 0),
        "mean" if attributes.get("pool_mode", 0) else "max of samples")


def multi_level_roi_align(name, **attributes):
    random = random_of(name)
    maps = pyramid_of(random, 3)
    attributes = {"featmap_strides": [4.0, 8.0, 16.0], **attributes}
    boxes = boxes_of_all_levels(random, attributes.get("finest_scale", 56), 3, (64, 96))
    rois = np.concatenate([indices_of(random, len(boxes))[:, None], boxes], axis=1, dtype=np.float32)
    align = node("MMCVMultiLevelRoiAlign", ["rois", *maps], ["pooled"], "mmdeploy", **attributes)
    return Graph(name, "MMCVMultiLevelRoiAlign", [align], {**maps, "rois": rois}, domain="mmdeploy",
                 free={("rois", 0): "regions"}, run=by_rule(multi_level_rule),
                 runs={"no_region": {"rois": NO_ROI}, "two_empty_levels": {"rois": rois[:2]}})


def multi_level_rotated_rule(inputs, attributes):
    rois, *features = inputs
    output = attributes.get("output_height", 7), attributes.get("output_width", 7)
    yield reference.multi_level_rotated_roi_align(
        rois, features, output, attributes["featmap_strides"], attributes.get("finest_scale", 56),
        attributes.get("roi_scale_factor", -1), attributes.get("sampling_ratio", 2), attributes.get("aligned", 0),
        attributes.get("clockwise", 0))


def multi_level_rotated_roi_align(name, **attributes):
    random = random_of(name)
    maps = pyramid_of(random, 3)
    attributes = {"featmap_strides": [4.0, 8.0, 16.0], **attributes}
    boxes = boxes_of_all_levels(random, attributes.get("finest_scale", 56), 3, (64, 96))
    centres, lengths = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    # A box of the second level that is narrower than a pixel of its map.
    lengths[0] = 6, lengths[2].prod() / 6
    columns = [indices_of(random, len(boxes))[:, None], centres, lengths, random.uniform(-3, 3, (len(boxes), 1))]
    rois = np.concatenate(columns, axis=1, dtype=np.float32)
    align = node("MMCVMultiLevelRotatedRoiAlign", ["rois", *maps], ["pooled"], "mmdeploy", **attributes)
    return Graph(name, "MMCVMultiLevelRotatedRoiAlign", [align], {**maps, "rois": rois}, domain="mmdeploy",
                 free={("rois", 0): "regions"}, run=by_rule(multi_level_rotated_rule),
                 runs={"no_region": {"rois": np.zeros((0, 6), np.float32)}, "two_empty_levels": {"rois": rois[-2:]}})


def nms_rotated_rule(inputs, attributes):
    yield reference.nms_rotated(*inputs, attributes["iou_threshold"], attributes["score_threshold"])


def nms_rotated(name, **attributes):
    """Two pictures and three classes."""
    random = random_of(name)
    boxes = [random.uniform(0, 40, (2, 24, 2)), random.uniform(8, 40, (2, 24, 2)), random.uniform(-3, 3, (2, 24, 1))]
    scores = random.permutation(np.linspace(0.02, 0.98, 2 * 3 * 24)).reshape(2, 3, 24)
    inputs = {"boxes": np.concatenate(boxes, axis=2, dtype=np.float32), "scores": scores.astype(np.float32)}
    suppression = node("NMSRotated", ["boxes", "scores"], ["kept"], "mmdeploy", **attributes)
    runs = {"no_box": {"boxes": inputs["boxes"][:, :0], "scores": inputs["scores"][:, :, :0]},
            "one_box": {"boxes": inputs["boxes"][:, :1], "scores": inputs["scores"][:, :, :1]}}
    return Graph(name, "NMSRotated", [suppression], inputs, domain="mmdeploy", outputs=["kept"],
                 output_type=TensorProto.INT64, free={("boxes", 1): "boxes", ("scores", 2): "boxes"}, runs=runs,
                 run=by_rule(nms_rotated_rule))


def trt_roi_align_rule(inputs, attributes):
    features, rois, indices = inputs
    output = attributes.get("output_height", 1), attributes.get("output_width", 1)
    yield reference.roi_align(features, indices, rois, output, attributes.get("spatial_scale", 1.0),
                              attributes.get("sampling_ratio", 0), attributes.get("coordinate_transformation_mode", 1),
                              "mean" if attributes.get("mode", 1) else "max of corners")


def trt_roi_align(name, domain, **attributes):
    random = random_of(name)
    inputs = {"features": features_of(random), "rois": boxes_of(random),
              "batch_indices": indices_of(random, dtype=np.int32)}
    align = node("ROIAlign_TRT", list(inputs), ["pooled"], domain, plugin_version="1", **attributes)
    none = {"rois": np.zeros((0, 4), np.float32), "batch_indices": np.zeros(0, np.int32)}
    return Graph(name, "ROIAlign_TRT", [align], inputs, domain=domain, run=by_rule(trt_roi_align_rule),
                 free={("rois", 0): "regions", ("batch_indices", 0): "regions"}, runs={"no_region": none})


def trt_crop_rule(inputs, attributes):
    features, rois = inputs
    images, regions = rois.shape[:2]
    output = attributes["crop_height"], attributes["crop_width"]
    crops = reference.crop_and_resize(features, np.arange(images).repeat(regions), rois.reshape(-1, 4), output)
    yield crops.reshape(images, regions, *crops.shape[1:])


def trt_crop_and_resize(name, operator, domain, **attributes):
    random = random_of(name)
    # y1, x1, y2, x2 for each image; some samples are off the map.
    boxes = boxes_of(random, count=IMAGES * 3, scale=1.0, size=(1, 1)).reshape(IMAGES, 3, 4, 1)
    inputs = {"features": features_of(random), "rois": boxes}
    crop = node(operator, list(inputs), ["pooled"], domain, plugin_version="1", **attributes)
    return Graph(name, operator, [crop], inputs, domain=domain, run=by_rule(trt_crop_rule))


def trt_pyramid_rule(inputs, attributes):
    rois, *features = inputs
    yield reference.pyramid_roi_align(rois, features, attributes)


def trt_pyramid(name, domain="", relative=False, swapped=False, **attributes):
    random, limits = random_of(name), (512, 512)
    maps = pyramid_of(random, 4, size=(16, 16))
    finest = attributes.get("fpn_scale", 224) / 4
    boxes = np.stack([boxes_of_all_levels(random, finest, 4, limits) for _ in range(IMAGES)])
    # A few boxes reach past the image, to which the plugin cuts them.
    boxes[:, 0, :2] = -3.5
    if relative:
        boxes /= np.tile(np.array(limits)[::-1], 2)
    rois = (boxes[..., [1, 0, 3, 2]] if swapped else boxes).astype(np.float32)
    align = node("PyramidROIAlign_TRT", ["rois", *maps], ["pooled"], domain, plugin_version="1", **attributes)
    return Graph(name, "PyramidROIAlign_TRT", [align], {**maps, "rois": rois}, domain=domain,
                 run=by_rule(trt_pyramid_rule))


def openvino_feature_extractor(name, both_outputs=False, **attributes):
    """As mmdeploy writes it, which cuts the batch index off its boxes."""
    random = random_of(name)
    maps = pyramid_of(random, 3, images=1)
    boxes = boxes_of_all_levels(random, 56, 3, (256, 384))
    rois = np.concatenate([np.zeros((len(boxes), 1)), boxes], axis=1, dtype=np.float32)
    constants = {"one": np.array([1]), "five": np.array([5]), "axis": np.array([1])}
    outputs = ["pooled", "ordered_boxes"] if both_outputs else ["pooled"]
    nodes = [
        node("Slice", ["rois", "one", "five", "axis"], ["boxes"]),
        node("ExperimentalDetectronROIFeatureExtractor", ["boxes", *maps], outputs, "org.openvinotoolkit",
             **attributes),
    ]
    return Graph(name, "ExperimentalDetectronROIFeatureExtractor", nodes, {**maps, "rois": rois},
                 domain="org.openvinotoolkit", constants=constants, outputs=outputs, free={("rois", 0): "regions"},
                 run=openvino_run, runs={"no_region": {"rois": NO_ROI}, "two_empty_levels": {"rois": rois[:2]}})


def mmcv_graphs():
    yield mmcv_roi_align("mmcv_roi_align")
    yield mmcv_roi_align("mmcv_roi_align_adaptive", sampling_ratio=0, aligned=0)
    yield mmcv_roi_align("mmcv_roi_align_max", mode="max")
    yield with_constants(mmcv_roi_align("mmcv_roi_align_constant_rois"), "rois")
    # As converters to half precision write it: the map in f16, and the boxes in f32.
    mixed = mmcv_roi_align("mmcv_roi_align_mixed")
    mixed.inputs["features"] = mixed.inputs["features"].astype(np.float16)
    yield mixed
    yield mmcv_roi_align("mmdeploy_roi_align", "mmdeploy", [node("Relu", ["features"], ["positive"])])
    yield mmcv_roi_align_rotated("mmcv_roi_align_rotated")
    yield mmcv_roi_align_rotated("mmcv_roi_align_rotated_clockwise", clockwise=1, sampling_ratio=0)
    yield mmcv_roi_align_rotated("mmdeploy_roi_align_rotated", "mmdeploy", aligned=0, clockwise=1)
    yield multi_level_roi_align("mmdeploy_multi_level_roi_align", output_height=3, output_width=2, pool_mode=1,
                                sampling_ratio=2, roi_scale_factor=1.0, finest_scale=16, aligned=1)
    yield multi_level_roi_align("mmdeploy_multi_level_roi_align_max", output_height=2, output_width=2, pool_mode=0,
                                sampling_ratio=0, roi_scale_factor=1.5, finest_scale=16, aligned=0)
    yield multi_level_roi_align("mmdeploy_multi_level_roi_align_adaptive_max", output_height=2, output_width=3,
                                pool_mode=0, sampling_ratio=0, roi_scale_factor=-1.0, finest_scale=16, aligned=0)
    yield multi_level_roi_align("mmdeploy_multi_level_roi_align_defaults")
    yield multi_level_rotated_roi_align("mmdeploy_multi_level_rotated_roi_align", output_height=3, output_width=2,
                                        clockwise=1, roi_scale_factor=1.5, finest_scale=16, aligned=1)
    yield multi_level_rotated_roi_align("mmdeploy_multi_level_rotated_roi_align_adaptive", output_height=2,
                                        output_width=3, sampling_ratio=0, finest_scale=16)
    yield nms_rotated("mmdeploy_nms_rotated", iou_threshold=0.3, score_threshold=0.2)


def trt_graphs():
    settings = {"output_height": 3, "output_width": 2, "spatial_scale": SCALE}
    yield trt_roi_align("trt_roi_align_defaults", "")
    yield trt_roi_align("trt_roi_align", "", mode=1, coordinate_transformation_mode=1, sampling_ratio=2, **settings)
    yield trt_roi_align("trt_roi_align_max", "trt.plugins", mode=0, coordinate_transformation_mode=0, sampling_ratio=0,
                        **settings)
    yield with_constants(trt_roi_align("trt_roi_align_constant_rois", "", mode=1, **settings), "rois", "batch_indices")
    yield trt_crop_and_resize("trt_crop_and_resize", "CropAndResize", "trt.plugins", crop_height=3, crop_width=2)
    yield trt_crop_and_resize("trt_crop_and_resize_dynamic", "CropAndResizeDynamic", "", crop_height=2, crop_width=4)
    # The attributes that NVIDIA's detectron2 sample writes, for both of Detectron2's poolers.
    sample = {"fpn_scale": 224, "pooled_size": 3, "image_size": [512, 512], "roi_coords_absolute": 0,
              "roi_coords_swap": 0, "sampling_ratio": 2}
    yield trt_pyramid("trt_pyramid_roi_align_detectron2", relative=True, roi_coords_transform=2, **sample)
    yield trt_pyramid("trt_pyramid_roi_align_no_half_pixel", relative=True, roi_coords_transform=0, **sample)
    yield trt_pyramid("trt_pyramid_roi_align_swapped", "trt.plugins", swapped=True, image_size=[512, 512],
                      pooled_size=2, roi_coords_transform=1, roi_coords_swap=1, roi_coords_plusone=1, fpn_scale=200)
    yield trt_pyramid("trt_pyramid_roi_align_output_half_pixel", "trt.plugins", swapped=True, image_size=[512, 512],
                      pooled_size=2, roi_coords_transform=1, roi_coords_swap=1, fpn_scale=200)
    yield trt_pyramid("trt_pyramid_roi_align_defaults", image_size=[512, 512])
    yield trt_pyramid("trt_pyramid_roi_align_legacy", relative=True, swapped=True, legacy=1, pooled_size=3)


def openvino_graphs():
    mmdeploy = {"output_size": 3, "pyramid_scales": [16, 32, 64], "sampling_ratio": 2, "image_id": 0,
                "distribute_rois_between_levels": 1, "preserve_rois_order": 0, "aligned": 1}
    yield openvino_feature_extractor("openvino_feature_extractor", **mmdeploy)
    yield openvino_feature_extractor("openvino_feature_extractor_adaptive", **{
        **mmdeploy, "aligned": 0, "sampling_ratio": 0})
    yield openvino_feature_extractor("openvino_feature_extractor_two_outputs", True, pyramid_scales=[16, 32, 64])


def graphs():
    for make in [mmcv_graphs, trt_graphs, openvino_graphs]:
        yield from make()
