//! OpenVINO's extension of ONNX.

use burn_onnx::ext::quote::quote;

use super::operator::{BOXES_AND_MAPS, Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;

const NAME: &str = "ExperimentalDetectronROIFeatureExtractor";

pub(super) const OPERATORS: &[Operator] = &[Operator {
    outputs: 1..=2,
    ..Operator::new("org.openvinotoolkit", NAME, 1..=1, BOXES_AND_MAPS, feature_extractor)
}];

fn feature_extractor(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    // OpenVINO ignores the last three, which mmdeploy writes.
    attributes.only(&[
        "output_size",
        "sampling_ratio",
        "aligned",
        "pyramid_scales",
        "image_id",
        "distribute_rois_between_levels",
        "preserve_rois_order",
    ])?;
    let size = attributes.size("output_size", Some(7))?;
    let samples = attributes.samples("sampling_ratio", 2)?;
    let aligned = attributes.flag("aligned", false)?;
    let scales = pyramid_scales(attributes, inputs - 1)?;
    let call = Call::of_pyramid(Input::float("rois", 2), inputs, [size; 2], move |boxes, maps| {
        quote! {{
            let burn_roi_attributes =
                burn_roi::openvino::RoiFeatureExtractor6::new(#size, #samples, alloc::vec![#(#scales),*])
                    .with_aligned(#aligned);
            let burn_roi_scales = burn_roi_attributes.scales();
            let burn_roi_rois = burn_roi::Rois::from_images(alloc::vec![#boxes]);
            burn_roi::multi_scale_roi_align(
                alloc::vec![#(#maps),*],
                &burn_roi_rois,
                &burn_roi_scales,
                burn_roi_attributes,
            )
        }}
    });
    Ok(Call {
        repeated: vec![0],
        ..call
    })
}

/// The stride of each feature map in pixels of the image.
fn pyramid_scales(attributes: &Attributes, maps: usize) -> Result<Vec<u32>, Error> {
    let name = "pyramid_scales";
    let scales = attributes.ints(name, Some(&[4, 8, 16, 32, 64]))?;
    let Some(scales) = scales.get(..maps) else {
        let expected = format!("a list of at least {maps}, one for each feature map");
        return Err(attributes.wrong(name, format!("a list of {}", scales.len()), expected));
    };
    let scale = |&scale: &i64| Ok(attributes.within(name, scale, 1..=1 << 16)? as u32);
    scales.iter().map(scale).collect()
}
