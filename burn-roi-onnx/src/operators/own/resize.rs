//! ONNX `Resize`, and `Upsample`, which it replaced. burn-onnx's code ignores a computed `roi`, `nearest_mode`, and all
//! coordinate transformations but `align_corners`.

use burn_onnx::ext::proc_macro2::TokenStream;
use burn_onnx::ext::quote::{format_ident, quote};
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, TensorType};

use super::operator::{OwnOperator, assign, tensor_type};
use crate::error::Error;
use crate::operators::attributes::{Attributes, from_first};
use crate::operators::inputs::sizes;

/// The first version of `Resize` that has the inputs `roi` and `sizes`, and coordinate transformations.
const WITH_ROI: usize = 11;

const UPSAMPLE: &str = "Upsample";

pub(super) const OPERATORS: &[OwnOperator] = &[
    OwnOperator::new("Resize", types, code),
    OwnOperator::new(UPSAMPLE, types, code),
];

fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let input = input(node)?;
    let attributes = Attributes::of_custom(node);
    options(&attributes, input.rank)?;
    scales_of_attribute(&attributes, input.rank)?;
    Ok(vec![ArgType::Tensor(TensorType::new(input.dtype, input.rank, None))])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let attributes = Attributes::of_custom(node);
    let rank = input(node)?.rank;
    let options = options(&attributes, rank)?;
    let [roi, scales, sizes_of_output] = inputs(node);
    let to = match (scales, sizes_of_output, scales_of_attribute(&attributes, rank)?) {
        (Some(scales), None, None) => {
            let scales = floats(scales, "scales", &attributes, context)?;
            quote!(Scales(&#scales))
        }
        (None, Some(requested), None) => {
            let requested = sizes(requested, context);
            quote!(Sizes(&#requested))
        }
        (None, None, Some(scales)) => quote!(Scales(&[#(#scales),*])),
        _ => {
            let expected = "there if and only if no `sizes` are";
            return Err(attributes.wrong_input("scales", "not the only size", expected));
        }
    };
    let roi = match roi {
        Some(roi) if transformation(&attributes)? == "TfCropAndResize" => floats(roi, "roi", &attributes, context)?,
        _ => quote!([]),
    };
    let input = context.arg(&node.inputs[0]);
    let resized = quote! {
        burn_roi_detection::onnx::resize(
            #input,
            burn_roi_detection::onnx::ResizeTo::#to,
            &#roi,
            &#options,
        )
    };
    Ok(assign(node, resized))
}

/// Whether a node has neither `roi` nor coordinate transformations.
fn is_old(attributes: &Attributes) -> bool {
    attributes.node.operator == UPSAMPLE || attributes.version < WITH_ROI
}

/// The inputs `roi`, `scales` and `sizes`. One that is constant and empty is absent.
fn inputs(node: &CustomNode) -> [Option<&Argument>; 3] {
    let at = |at: usize| {
        let input = node.inputs.get(at).filter(|input| !input.is_optional())?;
        let empty = input.value().is_some_and(|value| value.shape().num_elements() == 0);
        (!empty).then_some(input)
    };
    if is_old(&Attributes::of_custom(node)) {
        [None, at(1), None]
    } else {
        [at(1), at(2), at(3)]
    }
}

/// The code of `burn_roi_detection::onnx::Resize`.
fn options(attributes: &Attributes, rank: usize) -> Result<TokenStream, Error> {
    attributes.only(match is_old(attributes) {
        true if attributes.node.operator == UPSAMPLE => &["mode", "scales"],
        true => &["mode"],
        false => &[
            "antialias",
            "axes",
            "coordinate_transformation_mode",
            "cubic_coeff_a",
            "exclude_outside",
            "extrapolation_value",
            "keep_aspect_ratio_policy",
            "mode",
            "nearest_mode",
        ],
    })?;
    if attributes.flag("antialias", false)? {
        return Err(attributes.wrong("antialias", "1", "0: there is no antialiasing here"));
    }
    let modes = [
        ("nearest", "Nearest"),
        ("linear", "Linear"),
        ("bilinear", "Linear"),
        ("cubic", "Cubic"),
    ];
    let policies = [
        ("stretch", "Stretch"),
        ("not_larger", "NotLarger"),
        ("not_smaller", "NotSmaller"),
    ];
    let transformation = format_ident!("{}", transformation(attributes)?);
    let nearest_mode = format_ident!("{}", nearest_mode(attributes)?);
    let mode = format_ident!("{}", attributes.choice("mode", "Nearest", &modes)?);
    let policy = format_ident!(
        "{}",
        attributes.choice("keep_aspect_ratio_policy", "Stretch", &policies)?
    );
    let outside = attributes.finite("extrapolation_value", 0.0)?;
    let cubic = attributes.finite("cubic_coeff_a", -0.75)?;
    let excludes = attributes.flag("exclude_outside", false)?;
    let axes = axes(attributes, rank)?.map(|axes| quote!(.with_axes(Some(alloc::vec![#(#axes),*]))));
    Ok(quote! {
        burn_roi_detection::onnx::Resize::new()
            .with_mode(burn_roi_detection::onnx::ResizeMode::#mode)
            .with_transformation(burn_roi_detection::onnx::ResizeTransformation::#transformation)
            .with_nearest_mode(burn_roi_detection::onnx::NearestMode::#nearest_mode)
            .with_aspect_ratio(burn_roi_detection::onnx::AspectRatioPolicy::#policy)
            .with_extrapolation_value(#outside)
            .with_cubic_coefficient(#cubic)
            .with_exclude_outside(#excludes)
            #axes
    })
}

/// A variant of `ResizeTransformation`.
fn transformation(attributes: &Attributes) -> Result<&'static str, Error> {
    if is_old(attributes) {
        return Ok("Asymmetric");
    }
    let transformations = [
        ("half_pixel", "HalfPixel"),
        ("half_pixel_symmetric", "HalfPixelSymmetric"),
        ("pytorch_half_pixel", "PytorchHalfPixel"),
        ("align_corners", "AlignCorners"),
        ("asymmetric", "Asymmetric"),
        ("tf_half_pixel_for_nn", "TfHalfPixelForNn"),
        ("tf_crop_and_resize", "TfCropAndResize"),
    ];
    attributes.choice("coordinate_transformation_mode", "HalfPixel", &transformations)
}

/// A variant of `NearestMode`.
fn nearest_mode(attributes: &Attributes) -> Result<&'static str, Error> {
    if is_old(attributes) {
        return Ok("Simple");
    }
    let modes = [
        ("round_prefer_floor", "RoundPreferFloor"),
        ("round_prefer_ceil", "RoundPreferCeil"),
        ("floor", "Floor"),
        ("ceil", "Ceil"),
    ];
    attributes.choice("nearest_mode", "RoundPreferFloor", &modes)
}

/// The attribute `scales` of `Upsample` 7.
fn scales_of_attribute(attributes: &Attributes, rank: usize) -> Result<Option<Vec<f32>>, Error> {
    let has_scales = attributes.node.operator == UPSAMPLE && attributes.version < 9;
    has_scales.then(|| attributes.scales("scales", rank)).transpose()
}

/// The attribute `axes`, counted from the first axis.
fn axes(attributes: &Attributes, rank: usize) -> Result<Option<Vec<usize>>, Error> {
    let axes = attributes.ints("axes", Some(&[]))?;
    if axes.is_empty() {
        return Ok(None);
    }
    let within = |axis| attributes.within("axes", from_first(axis, rank), 0..=rank as i64 - 1);
    axes.into_iter().map(within).collect::<Result<_, _>>().map(Some)
}

/// The type of the first input.
fn input(node: &CustomNode) -> Result<&TensorType, Error> {
    tensor_type(node, "X", "a tensor of floats", |tensor| {
        tensor.rank > 0 && tensor.dtype.is_float()
    })
}

/// The code that reads finite floats into an array or a `Vec`.
fn floats(
    input: &Argument,
    name: &str,
    attributes: &Attributes,
    context: &mut CodegenContext<'_, '_>,
) -> Result<TokenStream, Error> {
    if let Some(value) = input.value() {
        let values: Vec<f32> = value.iter::<f32>().collect();
        if !values.iter().all(|value| value.is_finite()) {
            return Err(attributes.wrong_input(name, format!("{values:?}"), "finite"));
        }
        return Ok(quote!([#(#values),*]));
    }
    let value = context.arg(input);
    match &input.ty {
        ArgType::Tensor(_) | ArgType::ScalarTensor(_) => {
            Ok(quote!(#value.into_data().iter::<f32>().collect::<alloc::vec::Vec<_>>()))
        }
        _ => Err(attributes.wrong_input(name, input.to_string(), "a tensor of floats")),
    }
}
