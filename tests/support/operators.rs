//! Runs a case: its operator, by the framework's own attributes.

use burn::tensor::{Device, Tensor};
use burn_roi::*;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::case::Case;

mod points;
mod roi_align;

/// The output of this crate for a case on a device.
pub fn run(case: &Case, device: &Device) -> Result<Tensor<4>, String> {
    let inputs = Inputs::of(case, device)?;
    output(case, &case.operator, &inputs, device)
}

/// Whether a case is one of gradients.
#[allow(dead_code)]
pub fn is_backward(case: &Case) -> bool {
    case.operator.contains(".backward") || case.operator.ends_with("_GRAD")
}

/// The gradients of features and boxes, for the gradient of the output that a case has.
#[cfg(feature = "autodiff")]
#[allow(dead_code)]
pub fn run_backward(case: &Case, device: &Device) -> Result<Gradients, String> {
    let device = &device.clone().autodiff();
    let operator = case.operator.trim_end_matches("_boxes").trim_end_matches(".backward");
    let operator = operator.replace("burn_roi.roi_align", "torchvision.roi_align");
    let mut inputs = Inputs::of(case, device)?;
    inputs.features = inputs.features.require_grad();
    inputs.boxes = inputs.boxes.require_grad();
    inputs.offsets = inputs.offsets.map(Tensor::require_grad);
    let output = output(case, &operator, &inputs, device)?;
    let gradient = case.tensor::<4>("grad_output", device)?;
    if output.dims() != gradient.dims() {
        return Err(format!(
            "shape {:?}, but that of grad_output is {:?}",
            output.dims(),
            gradient.dims()
        ));
    }
    let gradients = (output * gradient).sum().backward();
    let boxes = inputs.boxes.grad(&gradients).ok_or("the boxes have no gradient")?;
    // A batch index in front of the coordinates has none.
    let columns = boxes.dims()[1];
    let rotated = operator.contains("otated");
    let of_box = if rotated { 5 } else { 4 };
    Ok(Gradients {
        features: inputs
            .features
            .grad(&gradients)
            .ok_or("the features have no gradient")?,
        boxes: boxes.slice([0..inputs.boxes.dims()[0], columns - of_box..columns]),
        offsets: inputs.offsets.and_then(|offsets| offsets.grad(&gradients)),
    })
}

/// The gradients of a case.
#[cfg(feature = "autodiff")]
pub struct Gradients {
    pub features: Tensor<4>,
    pub boxes: Tensor<2>,
    pub offsets: Option<Tensor<4>>,
}

/// The tensors of a case that may require a gradient.
struct Inputs {
    features: Tensor<4>,
    boxes: Tensor<2>,
    offsets: Option<Tensor<4>>,
}

impl Inputs {
    fn of(case: &Case, device: &Device) -> Result<Self, String> {
        Ok(Self {
            features: case.tensor("input", device)?,
            boxes: case.tensor("boxes", device)?,
            offsets: case
                .data("offsets")
                .is_ok()
                .then(|| case.tensor("offsets", device))
                .transpose()?,
        })
    }
}

fn output(case: &Case, operator: &str, inputs: &Inputs, device: &Device) -> Result<Tensor<4>, String> {
    let attributes = Attributes {
        case,
        read: Default::default(),
    };
    let output = call(case, operator, inputs, &attributes, device)?;
    attributes.all_read()?;
    output.map_err(|error| error.to_string())
}

