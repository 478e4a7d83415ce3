//! ONNX `RoiAlign` and `MaxRoiPool`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;

use super::operator::{Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::read::opset::{DOMAIN, NEWEST_VERSION};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new(DOMAIN, "RoiAlign", 10..=NEWEST_VERSION, 3..=3, roi_align),
    Operator::new(DOMAIN, "MaxRoiPool", 1..=NEWEST_VERSION, 2..=2, max_roi_pool),
];

/// The first version of the default operator set in which `RoiAlign` has a coordinate transformation mode.
const WITH_TRANSFORMATION: usize = 16;

fn roi_align(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    let transforms = attributes.version >= WITH_TRANSFORMATION;
    let common = [
        "mode",
        "output_height",
        "output_width",
        "sampling_ratio",
        "spatial_scale",
    ];
    let transformation = transforms.then_some("coordinate_transformation_mode");
    attributes.only(&common.into_iter().chain(transformation).collect::<Vec<_>>())?;

    let maximum = attributes.choice("mode", false, &[("avg", false), ("max", true)])?;
    let choices = [("half_pixel", true), ("output_half_pixel", false)];
    let half = attributes.choice("coordinate_transformation_mode", true, &choices)?;
    roi_align_call(attributes, transforms.then_some(half), maximum)
}

/// The call of `roi_align` with boxes and batch indices in two tensors. `half` is whether coordinates are moved by half
/// a pixel; the structure of version 10 has no such setting.
pub(super) fn roi_align_call(attributes: &Attributes, half: Option<bool>, maximum: bool) -> Result<Call, Error> {
    let size = attributes.output_size(Some(1))?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let scale = attributes.scale("spatial_scale", Some(1.0))?;
    let [height, width] = size;
    let mode = if maximum { quote!(Max) } else { quote!(Avg) };
    let version_16 = |transformation: TokenStream| {
        quote! {
            burn_roi::onnx::RoiAlign16::new().with_coordinate_transformation_mode(
                burn_roi::onnx::CoordinateTransformationMode::#transformation,
            )
        }
    };
    let structure = match half {
        Some(true) => version_16(quote!(HalfPixel)),
        Some(false) => version_16(quote!(OutputHalfPixel)),
        None => quote!(burn_roi::onnx::RoiAlign10::new()),
    };
    let inputs = [
        Input::float("X", 4),
        Input::float("rois", 2),
        Input::int("batch_indices", 1),
    ];
    Ok(Call::new(
        inputs,
        4,
        Some(size),
        move |[features, boxes, batch_indices]| {
            quote! {
                burn_roi::roi_align(
                    #features,
                    &burn_roi::Rois::new(#boxes, #batch_indices),
                    #structure
                        .with_mode(burn_roi::onnx::Mode::#mode)
                        .with_output_height(#height)
                        .with_output_width(#width)
                        .with_sampling_ratio(#samples)
                        .with_spatial_scale(#scale),
                )
            }
        },
    ))
}

fn max_roi_pool(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&["pooled_shape", "spatial_scale"])?;
    let [height, width] = attributes.sizes("pooled_shape")?;
    let scale = attributes.scale("spatial_scale", Some(1.0))?;
    let inputs = [Input::float("X", 4), Input::float("rois", 2)];
    Ok(Call::new(inputs, 4, Some([height, width]), move |[features, boxes]| {
        quote! {
            burn_roi::roi_pool(
                #features,
                &burn_roi::Rois::from_index_first(#boxes),
                burn_roi::onnx::MaxRoiPool::new([#height, #width]).with_spatial_scale(#scale),
            )
        }
    }))
}
