//! ONNX Runtime's own operator `CropAndResize`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;

use super::operator::{Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;

pub(super) const OPERATORS: &[Operator] = &[Operator::new(
    "com.microsoft",
    "CropAndResize",
    1..=1,
    4..=4,
    crop_and_resize,
)];

fn crop_and_resize(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&["mode", "extrapolation_value"])?;
    let nearest = attributes.choice("mode", false, &[("bilinear", false), ("nearest", true)])?;
    let mode = if nearest { quote!(Nearest) } else { quote!(Bilinear) };
    let value = attributes.finite("extrapolation_value", 0.0)?;
    let inputs = [
        Input::float("X", 4),
        Input::float("rois", 2),
        Input::int("batch_indices", 1),
        Input::int("crop_size", 1),
    ];
    let code = move |[features, boxes, batch_indices, crop_size]: &[TokenStream; 4]| {
        quote! {
            burn_roi::crop_and_resize(
                #features,
                &burn_roi::Rois::new(#boxes, #batch_indices),
                burn_roi::onnx::CropAndResize::of_tensor(#crop_size)
                    .with_mode(burn_roi::Interpolation::#mode)
                    .with_extrapolation_value(#value),
            )
        }
    };
    Ok(Call::new(inputs, 4, None, code))
}
