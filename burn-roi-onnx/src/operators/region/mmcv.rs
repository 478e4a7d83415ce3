//! The custom operators that mmcv and mmdeploy export.

use burn_onnx::ext::quote::quote;

use super::operator::{Call, Input, MAXIMUM_LEVELS, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;

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
    Operator {
        inputs: 2..=1 + MAXIMUM_LEVELS,
        ..operator("mmdeploy", "MMCVMultiLevelRoiAlign", multi_level_roi_align)
    },
    Operator {
        inputs: 2..=1 + MAXIMUM_LEVELS,
        ..operator(
            "mmdeploy",
            "MMCVMultiLevelRotatedRoiAlign",
            multi_level_rotated_roi_align,
        )
    },
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
    let inputs = [Input::float("input", 4), Input::float("rois", 2)];
    let output = vec![None, None, Some(height), Some(width)];
    Ok(Call::new(inputs, output, move |[features, boxes]| {
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
    }))
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
    let inputs = [Input::float("input", 4), Input::float("rois", 2)];
    let output = vec![None, None, Some(height), Some(width)];
    Ok(Call::new(inputs, output, move |[features, boxes]| {
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
    }))
}

fn multi_level_roi_align(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    attributes.only(&[
        "output_height",
        "output_width",
        "pool_mode",
        "sampling_ratio",
        "featmap_strides",
        "finest_scale",
        "roi_scale_factor",
        "aligned",
    ])?;
    let height = attributes.size("output_height", Some(7))?;
    let width = attributes.size("output_width", Some(7))?;
    let average = attributes.flag("pool_mode", false)?;
    let mode = if average { quote!(Avg) } else { quote!(Max) };
    let samples = attributes.samples("sampling_ratio", 2)?;
    let scale = attributes.within("finest_scale", attributes.int("finest_scale", Some(56))?, 1..=1 << 16)?;
    let aligned = attributes.flag("aligned", false)?;
    let factor = attributes.finite("roi_scale_factor", -1.0)?;
    if factor > 0.0 && factor != 1.0 {
        return Err(attributes.wrong(
            "roi_scale_factor",
            factor.to_string(),
            "1, or 0 or less: boxes are not enlarged",
        ));
    }
    let strides = attributes.scales("featmap_strides", inputs - 1)?;
    let output = vec![None, None, Some(height), Some(width)];
    Ok(Call::of_pyramid(
        Input::float("rois", 2),
        inputs - 1,
        output,
        move |boxes, maps| {
            quote! {{
                let burn_roi_attributes = burn_roi::mmcv::MultiLevelRoiAlign::new(alloc::vec![#(#strides),*])
                    .with_output_size([#height, #width])
                    .with_pool_mode(burn_roi::mmcv::PoolMode::#mode)
                    .with_sampling_ratio(#samples)
                    .with_finest_scale(#scale)
                    .with_aligned(#aligned);
                let burn_roi_scales = burn_roi_attributes.scales();
                let burn_roi_rois = burn_roi::Rois::from_index_first(#boxes);
                burn_roi::multi_scale_roi_align(
                    alloc::vec![#(#maps),*],
                    &burn_roi_rois,
                    &burn_roi_scales,
                    burn_roi_attributes,
                )
            }}
        },
    ))
}

fn multi_level_rotated_roi_align(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    attributes.only(&[
        "output_height",
        "output_width",
        "clockwise",
        "sampling_ratio",
        "roi_scale_factor",
        "finest_scale",
        "featmap_strides",
        "aligned",
    ])?;
    let height = attributes.size("output_height", Some(7))?;
    let width = attributes.size("output_width", Some(7))?;
    let clockwise = attributes.flag("clockwise", false)?;
    let samples = attributes.samples("sampling_ratio", 2)?;
    let scale = attributes.within("finest_scale", attributes.int("finest_scale", Some(56))?, 1..=1 << 16)?;
    let aligned = attributes.flag("aligned", false)?;
    let factor = attributes.finite("roi_scale_factor", -1.0)?;
    let factor = if factor > 0.0 { factor } else { 1.0 };
    let strides = attributes.scales("featmap_strides", inputs - 1)?;
    let output = vec![None, None, Some(height), Some(width)];
    Ok(Call::of_pyramid(
        Input::float("rois", 2),
        inputs - 1,
        output,
        move |boxes, maps| {
            let enlarged = (factor != 1.0).then(|| {
                quote! {
                    let burn_roi_factors = burn::tensor::Tensor::<2>::from_floats(
                        [[1.0, 1.0, 1.0, #factor, #factor, 1.0]],
                        &burn_roi_boxes.device(),
                    );
                    let burn_roi_dtype = burn_roi_boxes.dtype();
                    let burn_roi_boxes = burn_roi_boxes.mul(burn_roi_factors.cast(burn_roi_dtype));
                }
            });
            quote! {{
                let burn_roi_attributes = burn_roi::mmcv::MultiLevelRotatedRoiAlign::new(alloc::vec![#(#strides),*])
                    .with_output_size([#height, #width])
                    .with_sampling_ratio(#samples)
                    .with_finest_scale(#scale)
                    .with_roi_scale_factor(#factor)
                    .with_aligned(#aligned)
                    .with_clockwise(#clockwise);
                let burn_roi_boxes = #boxes;
                #enlarged
                let (burn_roi_scales, burn_roi_pyramid) =
                    (burn_roi_attributes.scales(), burn_roi_attributes.pyramid());
                burn_roi::multi_scale_pool(
                    alloc::vec![#(#maps),*],
                    &burn_roi::RotatedRois::from_index_first(burn_roi_boxes),
                    &burn_roi_scales,
                    burn_roi::RoiAlignRotatedConfig::from(burn_roi_attributes),
                    burn_roi_pyramid,
                )
            }}
        },
    ))
}
