//! TensorRT's plugins, as their documents describe them.

use burn_onnx::ext::quote::quote;

use super::onnx::roi_align_call;
use super::{Call, Channels, Input, Operator};
use crate::attributes::Attributes;
use crate::error::Error;

const fn roi_align_in(domain: &'static str) -> Operator {
    Operator {
        domain,
        name: "ROIAlign_TRT",
        versions: 1..=usize::MAX,
        inputs: 3..=3,
        outputs: 1..=1,
        read: roi_align,
    }
}

const fn crop_and_resize_in(domain: &'static str, name: &'static str) -> Operator {
    Operator {
        domain,
        name,
        versions: 1..=usize::MAX,
        inputs: 2..=2,
        outputs: 1..=1,
        read: crop_and_resize,
    }
}

// TensorRT finds a plugin by its name in any operator set; these are those that exporters write.
pub(super) const OPERATORS: &[Operator] = &[
    roi_align_in(""),
    roi_align_in("trt"),
    roi_align_in("TRT"),
    crop_and_resize_in("", "CropAndResize_TRT"),
    crop_and_resize_in("trt", "CropAndResize_TRT"),
    crop_and_resize_in("TRT", "CropAndResize_TRT"),
    crop_and_resize_in("", "CropAndResizeDynamic"),
    crop_and_resize_in("trt", "CropAndResizeDynamic"),
    crop_and_resize_in("TRT", "CropAndResizeDynamic"),
];

fn roi_align(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&[
        "coordinate_transformation_mode",
        "mode",
        "output_height",
        "output_width",
        "sampling_ratio",
        "spatial_scale",
    ])?;
    let half = attributes.flag("coordinate_transformation_mode", true)?;
    let transformation = if half { quote!(HalfPixel) } else { quote!(OutputHalfPixel) };
    let average = attributes.flag("mode", true)?;
    let mode = if average { quote!(Avg) } else { quote!(Max) };
    let height = attributes.size("output_height", Some(1))?;
    let width = attributes.size("output_width", Some(1))?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let scale = attributes.scale("spatial_scale", Some(1.0))?;
    let options = quote! {
        burn_roi::onnx::RoiAlign16::new()
            .with_coordinate_transformation_mode(burn_roi::onnx::CoordinateTransformationMode::#transformation)
            .with_mode(burn_roi::onnx::Mode::#mode)
            .with_output_height(#height)
            .with_output_width(#width)
            .with_sampling_ratio(#samples)
            .with_spatial_scale(#scale)
    };
    Ok(roi_align_call(options, [height, width]))
}

fn crop_and_resize(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&["crop_width", "crop_height"])?;
    let height = attributes.size("crop_height", None)?;
    let width = attributes.size("crop_width", None)?;
    Ok(Call {
        inputs: vec![Input::float("feature_maps", 4), Input::float("rois", 4)],
        output: vec![None, None, None, Some(height), Some(width)],
        channels: Channels { of_input: 0, at: 2 },
        code: Box::new(move |inputs| {
            let [features, boxes] = inputs else {
                unreachable!("the number of inputs was checked")
            };
            quote! {{
                let (burn_roi_features, burn_roi_boxes) = (#features, #boxes);
                let [_, burn_roi_channels, _, _] = burn_roi_features.dims();
                let [burn_roi_images, burn_roi_count, _, _] = burn_roi_boxes.dims();
                let burn_roi_rois = (0..burn_roi_images)
                    .map(|burn_roi_image| {
                        burn_roi_boxes
                            .clone()
                            .slice([burn_roi_image..burn_roi_image + 1])
                            .reshape([burn_roi_count, 4])
                    })
                    .collect();
                burn_roi::crop_and_resize(
                    burn_roi_features,
                    &burn_roi::Rois::from_images(burn_roi_rois),
                    burn_roi::tensorflow::CropAndResize::new([#height, #width]),
                )
                .reshape([burn_roi_images, burn_roi_count, burn_roi_channels, #height, #width])
            }}
        }),
        repeated: Vec::new(),
    })
}