fn call(
    case: &Case,
    operator: &str,
    inputs: &Inputs,
    attributes: &Attributes,
    device: &Device,
) -> Result<Result<Tensor<4>, RoiError>, String> {
    let features = inputs.features.clone();
    let apart = || -> Result<Rois, String> {
        Rois::try_new(inputs.boxes.clone(), case.batch_indices(device)?).map_err(|error| error.to_string())
    };
    let index_first = || -> Result<Rois, String> {
        Rois::try_from_index_first(inputs.boxes.clone()).map_err(|error| error.to_string())
    };
    Ok(match operator {
        "torchvision.roi_align" => try_roi_align(features, &index_first()?, roi_align::of_torchvision(attributes)?),
        "torchvision.roi_pool" => {
            let config = torchvision::RoiPool::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?);
            try_roi_pool(features, &index_first()?, config)
        }
        "torchvision.ps_roi_align" => {
            let config = torchvision::PsRoiAlign::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?)
                .with_sampling_ratio(attributes.or("sampling_ratio", -1)?);
            try_ps_roi_align(features, &index_first()?, config)
        }
        "torchvision.ps_roi_pool" => {
            let config = torchvision::PsRoiPool::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?)
                .with_torchvision_gradient(true);
            try_ps_roi_pool(features, &index_first()?, config)
        }
        "torchvision.MultiScaleRoIAlign" => {
            let maps = case.pyramid(device)?;
            let sizes: Vec<_> = maps.iter().map(|map| [map.dims()[2], map.dims()[3]]).collect();
            let images: Vec<[usize; 2]> = attributes.get("image_shapes")?;
            let config = torchvision::MultiScaleRoiAlign::new(attributes.get("output_size")?)
                .with_sampling_ratio(attributes.get("sampling_ratio")?)
                .with_canonical_scale(attributes.get("canonical_scale")?)
                .with_canonical_level(attributes.get("canonical_level")?);
            try_multi_scale_roi_align(maps, &apart()?, &infer_scales(&sizes, &images), config)
        }
        "onnx.RoiAlign" => try_roi_align(features, &apart()?, roi_align::of_onnx(attributes)?),
        "onnx.MaxRoiPool" => {
            let config = onnx::MaxRoiPool::new(attributes.get("pooled_shape")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?);
            try_roi_pool(features, &index_first()?, config)
        }
        "openvino.PSROIPooling" => openvino_psroi_pooling(features, &index_first()?, attributes)?,
        "openvino.ROIPooling" => openvino_roi_pooling(features, &index_first()?, attributes)?,
        "paddle.roi_align" => {
            let config = paddle::RoiAlign::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?)
                .with_sampling_ratio(attributes.or("sampling_ratio", -1)?)
                .with_aligned(attributes.or("aligned", true)?);
            try_roi_align(features, &apart()?, config)
        }
        "paddle.roi_pool" => {
            let config = paddle::RoiPool::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?);
            try_roi_pool(features, &apart()?, config)
        }
        "paddle.psroi_pool" => {
            let config = paddle::PsRoiPool::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?);
            try_ps_roi_pool(features, &apart()?, config)
        }
        "openvino.ExperimentalDetectronROIFeatureExtractor" => {
            let extractor = openvino::RoiFeatureExtractor6::new(
                attributes.get("output_size")?,
                attributes.get("sampling_ratio")?,
                attributes.get("pyramid_scales")?,
            )
            .with_aligned(attributes.get("aligned")?);
            // There is one image, and boxes have no index.
            let rois = Rois::from_images(vec![inputs.boxes.clone()]);
            try_multi_scale_roi_align(case.pyramid(device)?, &rois, &extractor.scales(), extractor)
        }
        "openvino.ROIAlign" => try_roi_align(features, &apart()?, roi_align::of_openvino(attributes)?),
        "directml.ROI_ALIGN" => try_roi_align(features, &apart()?, roi_align::of_directml(attributes)?),
        "directml.ROI_ALIGN1" => try_roi_align(features, &apart()?, roi_align::of_directml1(attributes)?),
        "directml.ROI_ALIGN_GRAD" => try_roi_align(features, &apart()?, roi_align::of_directml_grad(attributes)?),
        "directml.ROI_POOLING" => {
            let config =
                directml::RoiPoolingOperatorDesc::new(attributes.get("SpatialScale")?, attributes.get("PooledSize")?);
            try_roi_pool(features, &index_first()?, config)
        }
        "mindspore.ROIAlign" => {
            let mode = match attributes.or("roi_end_mode", 1)? {
                0 => mindspore::RoiEndMode::Exclusive,
                1 => mindspore::RoiEndMode::Inclusive,
                mode => return Err(format!("roi_end_mode {mode}")),
            };
            let (height, width) = (attributes.get("pooled_height")?, attributes.get("pooled_width")?);
            let config = mindspore::RoiAlign::new(height, width, attributes.get("spatial_scale")?)
                .with_sample_num(attributes.or("sample_num", 2)?)
                .with_roi_end_mode(mode);
            try_roi_align(features, &index_first()?, config)
        }
        "mxnet.ROIAlign" => {
            let config = mxnet::RoiAlign::new(attributes.get("pooled_size")?, attributes.get("spatial_scale")?)
                .with_sample_ratio(attributes.or("sample_ratio", -1)?)
                .with_aligned(attributes.or("aligned", false)?);
            try_roi_align(features, &index_first()?, config)
        }
        "mmcv.roi_align" => {
            let config = mmcv::RoiAlign::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?)
                .with_sampling_ratio(attributes.or("sampling_ratio", 0)?)
                .with_pool_mode(attributes.or("pool_mode", mmcv::PoolMode::Avg)?)
                .with_aligned(attributes.or("aligned", true)?);
            try_roi_align(features, &index_first()?, config)
        }
        "mmcv.roi_pool" => {
            let config =
                mmcv::RoiPool::new(attributes.get("output_size")?).with_spatial_scale(attributes.get("spatial_scale")?);
            try_roi_pool(features, &index_first()?, config)
        }
        "mmcv.prroi_pool" => {
            let config = mmcv::PrRoiPool::new(attributes.get("output_size")?)
                .with_spatial_scale(attributes.or("spatial_scale", 1.0)?);
            try_prroi_pool(features, &index_first()?, config)
        }
        "vacancy.prroi_pool" => {
            let size = [attributes.get("pooled_height")?, attributes.get("pooled_width")?];
            let config = PrRoiPoolConfig::new(size).with_spatial_scale(attributes.get("spatial_scale")?);
            try_prroi_pool(features, &index_first()?, config)
        }
        "tensorflow.crop_and_resize" => {
            let config = tensorflow::CropAndResize::new(attributes.get("crop_size")?)
                .with_method(match attributes.or("method", "bilinear".to_string())?.as_str() {
                    "bilinear" => Interpolation::Bilinear,
                    "nearest" => Interpolation::Nearest,
                    method => return Err(format!("method {method:?}")),
                })
                .with_extrapolation_value(attributes.or("extrapolation_value", 0.0)?);
            try_crop_and_resize(features, &apart()?, config)
        }
        "onnx.CropAndResize" => {
            let config = onnx::CropAndResize::new(attributes.get("crop_size")?)
                .with_extrapolation_value(attributes.or("extrapolation_value", 0.0)?);
            try_crop_and_resize(features, &apart()?, config)
        }
        operator => return points::call(case, operator, inputs, attributes, device),
    })
}

