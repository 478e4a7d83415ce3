"""Writes roi_align.onnx, the model of one RoiAlign that compare.mjs runs: `python roi_align.py` (needs onnx)."""

from onnx import TensorProto, checker, helper, save

node = helper.make_node(
    "RoiAlign",
    ["features", "boxes", "batch_indices"],
    ["pooled"],
    output_height=7,
    output_width=7,
    sampling_ratio=2,
    spatial_scale=0.25,
    coordinate_transformation_mode="half_pixel",
)
inputs = [
    helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", "C", "H", "W"]),
    helper.make_tensor_value_info("boxes", TensorProto.FLOAT, ["K", 4]),
    helper.make_tensor_value_info("batch_indices", TensorProto.INT64, ["K"]),
]
outputs = [helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["K", "C", 7, 7])]
graph = helper.make_graph([node], "roi_align", inputs, outputs)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
checker.check_model(model)
save(model, "roi_align.onnx")
