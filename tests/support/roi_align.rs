//! The options of `roi_align` that a case asks for, by each framework's own attributes.

use burn_roi::directml::{InterpolationMode, ReduceFunction};
use burn_roi::*;

use super::Attributes;

pub fn of_torchvision(attributes: &Attributes) -> Result<RoiAlignConfig, String> {
    Ok(torchvision::RoiAlign::new(attributes.get("output_size")?)
        .with_spatial_scale(attributes.or("spatial_scale", 1.0)?)
        .with_sampling_ratio(attributes.or("sampling_ratio", -1)?)
        .with_aligned(attributes.or("aligned", false)?)
        .into())
}

pub fn of_onnx(attributes: &Attributes) -> Result<RoiAlignConfig, String> {
    let mode = attributes.or("mode", onnx::Mode::Avg)?;
    let height = attributes.or("output_height", 1)?;
    let width = attributes.or("output_width", 1)?;
    let sampling_ratio = attributes.or("sampling_ratio", 0)?;
    let spatial_scale = attributes.or("spatial_scale", 1.0)?;
    Ok(match attributes.or("opset", 16)? {
        10 => onnx::RoiAlign10::new()
            .with_mode(mode)
            .with_output_height(height)
            .with_output_width(width)
            .with_sampling_ratio(sampling_ratio)
            .with_spatial_scale(spatial_scale)
            .into(),
        16 | 22 => {
            let half_pixel = onnx::CoordinateTransformationMode::HalfPixel;
            onnx::RoiAlign16::new()
                .with_coordinate_transformation_mode(attributes.or("coordinate_transformation_mode", half_pixel)?)
                .with_mode(mode)
                .with_output_height(height)
                .with_output_width(width)
                .with_sampling_ratio(sampling_ratio)
                .with_spatial_scale(spatial_scale)
                .into()
        }
        opset => return Err(format!("opset {opset}")),
    })
}

pub fn of_openvino(attributes: &Attributes) -> Result<RoiAlignConfig, String> {
    let version: u32 = attributes.or("version", 9)?;
    let height = attributes.get("pooled_h")?;
    let width = attributes.get("pooled_w")?;
    let sampling_ratio = attributes.get("sampling_ratio")?;
    let spatial_scale = attributes.get("spatial_scale")?;
    let mode = attributes.get("mode")?;
    Ok(match version {
        3 => openvino::RoiAlign3::new(height, width, sampling_ratio, spatial_scale, mode).into(),
        9 => openvino::RoiAlign9::new(height, width, sampling_ratio, spatial_scale, mode)
            .with_aligned_mode(attributes.or("aligned_mode", openvino::AlignedMode::Asymmetric)?)
            .into(),
        version => return Err(format!("version {version}")),
    })
}

pub fn of_directml(attributes: &Attributes) -> Result<RoiAlignConfig, String> {
    Ok(directml::RoiAlignOperatorDesc {
        output_size: attributes.get("OutputSize")?,
        reduction_function: reduce_function(attributes)?,
        interpolation_mode: interpolation_mode(attributes)?,
        spatial_scale_x: attributes.get("SpatialScaleX")?,
        spatial_scale_y: attributes.get("SpatialScaleY")?,
        out_of_bounds_input_value: attributes.get("OutOfBoundsInputValue")?,
        minimum_samples_per_output: attributes.get("MinimumSamplesPerOutput")?,
        maximum_samples_per_output: attributes.get("MaximumSamplesPerOutput")?,
    }
    .into())
}

pub fn of_directml1(attributes: &Attributes) -> Result<RoiAlignConfig, String> {
    Ok(directml::RoiAlign1OperatorDesc {
        output_size: attributes.get("OutputSize")?,
        reduction_function: reduce_function(attributes)?,
        interpolation_mode: interpolation_mode(attributes)?,
        spatial_scale_x: attributes.get("SpatialScaleX")?,
        spatial_scale_y: attributes.get("SpatialScaleY")?,
        input_pixel_offset: attributes.get("InputPixelOffset")?,
        output_pixel_offset: attributes.get("OutputPixelOffset")?,
        out_of_bounds_input_value: attributes.get("OutOfBoundsInputValue")?,
        minimum_samples_per_output: attributes.get("MinimumSamplesPerOutput")?,
        maximum_samples_per_output: attributes.get("MaximumSamplesPerOutput")?,
        align_regions_to_corners: attributes.or("AlignRegionsToCorners", false)?,
    }
    .into())
}

pub fn of_directml_grad(attributes: &Attributes) -> Result<RoiAlignConfig, String> {
    // The case has it from its forward.
    attributes.or("OutOfBoundsInputValue", 0.0)?;
    Ok(directml::RoiAlignGradOperatorDesc {
        input_gradient_size: attributes.get("OutputSize")?,
        reduction_function: reduce_function(attributes)?,
        interpolation_mode: interpolation_mode(attributes)?,
        spatial_scale_x: attributes.get("SpatialScaleX")?,
        spatial_scale_y: attributes.get("SpatialScaleY")?,
        input_pixel_offset: attributes.get("InputPixelOffset")?,
        output_pixel_offset: attributes.get("OutputPixelOffset")?,
        minimum_samples_per_output: attributes.get("MinimumSamplesPerOutput")?,
        maximum_samples_per_output: attributes.get("MaximumSamplesPerOutput")?,
        align_regions_to_corners: attributes.or("AlignRegionsToCorners", false)?,
    }
    .into())
}

fn reduce_function(attributes: &Attributes) -> Result<ReduceFunction, String> {
    match attributes.get::<String>("ReductionFunction")?.as_str() {
        "average" => Ok(ReduceFunction::Average),
        "max" => Ok(ReduceFunction::Max),
        function => Err(format!("ReductionFunction {function:?}")),
    }
}

fn interpolation_mode(attributes: &Attributes) -> Result<InterpolationMode, String> {
    match attributes.get::<String>("InterpolationMode")?.as_str() {
        "linear" => Ok(InterpolationMode::Linear),
        "nearest" => Ok(InterpolationMode::NearestNeighbor),
        mode => Err(format!("InterpolationMode {mode:?}")),
    }
}