fn openvino_psroi_pooling(
    features: Tensor<4>,
    rois: &Rois,
    attributes: &Attributes,
) -> Result<Result<Tensor<4>, RoiError>, String> {
    let (group_size, scale) = (attributes.get("group_size")?, attributes.get("spatial_scale")?);
    let output_dim: usize = attributes.get("output_dim")?;
    let [bins_y, bins_x] = [attributes.get("spatial_bins_y")?, attributes.get("spatial_bins_x")?];
    let output = match attributes.get::<String>("mode")?.as_str() {
        "average" => try_ps_roi_pool(features, rois, openvino::PsRoiPoolingAverage::new(group_size, scale)),
        "bilinear" => {
            let config = openvino::PsRoiPoolingBilinear::new(group_size, scale, bins_x, bins_y);
            try_ps_crop_and_resize(features, rois, config)
        }
        mode => return Err(format!("mode {mode:?}")),
    };
    match output {
        Ok(output) if output.dims()[1] != output_dim => Err(format!("{} channels", output.dims()[1])),
        output => Ok(output),
    }
}

fn openvino_roi_pooling(
    features: Tensor<4>,
    rois: &Rois,
    attributes: &Attributes,
) -> Result<Result<Tensor<4>, RoiError>, String> {
    let [height, width] = attributes.get("output_size")?;
    // Without meaning where the method is bilinear.
    let scale = attributes.get("spatial_scale")?;
    Ok(match attributes.get::<String>("method")?.as_str() {
        "max" => try_roi_pool(features, rois, openvino::RoiPoolingMax::new(height, width, scale)),
        "bilinear" => try_crop_and_resize(features, rois, openvino::RoiPoolingBilinear::new(height, width)),
        method => return Err(format!("method {method:?}")),
    })
}

/// The attributes of a case, and which of them were read: one that is not known is a failure.
struct Attributes<'a> {
    case: &'a Case,
    read: std::cell::RefCell<Vec<String>>,
}

impl Attributes<'_> {
    fn find(&self, name: &str) -> Option<&Value> {
        self.read.borrow_mut().push(name.to_string());
        self.case.attributes.get(name)
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        let value = self.find(name).ok_or(format!("there is no attribute {name:?}"))?;
        serde_json::from_value(value.clone()).map_err(|error| format!("{name}: {error}"))
    }

    fn or<T: DeserializeOwned>(&self, name: &str, default: T) -> Result<T, String> {
        if self.find(name).is_none() {
            return Ok(default);
        }
        self.get(name)
    }

    fn all_read(&self) -> Result<(), String> {
        let read = self.read.borrow();
        match self.case.attributes.keys().find(|name| !read.contains(name)) {
            Some(name) => Err(format!("unknown attribute {name:?}")),
            None => Ok(()),
        }
    }
}
