//! ONNX `Resize`, and `Upsample`, which it replaced. burn-onnx's code ignores a computed `roi`, `nearest_mode`, and all
//! coordinate transformations but `align_corners`.

use burn_onnx::ext::proc_macro2::{Ident, Span, TokenStream};
use burn_onnx::ext::quote::quote;
use burn_onnx::ext::{ArgType, Argument, CodegenContext, CustomNode, ProcessError, TensorType, arg_to_ident};

use super::operator::OwnOperator;
use crate::error::Error;
use crate::operators::attributes::Attributes;
use crate::operators::inputs::sizes;

/// The first version of `Resize` that has the inputs `roi` and `sizes`, and coordinate transformations.
const WITH_ROI: usize = 11;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resizing {
    Resize,
    Upsample,
}

/// The names of the enums' variants in the generated code.
struct Options {
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

impl OwnOperator for Resizing {
    fn name(&self) -> &'static str {
        match self {
            Self::Resize => "Resize",
            Self::Upsample => "Upsample",
        }
    }

    fn output_types(&self, node: &CustomNode) -> Result<Vec<ArgType>, ProcessError> {
        let input = input(node).map_err(Error::into_process_error)?;
        self.options(&Attributes::of_custom(node), input.rank)
            .map_err(Error::into_process_error)?;
        Ok(vec![ArgType::Tensor(TensorType::new(input.dtype, input.rank, None))])
    }

