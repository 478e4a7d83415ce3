//! The description of a region operator: its name, its inputs, and how its attributes become a call of burn-roi.

use std::ops::RangeInclusive;

use burn_onnx::ext::proc_macro2::TokenStream;

use crate::error::Error;
use crate::operators::attributes::Attributes;

/// How many inputs an operator on a feature pyramid has: boxes, and up to 16 feature maps. Detectors have 4 or 5.
pub(super) const BOXES_AND_MAPS: RangeInclusive<usize> = 2..=17;

/// The versions of an operator set whose operators never changed.
pub(super) const ANY_VERSION: RangeInclusive<usize> = 1..=usize::MAX;

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
    pub read: Read,
}

/// Reads the attributes of a node. The second argument is its number of inputs.
pub(super) type Read = fn(&Attributes, usize) -> Result<Call, Error>;

impl Operator {
    /// An operator with one output.
    pub const fn new(
        domain: &'static str,
        name: &'static str,
        versions: RangeInclusive<usize>,
        inputs: RangeInclusive<usize>,
        read: Read,
    ) -> Self {
        Self {
            domain,
            name,
            versions,
            inputs,
            outputs: 1..=1,
            read,
        }
    }

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
    /// The rank of the first output. Its last two axes are the height and the width, and the axis before them is the
    /// channels if its rank is above 3.
    pub rank: usize,
    /// The height and the width of the first output, if the attributes have them.
    pub size: Option<[usize; 2]>,
    /// The input with the feature map, whose axis 1 is the channels.
    pub features: usize,
    pub code: Box<Code>,
    /// For each further output, the input that it is a copy of.
    pub repeated: Vec<usize>,
}

impl Call {
    /// A call whose first input is the feature map.
    pub fn new<const N: usize>(
        inputs: [Input; N],
        rank: usize,
        size: Option<[usize; 2]>,
        code: impl Fn(&[TokenStream; N]) -> TokenStream + 'static,
    ) -> Self {
        Self {
            inputs: inputs.to_vec(),
            rank,
            size,
            features: 0,
            code: Box::new(move |inputs| code(inputs.try_into().expect("the number of inputs was checked"))),
            repeated: Vec::new(),
        }
    }

    /// A call whose inputs are the boxes and then feature maps.
    pub fn of_pyramid(
        boxes: Input,
        inputs: usize,
        size: [usize; 2],
        code: impl Fn(&TokenStream, &[TokenStream]) -> TokenStream + 'static,
    ) -> Self {
        let maps = std::iter::repeat_n(Input::float("feature map", 4), inputs - 1);
        Self {
            inputs: std::iter::once(boxes).chain(maps).collect(),
            rank: boxes.rank + 2,
            size: Some(size),
            features: 1,
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
