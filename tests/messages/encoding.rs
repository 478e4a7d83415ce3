//! The scalars of an operator.

use super::*;
use crate::ops::operator_config::ToRegionOperator;
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
