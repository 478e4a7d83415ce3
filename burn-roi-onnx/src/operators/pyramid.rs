//! Pools from a feature pyramid. torchvision's export has a `RoiAlign` and a `ScatterElements` for each level instead.

use burn_onnx::ext::quote::quote;

use super::{Call, Channels, DOMAIN, Input, MAXIMUM_LEVELS, MULTI_SCALE_ROI_ALIGN, NEWEST_VERSION, Operator};
use crate::attributes::Attributes;
use crate::error::Error;

pub(super) const OPERATORS: &[Operator] = &[Operator {
    domain: DOMAIN,
    name: MULTI_SCALE_ROI_ALIGN,
    versions: 1..=NEWEST_VERSION,
    inputs: 2..=1 + MAXIMUM_LEVELS,
    outputs: 1..=1,
    read: multi_scale_roi_align,
}];

fn multi_scale_roi_align(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    let height = attributes.size("output_height", None)?;
    let width = attributes.size("output_width", None)?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let aligned = attributes.flag("aligned", false)?;
    let scales = attributes.scales("spatial_scales", inputs - 1)?;
    let scales: Vec<f64> = scales.into_iter().map(f64::from).collect();
    let rule = attributes.scales("rule", 3)?;
    let [scale, level, epsilon] = [rule[0], rule[1], rule[2]].map(f64::from);
    let level = level as i32;
    let first = attributes.int("first_level", None)? as i32;
    let maps = std::iter::repeat_n(Input::float("feature map", 4), inputs - 1);
    Ok(Call {
        inputs: std::iter::once(Input::float("rois", 2)).chain(maps).collect(),
        output: vec![None, None, Some(height), Some(width)],
        channels: Channels { of_input: 1, at: 1 },
        code: Box::new(move |inputs| {
            let Some((boxes, maps)) = inputs.split_first() else {
                unreachable!("the number of inputs was checked")
            };
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
                    .with_level_epsilon(#epsilon)
                    .with_first_level(Some(#first)),
                )
            }
        }),
        repeated: Vec::new(),
    })
}
