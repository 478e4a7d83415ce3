// One region in the convention of each framework: the operator's name, its attributes and the box as it takes it.
//
// `region` is [x1, y1, x2, y2] in pixels of the map, whose size is `map` [height, width]; `angle` is in degrees. A row
// has `points` if its elements are made of samples: attributes with which an element of one sample is that sample.
// `single` says that an element always has one sample.

// A position-sensitive operator reads as many channels as an output channel has elements, and larger maps take long.
const MOST_REPEATED = 14;
// DirectML has no adaptive number of samples other than one between two limits.
const MOST_SAMPLES = 1024;

export function conventions({ region, map, output, sampling, scale, angle }) {
  const [height, width] = map;
  const box = region.map((coordinate) => coordinate / scale);
  const [x1, y1, x2, y2] = region;
  const indexed = { boxes: { values: [0, ...box], shape: [1, 5] } };
  const apart = {
    boxes: { values: box, shape: [1, 4] },
    batch_indices: { values: new Int32Array([0]), shape: [1] },
  };
  // TensorFlow and OpenVINO's bilinear pooling take parts of the map, from its first pixel's centre to its last one's.
  const [right, bottom] = [Math.max(width - 1, 1), Math.max(height - 1, 1)];
  const parts = { ...apart, boxes: { values: [y1 / bottom, x1 / right, y2 / bottom, x2 / right], shape: [1, 4] } };
  const indexedParts = { boxes: { values: [0, x1 / right, y1 / bottom, x2 / right, y2 / bottom], shape: [1, 5] } };
  // detectron2's angles are in degrees, and mmcv's in radians. Both are counter-clockwise here.
  const turned = (angle) => {
    const centre = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    return { boxes: { values: [0, ...centre, box[2] - box[0], box[3] - box[1], angle], shape: [1, 6] } };
  };
  const radians = (angle * Math.PI) / 180;
  const offsets = { values: waves(output), shape: [1, 2, output, output] };

  const size = [output, output];
  const spatial_scale = scale;
  const onnx = { output_height: output, output_width: output, sampling_ratio: sampling, spatial_scale };
  const openvino = { pooled_h: output, pooled_w: output, sampling_ratio: sampling, spatial_scale, mode: "avg" };
  const half = { coordinate_transformation_mode: "half_pixel" };
  const directml = {
    OutputSize: size,
    ReductionFunction: "average",
    InterpolationMode: "linear",
    SpatialScaleX: scale,
    SpatialScaleY: scale,
    OutOfBoundsInputValue: 0,
    MinimumSamplesPerOutput: sampling || 1,
    MaximumSamplesPerOutput: sampling || MOST_SAMPLES,
  };
  const noShifts = { InputPixelOffset: 0, OutputPixelOffset: 0, AlignRegionsToCorners: false };
  const openvinoPool = { output_size: size, spatial_scale };
  const torchvision = { output_size: size, spatial_scale, sampling_ratio: sampling || -1 };
  const mindspore = { pooled_height: output, pooled_width: output, spatial_scale, sample_num: sampling };
  const mmcv = { output_size: size, spatial_scale, sampling_ratio: sampling };
  const mxnet = { pooled_size: size, spatial_scale, sample_ratio: sampling || -1 };

  const row = (family, title, operator, attributes, tensors) => ({ family, title, operator, attributes, tensors });
  const sampled = (family) => (title, operator, attributes, tensors) => {
    return { ...row(family, title, operator, attributes, tensors), points: attributes };
  };
  const align = sampled("RoiAlign");
  const rotated = sampled("Rotated");
  const crop = (...rest) => ({ ...sampled("crop_and_resize")(...rest), single: true });
  const deformed = sampled("Deformable");
  const pool = (...rest) => row("RoiPool", ...rest);
  // Output element (p, q) of channel c reads channel (c · P + p) · Q + q. All of them are the photograph's channel c.
  const positions = (...rest) => ({ ...row("Position-sensitive", ...rest), repeated: output * output });
  const largest = (row, attributes) => ({ ...row, attributes: { ...row.attributes, ...attributes } });
  const rows = [
    align("torchvision", "torchvision.roi_align", { ...torchvision, aligned: false }, indexed),
    align("torchvision, aligned; detectron2", "torchvision.roi_align", { ...torchvision, aligned: true }, indexed),
    align("mmcv", "mmcv.roi_align", mmcv, indexed),
    largest(align("mmcv, largest sample", "mmcv.roi_align", mmcv, indexed), { pool_mode: "max" }),
    align("ONNX, opset 10", "onnx.RoiAlign", { ...onnx, opset: 10 }, apart),
    align("ONNX, opset 16; TensorRT", "onnx.RoiAlign", { ...onnx, ...half, opset: 16 }, apart),
    largest(align("ONNX, largest sample", "onnx.RoiAlign", { ...onnx, ...half, opset: 16 }, apart), { mode: "max" }),
    align("OpenVINO, version 3", "openvino.ROIAlign", { ...openvino, version: 3 }, apart),
    ...["asymmetric", "half_pixel_for_nn", "half_pixel"].map((aligned_mode) =>
      align(`OpenVINO, ${aligned_mode}`, "openvino.ROIAlign", { ...openvino, version: 9, aligned_mode }, apart),
    ),
    align("Paddle", "paddle.roi_align", { output_size: size, spatial_scale, sampling_ratio: sampling }, apart),
    align("MindSpore", "mindspore.ROIAlign", { ...mindspore, roi_end_mode: 0 }, indexed),
    align("MindSpore, end included", "mindspore.ROIAlign", { ...mindspore, roi_end_mode: 1 }, indexed),
    align("MXNet", "mxnet.ROIAlign", { ...mxnet, aligned: false }, indexed),
    align("MXNet, aligned", "mxnet.ROIAlign", { ...mxnet, aligned: true }, indexed),
    align("DirectML ROI_ALIGN", "directml.ROI_ALIGN", directml, apart),
    align("DirectML ROI_ALIGN1, no offsets", "directml.ROI_ALIGN1", { ...directml, ...noShifts }, apart),
    row("RoiAlign", "mmcv prroi_pool (exact mean)", "mmcv.prroi_pool", { output_size: size, spatial_scale }, indexed),
    pool("torchvision", "torchvision.roi_pool", { output_size: size, spatial_scale }, indexed),
    pool("ONNX MaxRoiPool", "onnx.MaxRoiPool", { pooled_shape: size, spatial_scale }, indexed),
    pool("Paddle", "paddle.roi_pool", { output_size: size, spatial_scale }, apart),
    pool("mmcv", "mmcv.roi_pool", { output_size: size, spatial_scale }, indexed),
    pool("OpenVINO, max", "openvino.ROIPooling", { ...openvinoPool, method: "max" }, indexed),
    pool("DirectML ROI_POOLING", "directml.ROI_POOLING", { PooledSize: size, SpatialScale: scale }, indexed),
    crop("TensorFlow; TensorRT", "tensorflow.crop_and_resize", { crop_size: size, method: "bilinear" }, parts),
    crop("TensorFlow, nearest", "tensorflow.crop_and_resize", { crop_size: size, method: "nearest" }, parts),
    crop("ONNX Runtime", "onnx.CropAndResize", { crop_size: size }, parts),
    crop("OpenVINO, bilinear", "openvino.ROIPooling", { ...openvinoPool, method: "bilinear" }, indexedParts),
    rotated("detectron2 ROIAlignRotated", "detectron2.ROIAlignRotated", mmcv, turned(angle)),
    rotated("mmcv roi_align_rotated", "mmcv.roi_align_rotated", mmcv, turned(radians)),
    deformed("mmcv deform_roi_pool, no offsets", "mmcv.deform_roi_pool", mmcv, indexed),
    { ...deformed("mmcv deform_roi_pool, waves", "mmcv.deform_roi_pool", mmcv, { ...indexed, offsets }), points: null },
  ];
  if (output > MOST_REPEATED) return rows;
  return [
    ...rows,
    positions("torchvision ps_roi_align", "torchvision.ps_roi_align", torchvision, indexed),
    positions("torchvision ps_roi_pool", "torchvision.ps_roi_pool", { output_size: size, spatial_scale }, indexed),
  ];
}

// Offsets that bend the rows and the columns of elements into waves: those of x and then those of y.
function waves(output) {
  const place = (index) => 2 * Math.sin((2 * Math.PI * (index + 0.5)) / output);
  const indices = Array.from({ length: output }, (_, index) => index);
  return [...indices.flatMap((row) => indices.map(() => place(row))), ...indices.flatMap(() => indices.map(place))];
}
