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

/// The attributes of a node.
struct Options {
    /// The names of variants of the enums in `burn_roi_detection::onnx`.
    mode: &'static str,
    transformation: &'static str,
    nearest_mode: &'static str,
    aspect_ratio: &'static str,
    extrapolation_value: f32,
    cubic_coefficient: f32,
    exclude_outside: bool,
    axes: Option<Vec<usize>>,
    /// The attribute `scales` of `Upsample` 7.
    scales: Option<Vec<f32>>,
}

fn types(node: &CustomNode) -> Result<Vec<ArgType>, Error> {
    let input = input(node)?;
    Options::read(&Attributes::of_custom(node), input.rank)?;
    Ok(vec![ArgType::Tensor(TensorType::new(input.dtype, input.rank, None))])
}

fn code(node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
    let attributes = Attributes::of_custom(node);
    let options = Options::read(&attributes, input(node)?.rank)?;
    let [roi, scales, sizes_of_output] = inputs(node);
    let to = match (scales, sizes_of_output, &options.scales) {
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
        Some(roi) if options.transformation == "TfCropAndResize" => floats(roi, "roi", &attributes, context)?,
        _ => quote!([]),
    };
    let input = context.arg(&node.inputs[0]);
    let options = options.code();
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

impl Options {
    fn read(attributes: &Attributes, rank: usize) -> Result<Self, Error> {
        let is_upsample = attributes.node.operator == UPSAMPLE;
        attributes.only(match is_old(attributes) {
            true if is_upsample => &["mode", "scales"],
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
        let (transformation, nearest_mode) = if is_old(attributes) {
            ("Asymmetric", "Simple")
        } else {
            transformation(attributes)?
        };
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
        Ok(Self {
            mode: attributes.choice("mode", "Nearest", &modes)?,
            transformation,
            nearest_mode,
            aspect_ratio: attributes.choice("keep_aspect_ratio_policy", "Stretch", &policies)?,
            extrapolation_value: attributes.finite("extrapolation_value", 0.0)?,
            cubic_coefficient: attributes.finite("cubic_coeff_a", -0.75)?,
            exclude_outside: attributes.flag("exclude_outside", false)?,
            axes: axes(attributes, rank)?,
            scales: match is_upsample && attributes.version < 9 {
                true => Some(attributes.scales("scales", rank)?),
                false => None,
            },
        })
    }

    /// The code of `burn_roi_detection::onnx::Resize`.
    fn code(&self) -> TokenStream {
        let name = |name: &str| format_ident!("{name}");
        let (mode, transformation) = (name(self.mode), name(self.transformation));
        let (nearest_mode, aspect_ratio) = (name(self.nearest_mode), name(self.aspect_ratio));
        let (outside, cubic, excludes) = (self.extrapolation_value, self.cubic_coefficient, self.exclude_outside);
        let axes = self.axes.as_ref();
        let axes = axes.map(|axes| quote!(.with_axes(Some(alloc::vec![#(#axes),*]))));
        quote! {
            burn_roi_detection::onnx::Resize::new()
                .with_mode(burn_roi_detection::onnx::ResizeMode::#mode)
                .with_transformation(burn_roi_detection::onnx::ResizeTransformation::#transformation)
                .with_nearest_mode(burn_roi_detection::onnx::NearestMode::#nearest_mode)
                .with_aspect_ratio(burn_roi_detection::onnx::AspectRatioPolicy::#aspect_ratio)
                .with_extrapolation_value(#outside)
                .with_cubic_coefficient(#cubic)
                .with_exclude_outside(#excludes)
                #axes
        }
    }
}

/// The coordinate transformation and the nearest mode of `Resize` since version 11.
fn transformation(attributes: &Attributes) -> Result<(&'static str, &'static str), Error> {
    let transformations = [
        ("half_pixel", "HalfPixel"),
        ("half_pixel_symmetric", "HalfPixelSymmetric"),
        ("pytorch_half_pixel", "PytorchHalfPixel"),
        ("align_corners", "AlignCorners"),
        ("asymmetric", "Asymmetric"),
        ("tf_half_pixel_for_nn", "TfHalfPixelForNn"),
        ("tf_crop_and_resize", "TfCropAndResize"),
    ];
    let nearest_modes = [
        ("round_prefer_floor", "RoundPreferFloor"),
        ("round_prefer_ceil", "RoundPreferCeil"),
        ("floor", "Floor"),
        ("ceil", "Ceil"),
    ];
    Ok((
        attributes.choice("coordinate_transformation_mode", "HalfPixel", &transformations)?,
        attributes.choice("nearest_mode", "RoundPreferFloor", &nearest_modes)?,
    ))
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
