//! The region operators: for each, its name, its attributes, and the call of burn-roi that computes it.

use std::ops::RangeInclusive;

use burn_onnx::ext::proc_macro2::TokenStream;

use crate::attributes::Attributes;
use crate::error::Error;

mod microsoft;
mod mmcv;
mod onnx;
mod openvino;
mod paste_masks;
mod pyramid;
mod tensorrt;

/// The operator set that `RoiAlign` and `MaxRoiPool` are moved to, since burn-onnx refuses them in their own.
pub(crate) const DOMAIN: &str = "burn_roi";

/// The operator of [`DOMAIN`] that stands for torchvision's loop over masks.
pub(crate) const PASTE_MASKS: &str = "PasteMasks";

/// The operator of [`DOMAIN`] that pools from a feature pyramid.
pub(crate) const MULTI_SCALE_ROI_ALIGN: &str = "MultiScaleRoiAlign";

/// The newest version of the default operator set that burn-onnx reads.
pub(crate) const NEWEST_VERSION: usize = 24;

/// The most feature maps that a pyramid may have. Detectors have 4 or 5.
const MAXIMUM_LEVELS: usize = 16;

/// An operator of an operator set.
pub(crate) struct Operator {
    pub domain: &'static str,
    pub name: &'static str,
    /// The versions of the operator set that have the operator as it is here.
    pub versions: RangeInclusive<usize>,
    /// How many inputs it has.
    pub inputs: RangeInclusive<usize>,
    /// How many outputs it has.
    pub outputs: RangeInclusive<usize>,
    /// Reads the attributes of a node that has so many inputs.
    pub read: fn(&Attributes, usize) -> Result<Call, Error>,
}

/// The code of a call, made from that of its inputs.
type Code = dyn Fn(&[TokenStream]) -> TokenStream;

/// What a node computes.
pub(crate) struct Call {
    /// What its inputs must be.
    pub inputs: Vec<Input>,
    /// The sizes of its first output; those that depend on the inputs are `None`.
    pub output: Vec<Option<usize>>,
    /// Which input has as many channels as the first output's sizes have at an index.
    pub channels: Channels,
    /// The code of the first output, from those of the inputs.
    pub code: Box<Code>,
    /// The inputs that the outputs after the first repeat.
    pub repeated: Vec<usize>,
}

/// Where the number of channels comes from.
#[derive(Clone, Copy)]
pub(crate) struct Channels {
    /// The input that has them, as its second size.
    pub of_input: usize,
    /// Their place among the sizes of the output; beyond them if the output has none.
    pub at: usize,
}

impl Channels {
    /// Those of the first input, after the number of regions.
    pub const OF_FEATURES: Self = Self { of_input: 0, at: 1 };

    /// None: the output has other sizes.
    pub const NONE: Self = Self {
        of_input: 0,
        at: usize::MAX,
    };
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

/// All operators.
pub(crate) fn all() -> impl Iterator<Item = &'static Operator> {
    [
        onnx::OPERATORS,
        microsoft::OPERATORS,
        mmcv::OPERATORS,
        tensorrt::OPERATORS,
        openvino::OPERATORS,
        paste_masks::OPERATORS,
        pyramid::OPERATORS,
    ]
    .into_iter()
    .flatten()
}

/// The operator of a name in an operator set.
pub(crate) fn find(domain: &str, name: &str) -> Option<&'static Operator> {
    all().find(|operator| operator.domain == domain && operator.name == name)
}
