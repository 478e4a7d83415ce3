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
mod tests {
    use super::*;
    use crate::ops::operator_config::Operates;
    use crate::{
        CropAndResizeConfig, DeformPsRoiPoolConfig, DeformRoiPoolConfig, PrRoiPoolConfig, PsCropAndResizeConfig,
        PsRoiAlignConfig, PsRoiPoolConfig, RoiAlignConfig, RoiAlignRotatedConfig, RoiPoolConfig, Sampling,
    };

    fn operators() -> Vec<RegionOperator> {
        let size = [7, 7];
        [
            RoiAlignConfig::new(size).with_spatial_scale(0.25).operator(false),
            RoiAlignConfig::new([1, 32_767])
                .with_sampling(Sampling::Clamped {
                    minimum: 1,
                    maximum: usize::MAX,
                })
                .operator(false),
            RoiPoolConfig::new(size).operator(false),
            CropAndResizeConfig::new(size).with_ends_exactly(true).operator(false),
            PsRoiAlignConfig::new(size).operator(false),
            PsRoiPoolConfig::new(size).operator(false),
            PrRoiPoolConfig::new(size).operator(false),
            RoiAlignRotatedConfig::new(size).operator(false),
            DeformRoiPoolConfig::new(size).operator(true),
            DeformPsRoiPoolConfig::new(size, 2).operator(false),
            PsCropAndResizeConfig::new(size, [2, 2]).operator(false),
        ]
        .map(|operator| operator.expect("the options are right"))
        .into()
    }

    #[test]
    fn an_operator_comes_back_as_it_was_sent() {
        for operator in operators() {
            let scalars = encode(&operator);
            assert!(scalars.len() < 2 + LONGEST / 16, "{} scalars", scalars.len());
            assert_eq!(decode(&scalars), Ok(operator));
        }
    }

    /// If this fails, the encoding has changed: raise [`VERSION`], and write the new numbers here.
    #[test]
    fn the_encoding_belongs_to_its_version() {
        let operator = PrRoiPoolConfig::new([7, 3]).with_spatial_scale(0.25).operator(false);
        let words = [
            2,
            54,
            0x02_0307,
            0x3f_d000,
            0x3f_d000,
            0,
            0,
            0x7ff000000000,
            0xfff000000000,
        ];
        let found = encode(&operator.expect("the options are right"));
        let found: Vec<u64> = found
            .iter()
            .map(|scalar| match scalar {
                ScalarIr::UInt(word) => *word,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(found, words);
    }

    #[test]
    fn another_version_is_named() {
        let mut scalars = encode(&operators()[0]);
        scalars[0] = ScalarIr::UInt(VERSION + 1);
        let error = decode(&scalars).unwrap_err();
        assert_eq!(error, Malformed::Version { found: VERSION + 1 });
        assert!(error.to_string().contains("version 3"), "{error}");
    }

    #[test]
    fn what_is_no_encoding_is_refused() {
        let scalars = encode(&operators()[0]);
        for length in 0..scalars.len() {
            assert!(decode(&scalars[..length]).is_err(), "{length} scalars");
        }
        let longer = [scalars.clone(), vec![ScalarIr::UInt(0)]].concat();
        assert_eq!(decode(&longer), Err(Malformed::Scalars));
        for (index, other) in [
            (0, ScalarIr::Int(1)),
            (1, ScalarIr::Float(43.0)),
            (2, ScalarIr::Bool(true)),
        ] {
            let mut changed = scalars.clone();
            changed[index] = other;
            assert_eq!(decode(&changed), Err(Malformed::Scalars));
        }
        for length in [u64::MAX, 513, 0] {
            let mut changed = scalars.clone();
            changed[1] = ScalarIr::UInt(length);
            assert_eq!(decode(&changed), Err(Malformed::Scalars));
        }
        let mut changed = scalars.clone();
        // Output size, and then a kind of elements that there is not.
        changed[2] = ScalarIr::UInt(0x0009_0707);
        assert_eq!(decode(&changed), Err(Malformed::Encoding));
    }
}
