//! The custom operators that mmcv and mmdeploy export.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;

use super::operator::{ANY_VERSION, BOXES_AND_MAPS, Call, Input, Operator, Read};
use crate::error::Error;
use crate::operators::attributes::Attributes;

const fn operator(domain: &'static str, name: &'static str, read: Read) -> Operator {
    Operator::new(domain, name, ANY_VERSION, 2..=2, read)
}

const fn pyramid(name: &'static str, read: Read) -> Operator {
    Operator::new("mmdeploy", name, ANY_VERSION, BOXES_AND_MAPS, read)
}

pub(super) const OPERATORS: &[Operator] = &[
    operator("mmcv", "MMCVRoiAlign", roi_align),
    operator("mmdeploy", "MMCVRoiAlign", roi_align),
    operator("mmcv", "MMCVRoIAlignRotated", roi_align_rotated),
    operator("mmdeploy", "MMCVRoIAlignRotated", roi_align_rotated),
    pyramid("MMCVMultiLevelRoiAlign", multi_level_roi_align),
    pyramid("MMCVMultiLevelRotatedRoiAlign", multi_level_rotated_roi_align),
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
    let [height, width] = attributes.output_size(None)?;
    let scale = attributes.scale("spatial_scale", Some(1.0))?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let aligned = attributes.flag("aligned", true)?;
    let maximum = attributes.choice("mode", false, &[("avg", false), ("max", true)])?;
    let mode = if maximum { quote!(Max) } else { quote!(Avg) };
    let inputs = [Input::float("input", 4), Input::float("rois", 2)];
    Ok(Call::new(inputs, 4, Some([height, width]), move |[features, boxes]| {
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
    let [height, width] = attributes.output_size(None)?;
    let scale = attributes.scale("spatial_scale", None)?;
    let samples = attributes.samples("sampling_ratio", 0)?;
    let aligned = attributes.flag("aligned", true)?;
    let clockwise = attributes.flag("clockwise", false)?;
    let inputs = [Input::float("input", 4), Input::float("rois", 2)];
    Ok(Call::new(inputs, 4, Some([height, width]), move |[features, boxes]| {
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

/// What both pyramids of mmdeploy have.
struct Pyramid {
    output_size: [usize; 2],
    sampling_ratio: usize,
    finest_scale: usize,
    /// 1 if boxes are not enlarged.
    roi_scale_factor: f32,
    aligned: bool,
    strides: Vec<f32>,
}

impl Pyramid {
    /// `own` is the attribute that only one of the two has.
    fn read(attributes: &Attributes, inputs: usize, own: &str) -> Result<Self, Error> {
        attributes.only(&[
            "output_height",
            "output_width",
            own,
            "sampling_ratio",
            "featmap_strides",
            "finest_scale",
            "roi_scale_factor",
            "aligned",
        ])?;
        let finest_scale = attributes.int("finest_scale", Some(56))?;
        let factor = attributes.finite("roi_scale_factor", -1.0)?;
        Ok(Self {
            output_size: attributes.output_size(Some(7))?,
            sampling_ratio: attributes.samples("sampling_ratio", 2)?,
            finest_scale: attributes.within("finest_scale", finest_scale, 1..=1 << 16)?,
            roi_scale_factor: if factor > 0.0 { factor } else { 1.0 },
            aligned: attributes.flag("aligned", false)?,
            strides: attributes.scales("featmap_strides", inputs - 1)?,
        })
    }

    /// A struct of `burn_roi::mmcv` with these attributes.
    fn code(&self, name: TokenStream) -> TokenStream {
        let (samples, scale, aligned, strides) = (self.sampling_ratio, self.finest_scale, self.aligned, &self.strides);
        let [height, width] = self.output_size;
        quote! {
            burn_roi::mmcv::#name::new(alloc::vec![#(#strides),*])
                .with_output_size([#height, #width])
                .with_sampling_ratio(#samples)
                .with_finest_scale(#scale)
                .with_aligned(#aligned)
        }
    }
}

fn multi_level_roi_align(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    let pyramid = Pyramid::read(attributes, inputs, "pool_mode")?;
    let factor = pyramid.roi_scale_factor;
    if factor < 1.0 {
        return Err(attributes.wrong("roi_scale_factor", factor.to_string(), "1 or more, or 0 or less"));
    }
    let average = attributes.flag("pool_mode", false)?;
    let mode = if average { quote!(Avg) } else { quote!(Max) };
    let size = pyramid.output_size;
    let code = move |boxes: &TokenStream, maps: &[TokenStream]| {
        let pyramid = pyramid.code(quote!(MultiLevelRoiAlign));
        let attributes = quote!(#pyramid.with_pool_mode(burn_roi::mmcv::PoolMode::#mode));
        if factor > 1.0 {
            return quote! {
                burn_roi_detection::onnx::mmdeploy::multi_level_roi_align(
                    alloc::vec![#(#maps),*],
                    #boxes,
                    #attributes,
                    #factor,
                )
            };
        }
        quote! {{
            let burn_roi_attributes = #attributes;
            let burn_roi_scales = burn_roi_attributes.scales();
            let burn_roi_rois = burn_roi::Rois::from_index_first(#boxes);
            burn_roi::multi_scale_roi_align(
                alloc::vec![#(#maps),*],
                &burn_roi_rois,
                &burn_roi_scales,
                burn_roi_attributes,
            )
        }}
    };
    Ok(Call::of_pyramid(Input::float("rois", 2), inputs, size, code))
}

fn multi_level_rotated_roi_align(attributes: &Attributes, inputs: usize) -> Result<Call, Error> {
    let pyramid = Pyramid::read(attributes, inputs, "clockwise")?;
    let clockwise = attributes.flag("clockwise", false)?;
    let size = pyramid.output_size;
    let code = move |boxes: &TokenStream, maps: &[TokenStream]| {
        let factor = pyramid.roi_scale_factor;
        let pyramid = pyramid.code(quote!(MultiLevelRotatedRoiAlign));
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
            let burn_roi_attributes = #pyramid.with_roi_scale_factor(#factor).with_clockwise(#clockwise);
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
    };
    Ok(Call::of_pyramid(Input::float("rois", 2), inputs, size, code))
}
