//! What describes a region operator: its name, how many inputs it has, and how its attributes become a call of burn-roi.

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
    /// Reads the attributes of a node with this number of inputs.
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

/// Makes the code of a call from the code of its inputs.
type Code = dyn Fn(&[TokenStream]) -> TokenStream;

/// The call of burn-roi that computes a node's first output.
pub(crate) struct Call {
    /// What the node's inputs must be.
    pub inputs: Vec<Input>,
    /// The sizes of the first output; those that depend on the inputs are `None`.
    pub output: Vec<Option<usize>>,
    /// The input with the feature map, whose axis 1 is the channels.
    pub features: usize,
    /// The axis of the output that is the channels.
    pub channel_axis: Option<usize>,
    pub code: Box<Code>,
    /// The inputs that the outputs after the first repeat.
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

/// What an input must be.
#[derive(Clone, Copy)]
pub(crate) struct Input {
    /// The operator's name for it.
    pub name: &'static str,
    pub kind: Kind,
    pub rank: usize,
}

/// What the elements of an input are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Floats, of the same dtype in all such inputs.
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
