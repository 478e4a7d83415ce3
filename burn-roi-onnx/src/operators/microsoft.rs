//! ONNX Runtime's own operator `CropAndResize`.

use burn_onnx::ext::quote::quote;

use super::{Call, Channels, Input, Operator};
use crate::attributes::Attributes;
use crate::error::Error;

pub(super) const OPERATORS: &[Operator] = &[Operator {
    domain: "com.microsoft",
    name: "CropAndResize",
    versions: 1..=1,
    inputs: 4..=4,
    outputs: 1..=1,
    read: crop_and_resize,
}];

fn crop_and_resize(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&["mode", "extrapolation_value"])?;
    let nearest = attributes.choice("mode", false, &[("bilinear", false), ("nearest", true)])?;
    let mode = if nearest { quote!(Nearest) } else { quote!(Bilinear) };
    let value = attributes.finite("extrapolation_value", 0.0)?;
    Ok(Call {
        inputs: vec![
            Input::float("X", 4),
            Input::float("rois", 2),
            Input::int("batch_indices", 1),
            Input::int("crop_size", 1),
        ],
        output: vec![None; 4],
        channels: Channels::OF_FEATURES,
        code: Box::new(move |inputs| {
            let [features, boxes, batch_indices, crop_size] = inputs else {
                unreachable!("the number of inputs was checked")
            };
            quote! {
                burn_roi::crop_and_resize(
                    #features,
                    &burn_roi::Rois::new(#boxes, #batch_indices),
                    burn_roi::onnx::CropAndResize::of_tensor(#crop_size)
                        .with_mode(burn_roi::Interpolation::#mode)
                        .with_extrapolation_value(#value),
                )
            }
        }),
        repeated: Vec::new(),
    })
}
