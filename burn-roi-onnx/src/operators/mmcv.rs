//! The custom operators that mmcv and mmdeploy export.

use burn_onnx::ext::quote::quote;

use super::{Call, Channels, Input, Operator};
use crate::attributes::Attributes;
use crate::error::Error;

const fn operator(
    domain: &'static str,
    name: &'static str,
    read: fn(&Attributes, usize) -> Result<Call, Error>,
) -> Operator {
    Operator {
        domain,
        name,
        versions: 1..=usize::MAX,
        inputs: 2..=2,
        outputs: 1..=1,
        read,
    }
}

pub(super) const OPERATORS: &[Operator] = &[
    operator("mmcv", "MMCVRoiAlign", roi_align),
    operator("mmdeploy", "MMCVRoiAlign", roi_align),
    operator("mmcv", "MMCVRoIAlignRotated", roi_align_rotated),
    operator("mmdeploy", "MMCVRoIAlignRotated", roi_align_rotated),
];

fn roi_align(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&[
        "output_height",
        "output_width",
        "spatial_scale",
        "sampling_ratio",
        "mode",
        "aligned",
    ])?;
    let height = attributes.size("output_height", None)?;
    let width = attributes.size("output_width", None)?;
    let scale = attributes.scale("spatial_scale", Some(1.0))?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let aligned = attributes.flag("aligned", true)?;
    let maximum = attributes.choice("mode", false, &[("avg", false), ("max", true)])?;
    let mode = if maximum { quote!(Max) } else { quote!(Avg) };
    Ok(Call {
        inputs: vec![Input::float("input", 4), Input::float("rois", 2)],
        output: vec![None, None, Some(height), Some(width)],
        channels: Channels::OF_FEATURES,
        code: Box::new(move |inputs| {
            let [features, boxes] = inputs else {
                unreachable!("the number of inputs was checked")
            };
            quote! {
                burn_roi::roi_align(
                    #features,
                    &burn_roi::Rois::from_index_first(#boxes),
                    burn_roi::mmcv::RoiAlign::new([#height, #width])
                        .with_spatial_scale(#scale)
                        .with_sampling_ratio(#samples)
                        .with_pool_mode(burn_roi::mmcv::PoolMode::#mode)
                        .with_aligned(#aligned),
                )
            }
        }),
        repeated: Vec::new(),
    })
}

fn roi_align_rotated(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&[
        "output_height",
        "output_width",
        "spatial_scale",
        "sampling_ratio",
        "aligned",
        "clockwise",
    ])?;
    let height = attributes.size("output_height", None)?;
    let width = attributes.size("output_width", None)?;
    let scale = attributes.scale("spatial_scale", None)?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let aligned = attributes.flag("aligned", true)?;
    let clockwise = attributes.flag("clockwise", false)?;
    Ok(Call {
        inputs: vec![Input::float("input", 4), Input::float("rois", 2)],
        output: vec![None, None, Some(height), Some(width)],
        channels: Channels::OF_FEATURES,
        code: Box::new(move |inputs| {
            let [features, boxes] = inputs else {
                unreachable!("the number of inputs was checked")
            };
            quote! {
                burn_roi::roi_align_rotated(
                    #features,
                    &burn_roi::RotatedRois::from_index_first(#boxes),
                    burn_roi::mmcv::RoiAlignRotated::new([#height, #width], #scale)
                        .with_sampling_ratio(#samples)
                        .with_aligned(#aligned)
                        .with_clockwise(#clockwise),
                )
            }
        }),
        repeated: Vec::new(),
    })
}
