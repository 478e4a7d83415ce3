//! The description of a region operator: its name, its inputs, and how its attributes become a call of burn-roi.

use std::ops::RangeInclusive;

use burn_onnx::ext::proc_macro2::TokenStream;

use crate::error::Error;
use crate::operators::attributes::Attributes;

/// The most feature maps that a pyramid may have. Detectors have 4 or 5.
pub(super) const MAXIMUM_LEVELS: usize = 16;

/// An operator of an operator set.
pub(crate) struct Operator {
    pub domain: &'static str,
    pub name: &'static str,
    /// The versions of the operator set in which the operator has these inputs and attributes.
    pub versions: RangeInclusive<usize>,
    /// How many inputs it has.
    pub inputs: RangeInclusive<usize>,
    /// How many outputs it has.
    pub outputs: RangeInclusive<usize>,
    /// Reads the attributes of a node. The second argument is its number of inputs.
    pub read: fn(&Attributes, usize) -> Result<Call, Error>,
}

impl Operator {
    /// Checks a node's attributes and its numbers of inputs and outputs.
    pub fn call(&self, attributes: &Attributes, inputs: usize, outputs: usize) -> Result<Call, Error> {
        attributes.check_count("inputs", inputs, &self.inputs)?;
        attributes.check_count("outputs", outputs, &self.outputs)?;
        (self.read)(attributes, inputs)
    }
}

/// Returns the code of a call, given the code of its inputs.
type Code = dyn Fn(&[TokenStream]) -> TokenStream;

/// The call of burn-roi that computes a node's first output.
pub(crate) struct Call {
    /// The expected types of the node's inputs.
    pub inputs: Vec<Input>,
    /// The sizes of the first output; those that depend on the inputs are `None`.
    pub output: Vec<Option<usize>>,
    /// The input with the feature map, whose axis 1 is the channels.
    pub features: usize,
    /// The axis of the output that is the channels.
    pub channel_axis: Option<usize>,
    pub code: Box<Code>,
    /// For each further output, the input that it is a copy of.
    pub repeated: Vec<usize>,
}

impl Call {
    /// A call whose first input is the feature map. The output has its channels on axis 1.
    pub fn new<const N: usize>(
        inputs: [Input; N],
        output: Vec<Option<usize>>,
        code: impl Fn(&[TokenStream; N]) -> TokenStream + 'static,
    ) -> Self {
        Self {
            inputs: inputs.to_vec(),
            output,
            features: 0,
            channel_axis: Some(1),
            code: Box::new(move |inputs| code(inputs.try_into().expect("the number of inputs was checked"))),
            repeated: Vec::new(),
        }
    }

    /// A call whose first input is the boxes, before `levels` feature maps. The output has their channels on axis 1.
    pub fn of_pyramid(
        boxes: Input,
        levels: usize,
        output: Vec<Option<usize>>,
        code: impl Fn(&TokenStream, &[TokenStream]) -> TokenStream + 'static,
    ) -> Self {
        let maps = std::iter::repeat_n(Input::float("feature map", 4), levels);
        Self {
            inputs: std::iter::once(boxes).chain(maps).collect(),
            output,
            features: 1,
            channel_axis: Some(1),
            code: Box::new(move |inputs| code(&inputs[0], &inputs[1..])),
            repeated: Vec::new(),
        }
    }
}

/// The expected type of an input.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    /// Its name in the operator's specification.
    pub name: &'static str,
    pub kind: Kind,
    pub rank: usize,
}

/// The expected dtype of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A float dtype, the same for all such inputs of a node.
    Float,
    Int,
}

impl Input {
    pub const fn float(name: &'static str, rank: usize) -> Self {
        let kind = Kind::Float;
        Self { name, kind, rank }
    }

    pub const fn int(name: &'static str, rank: usize) -> Self {
        let kind = Kind::Int;
        Self { name, kind, rank }
    }
}
