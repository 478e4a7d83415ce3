//! TensorRT's plugins, after their documentation.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;

use super::onnx::roi_align_call;
use super::operator::{ANY_VERSION, Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;

const fn roi_align_in(domain: &'static str) -> Operator {
    Operator::new(domain, "ROIAlign_TRT", ANY_VERSION, 3..=3, roi_align)
}

const fn crop_and_resize_in(domain: &'static str, name: &'static str) -> Operator {
    Operator::new(domain, name, ANY_VERSION, 2..=2, crop_and_resize)
}

const fn pyramid_in(domain: &'static str) -> Operator {
    Operator::new(domain, "PyramidROIAlign_TRT", ANY_VERSION, 5..=5, pyramid_roi_align)
}

// NVIDIA's samples use the default operator set, and onnxruntime's TensorRT provider uses `trt.plugins`.
pub(super) const OPERATORS: &[Operator] = &[
    roi_align_in(""),
    roi_align_in("trt.plugins"),
    crop_and_resize_in("", "CropAndResize"),
    crop_and_resize_in("trt.plugins", "CropAndResize"),
    crop_and_resize_in("", "CropAndResizeDynamic"),
    crop_and_resize_in("trt.plugins", "CropAndResizeDynamic"),
    crop_and_resize_in("", "CropAndResize_TRT"),
    crop_and_resize_in("trt.plugins", "CropAndResize_TRT"),
    pyramid_in(""),
    pyramid_in("trt.plugins"),
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
    let average = attributes.flag("mode", true)?;
    roi_align_call(attributes, Some(half), !average)
}

fn crop_and_resize(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&["crop_width", "crop_height"])?;
    let height = attributes.size("crop_height", None)?;
    let width = attributes.size("crop_width", None)?;
    let inputs = [Input::float("feature_maps", 4), Input::float("rois", 4)];
    Ok(Call::new(inputs, 5, Some([height, width]), move |[features, boxes]| {
        quote! {
            burn_roi_detection::onnx::tensorrt::CropAndResize::new(#height, #width).pool(#features, #boxes)
        }
    }))
}

fn pyramid_roi_align(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    attributes.only(&[
        "pooled_size",
        "image_size",
        "fpn_scale",
        "sampling_ratio",
        "roi_coords_absolute",
        "roi_coords_swap",
        "roi_coords_plusone",
        "roi_coords_transform",
        "legacy",
    ])?;
    for name in ["roi_coords_plusone", "legacy"] {
        if attributes.flag(name, false)? {
            return Err(attributes.wrong(name, "1", "0: the other rule is not implemented"));
        }
    }
    let size = attributes.size("pooled_size", Some(7))?;
    let image = attributes.ints("image_size", Some(&[1024, 1024]))?;
    let [height, width] = image[..] else {
        return Err(attributes.wrong("image_size", format!("{image:?}"), "a height and a width"));
    };
    let height = attributes.within("image_size", height, 1..=1 << 24)?;
    let width = attributes.within("image_size", width, 1..=1 << 24)?;
    let scale = attributes.within("fpn_scale", attributes.int("fpn_scale", Some(224))?, 1..=1 << 16)?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let absolute = attributes.flag("roi_coords_absolute", true)?;
    let swap = attributes.flag("roi_coords_swap", false)?;
    let transform = attributes.int("roi_coords_transform", Some(2))?;
    let transform = match attributes.within("roi_coords_transform", transform, 0..=2)? {
        0 => quote!(None),
        1 => quote!(OutputHalfPixel),
        _ => quote!(HalfPixel),
    };
    let code = move |boxes: &TokenStream, maps: &[TokenStream]| {
        quote! {
            burn_roi_detection::onnx::tensorrt::PyramidRoiAlign::new()
                .with_pooled_size(#size)
                .with_image_size([#height, #width])
                .with_fpn_scale(#scale)
                .with_sampling_ratio(#samples)
                .with_roi_coords_absolute(#absolute)
                .with_roi_coords_swap(#swap)
                .with_roi_coords_transform(burn_roi_detection::onnx::tensorrt::CoordinateTransform::#transform)
                .pool(#boxes, alloc::vec![#(#maps),*])
        }
    };
    Ok(Call::of_pyramid(Input::float("rois", 3), inputs, [size; 2], code))
}
