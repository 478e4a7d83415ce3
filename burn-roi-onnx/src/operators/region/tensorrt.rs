//! TensorRT's plugins, after their documentation.

use burn_onnx::ext::quote::quote;

use super::onnx::roi_align_call;
use super::operator::{Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;

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

const fn pyramid_in(domain: &'static str) -> Operator {
    Operator {
        domain,
        name: "PyramidROIAlign_TRT",
        versions: 1..=usize::MAX,
        inputs: 5..=5,
        outputs: 1..=1,
        read: pyramid_roi_align,
    }
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
    let transformation = if half {
        quote!(HalfPixel)
    } else {
        quote!(OutputHalfPixel)
    };
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
    let inputs = [Input::float("feature_maps", 4), Input::float("rois", 4)];
    let output = vec![None, None, None, Some(height), Some(width)];
    let call = Call::new(inputs, output, move |[features, boxes]| {
        quote! {
            burn_roi_detection::onnx::tensorrt::CropAndResize::new(#height, #width).pool(#features, #boxes)
        }
    });
    Ok(Call {
        channel_axis: Some(2),
        ..call
    })
}

fn pyramid_roi_align(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
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
    let output = vec![None, None, None, Some(size), Some(size)];
    let call = Call::of_pyramid(Input::float("rois", 3), 4, output, move |boxes, maps| {
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
    });
    Ok(Call {
        channel_axis: Some(2),
        ..call
    })
}
