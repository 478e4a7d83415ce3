//! `RoiAlign` on a feature pyramid. torchvision's and detectron2's exports have a `RoiAlign` and a scatter for each
//! level.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;

use super::operator::{BOXES_AND_MAPS, Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::read::opset::{DOMAIN, NEWEST_VERSION};

/// The operator's name.
pub(crate) const NAME: &str = "MultiScaleRoiAlign";

pub(super) const OPERATORS: &[Operator] = &[Operator::new(
    DOMAIN,
    NAME,
    1..=NEWEST_VERSION,
    BOXES_AND_MAPS,
    multi_scale_roi_align,
)];

fn multi_scale_roi_align(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    let [height, width] = attributes.output_size(None)?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let aligned = attributes.flag("aligned", false)?;
    let scales = attributes.scales("spatial_scales", inputs - 1)?;
    let scales: Vec<f64> = scales.into_iter().map(f64::from).collect();
    let scale = f64::from(attributes.scale("canonical_scale", None)?);
    let ratio_epsilon = f64::from(attributes.finite("ratio_epsilon", 0.0)?);
    let level_epsilon = f64::from(attributes.finite("level_epsilon", 0.0)?);
    let level = attributes.int("canonical_level", None)? as i32;
    let first = attributes.int("first_level", None)? as i32;
    let code = move |boxes: &TokenStream, maps: &[TokenStream]| {
        quote! {
            burn_roi::multi_scale_roi_align(
                alloc::vec![#(#maps),*],
                &burn_roi::Rois::from_index_first(#boxes),
                &[#(#scales),*],
                burn_roi::MultiScaleRoiAlignConfig::new(
                    burn_roi::RoiAlignConfig::new([#height, #width])
                        .with_sampling_ratio(#samples)
                        .with_aligned(#aligned),
                )
                .with_canonical_scale(#scale)
                .with_canonical_level(#level)
                .with_ratio_epsilon(#ratio_epsilon)
                .with_level_epsilon(#level_epsilon)
                .with_first_level(Some(#first)),
            )
        }
    };
    Ok(Call::of_pyramid(Input::float("rois", 2), inputs, [height, width], code))
}
