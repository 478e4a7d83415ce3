//! ONNX `RoiAlign` and `MaxRoiPool`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::quote;

use super::operator::{Call, Input, Operator};
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::read::opset::{DOMAIN, NEWEST_VERSION};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        domain: DOMAIN,
        name: "RoiAlign",
        versions: 10..=NEWEST_VERSION,
        inputs: 3..=3,
        outputs: 1..=1,
        read: roi_align,
    },
    Operator {
        domain: DOMAIN,
        name: "MaxRoiPool",
        versions: 1..=NEWEST_VERSION,
        inputs: 2..=2,
        outputs: 1..=1,
        read: max_roi_pool,
    },
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

    let size = [
        attributes.size("output_height", Some(1))?,
        attributes.size("output_width", Some(1))?,
    ];
    let samples = attributes.samples("sampling_ratio", 0)?;
    let scale = attributes.scale("spatial_scale", Some(1.0))?;
    let maximum = attributes.choice("mode", false, &[("avg", false), ("max", true)])?;
    let mode = if maximum { quote!(Max) } else { quote!(Avg) };
    let structure = if transforms {
        let choices = [("half_pixel", true), ("output_half_pixel", false)];
        let half = attributes.choice("coordinate_transformation_mode", true, &choices)?;
        let transformation = if half {
            quote!(HalfPixel)
        } else {
            quote!(OutputHalfPixel)
        };
        quote! {
            burn_roi::onnx::RoiAlign16::new().with_coordinate_transformation_mode(
                burn_roi::onnx::CoordinateTransformationMode::#transformation,
            )
        }
    } else {
        quote!(burn_roi::onnx::RoiAlign10::new())
    };
    let [height, width] = size;
    let options = quote! {
        #structure
            .with_mode(burn_roi::onnx::Mode::#mode)
            .with_output_height(#height)
            .with_output_width(#width)
            .with_sampling_ratio(#samples)
            .with_spatial_scale(#scale)
    };
    Ok(roi_align_call(options, size))
}

/// The call of `roi_align` with boxes and batch indices in two tensors.
pub(super) fn roi_align_call(options: TokenStream, [height, width]: [usize; 2]) -> Call {
    let inputs = [
        Input::float("X", 4),
        Input::float("rois", 2),
        Input::int("batch_indices", 1),
    ];
    let output = vec![None, None, Some(height), Some(width)];
    Call::new(inputs, output, move |[features, boxes, batch_indices]| {
        quote! {
            burn_roi::roi_align(#features, &burn_roi::Rois::new(#boxes, #batch_indices), #options)
        }
    })
}

fn max_roi_pool(attributes: &Attributes, _inputs: usize) -> Result<Call, Error> {
    attributes.only(&["pooled_shape", "spatial_scale"])?;
    let [height, width] = attributes.sizes("pooled_shape")?;
    let scale = attributes.scale("spatial_scale", Some(1.0))?;
    let inputs = [Input::float("X", 4), Input::float("rois", 2)];
    let output = vec![None, None, Some(height), Some(width)];
    Ok(Call::new(inputs, output, move |[features, boxes]| {
        quote! {
            burn_roi::roi_pool(
                #features,
                &burn_roi::Rois::from_index_first(#boxes),
                burn_roi::onnx::MaxRoiPool::new([#height, #width]).with_spatial_scale(#scale),
            )
        }
    }))
}
