//! What travels of a call beside its tensors: the name of the operation, and the operator as scalars.
//!
//! The scalars of a [`CustomOpIr`](burn_ir::CustomOpIr) are the version, the length of the encoding in bytes, and the
//! encoding in words of eight bytes, the lowest byte first. The encoding is postcard's of [`RegionOperator`].

use burn_ir::ScalarIr;
use thiserror::Error;

use crate::geometry::operator::RegionOperator;

/// The version of the encoding. It changes with the encoding of any operator.
pub const VERSION: u64 = 2;

/// The longest encoding in bytes. That of `roi_align`, the longest one, has fewer than 256.
const LONGEST: usize = 512;

/// The name of the operation that says what a server can do. It takes no tensor.
pub const ABOUT: &str = "burn_roi.about";

/// What a server computes for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// From features, boxes and batch indices.
    Pool,
    /// From those and what finer levels have pooled.
    PoolLevel,
    /// From the gradient of the output, boxes and batch indices.
    AverageGradient,
    /// From features, boxes, batch indices and the gradient of the output.
    MaximumGradient,
    /// From the same.
    BoxesGradient,
}

impl Operation {
    pub const ALL: [Self; 5] = [
        Self::Pool,
        Self::PoolLevel,
        Self::AverageGradient,
        Self::MaximumGradient,
        Self::BoxesGradient,
    ];

    /// The name under which a server finds it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Pool => "burn_roi.pool",
            Self::PoolLevel => "burn_roi.pool_level",
            Self::AverageGradient => "burn_roi.average_gradient",
            Self::MaximumGradient => "burn_roi.maximum_gradient",
            Self::BoxesGradient => "burn_roi.boxes_gradient",
        }
    }

    /// The tensors that it takes, in order.
    pub const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Pool => &["features", "boxes", "batch_indices"],
            Self::PoolLevel => &["features", "boxes", "batch_indices", "pooled"],
            Self::AverageGradient => &["output_gradient", "boxes", "batch_indices"],
            Self::MaximumGradient | Self::BoxesGradient => &["features", "boxes", "batch_indices", "output_gradient"],
        }
    }
}

/// What is wrong with scalars.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Malformed {
    /// Another version of this crate sent them.
    #[error(
        "the message has version {found} of the region operators, and this server has version {VERSION}: the client \
        and the server must be built with versions of burn-roi that have the same one"
    )]
    Version { found: u64 },
    /// They are no encoding.
    #[error("the scalars of the message must be unsigned: a version, a length of at most {LONGEST} bytes, and as many")]
    Scalars,
    /// They encode no operator.
    #[error("the scalars of the message encode no region operator")]
    Encoding,
}

/// An operator as scalars.
pub fn encode(operator: &RegionOperator) -> Vec<ScalarIr> {
    let bytes = postcard::to_allocvec(operator).expect("a value of numbers and choices has an encoding");
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let words = [VERSION, bytes.len() as u64].into_iter().chain(words);
    words.map(ScalarIr::UInt).collect()
}

/// The operator that scalars encode, which may be of any sender and is not checked.
///
/// # Errors
///
/// [`Malformed`].
pub fn decode(scalars: &[ScalarIr]) -> Result<RegionOperator, Malformed> {
    let word = |scalar: &ScalarIr| match scalar {
        ScalarIr::UInt(word) => Ok(*word),
        _ => Err(Malformed::Scalars),
    };
    let [version, length, words @ ..] = scalars else {
        return Err(Malformed::Scalars);
    };
    match word(version)? {
        VERSION => {}
        found => return Err(Malformed::Version { found }),
    }
    let length = usize::try_from(word(length)?).map_err(|_| Malformed::Scalars)?;
    if length > LONGEST || words.len() != length.div_ceil(8) {
        return Err(Malformed::Scalars);
    }
    let mut bytes = Vec::with_capacity(8 * words.len());
    for scalar in words {
        bytes.extend(word(scalar)?.to_le_bytes());
    }
    let padding = bytes.split_off(length);
    match postcard::take_from_bytes(&bytes) {
        Ok((operator, [])) if padding.iter().all(|&byte| byte == 0) => Ok(operator),
        _ => Err(Malformed::Encoding),
    }
}

#[cfg(test)]
#[path = "../../../tests/messages/encoding.rs"]
mod tests;