    fn code(&self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, ProcessError> {
        self.call(node, context).map_err(Error::into_process_error)
    }
}

impl Resizing {
    fn call(self, node: &CustomNode, context: &mut CodegenContext<'_, '_>) -> Result<TokenStream, Error> {
        let attributes = Attributes::of_custom(node);
        let rank = input(node)?.rank;
        let options = self.options(&attributes, rank)?;
        let [roi, scales, sizes_of_output] = self.inputs(node, attributes.version);
        let to = match (scales, sizes_of_output, &options.scales) {
            (Some(scales), None, None) => {
                let scales = floats(scales, "scales", &attributes, context)?;
                quote!(Scales(&#scales))
            }
            (None, Some(asked), None) => {
                let asked = sizes(asked, context);
                quote!(Sizes(&#asked))
            }
            (None, None, Some(scales)) => quote!(Scales(&[#(#scales),*])),
            _ => {
                return Err(attributes.wrong_input(
                    "scales",
                    "not the only size",
                    "there if and only if no `sizes` are",
                ));
            }
        };
        let roi = match roi {
            Some(roi) if options.transformation == "TfCropAndResize" => floats(roi, "roi", &attributes, context)?,
            _ => quote!([]),
        };
        let input = context.arg(&node.inputs[0]);
        let options = options.code();
        let output = arg_to_ident(&node.outputs[0]);
        Ok(quote! {
            let #output = burn_roi_detection::onnx::resize(
                #input,
                burn_roi_detection::onnx::ResizeTo::#to,
                &#roi,
                &#options,
            );
        })
    }

    /// The inputs `roi`, `scales` and `sizes`. One that is constant and empty is absent.
    fn inputs(self, node: &CustomNode, version: usize) -> [Option<&Argument>; 3] {
        let at = |at: usize| {
            let input = node.inputs.get(at).filter(|input| !input.is_optional())?;
            let empty = input.value().is_some_and(|value| value.shape().num_elements() == 0);
            (!empty).then_some(input)
        };
        match self {
            Self::Resize if version >= WITH_ROI => [at(1), at(2), at(3)],
            _ => [None, at(1), None],
        }
    }

    fn options(self, attributes: &Attributes, rank: usize) -> Result<Options, Error> {
        let known: &[&str] = match self {
            Self::Upsample => &["mode", "scales"],
            Self::Resize if attributes.version < WITH_ROI => &["mode"],
            Self::Resize => &[
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
        };
        attributes.only(known)?;
        if attributes.flag("antialias", false)? {
            return Err(attributes.wrong("antialias", "1", "0: there is no antialiasing here"));
        }
        let modes = [
            ("nearest", "Nearest"),
            ("linear", "Linear"),
            ("bilinear", "Linear"),
            ("cubic", "Cubic"),
        ];
        let old = self == Self::Upsample || attributes.version < WITH_ROI;
        let (transformation, nearest_mode) = if old {
            ("Asymmetric", "Simple")
        } else {
            transformation(attributes)?
        };
        Ok(Options {
            mode: attributes.choice("mode", "Nearest", &modes)?,
            transformation,
            nearest_mode,
            aspect_ratio: attributes.choice(
                "keep_aspect_ratio_policy",
                "Stretch",
                &[
                    ("stretch", "Stretch"),
                    ("not_larger", "NotLarger"),
                    ("not_smaller", "NotSmaller"),
                ],
            )?,
            extrapolation_value: attributes.finite("extrapolation_value", 0.0)?,
            cubic_coefficient: attributes.finite("cubic_coeff_a", -0.75)?,
            exclude_outside: attributes.flag("exclude_outside", false)?,
            axes: axes(attributes, rank)?,
            scales: match self {
                Self::Upsample if attributes.version < 9 => Some(attributes.scales("scales", rank)?),
                _ => None,
            },
        })
    }
}

/// The coordinate transformation and the nearest mode of `Resize` since version 11.
fn transformation(attributes: &Attributes) -> Result<(&'static str, &'static str), Error> {
    let transformation = attributes.choice(
        "coordinate_transformation_mode",
        "HalfPixel",
        &[
            ("half_pixel", "HalfPixel"),
            ("half_pixel_symmetric", "HalfPixelSymmetric"),
            ("pytorch_half_pixel", "PytorchHalfPixel"),
            ("align_corners", "AlignCorners"),
            ("asymmetric", "Asymmetric"),
            ("tf_half_pixel_for_nn", "TfHalfPixelForNn"),
            ("tf_crop_and_resize", "TfCropAndResize"),
        ],
    )?;
    let nearest_mode = attributes.choice(
        "nearest_mode",
        "RoundPreferFloor",
        &[
            ("round_prefer_floor", "RoundPreferFloor"),
            ("round_prefer_ceil", "RoundPreferCeil"),
            ("floor", "Floor"),
            ("ceil", "Ceil"),
        ],
    )?;
    Ok((transformation, nearest_mode))
}

/// The attribute `axes`, counted from the first axis.
fn axes(attributes: &Attributes, rank: usize) -> Result<Option<Vec<usize>>, Error> {
    let axes = attributes.ints("axes", Some(&[]))?;
    if axes.is_empty() {
        return Ok(None);
    }
    let rank = rank as i64;
    let axes = axes.iter().map(|&axis| {
        let axis = if axis < 0 { axis + rank } else { axis };
        attributes.within("axes", axis, 0..=rank - 1)
    });
    axes.collect::<Result<_, _>>().map(Some)
}

impl Options {
    /// The code of `burn_roi_detection::onnx::Resize`.
    fn code(&self) -> TokenStream {
        let name = |name: &str| Ident::new(name, Span::call_site());
        let (mode, transformation) = (name(self.mode), name(self.transformation));
        let (nearest_mode, aspect_ratio) = (name(self.nearest_mode), name(self.aspect_ratio));
        let (outside, cubic, excludes) = (self.extrapolation_value, self.cubic_coefficient, self.exclude_outside);
        let axes = self
            .axes
            .as_ref()
            .map(|axes| quote!(.with_axes(Some(alloc::vec![#(#axes),*]))));
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

/// The type of the first input.
fn input(node: &CustomNode) -> Result<&TensorType, Error> {
    match node.inputs.first().map(|input| (input, &input.ty)) {
        Some((_, ArgType::Tensor(tensor))) if tensor.rank > 0 && tensor.dtype.is_float() => Ok(tensor),
        found => {
            let found = found.map_or_else(|| "missing".to_string(), |(input, _)| input.to_string());
            Err(Attributes::of_custom(node).wrong_input("X", found, "a tensor of floats"))
        }
    }
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
