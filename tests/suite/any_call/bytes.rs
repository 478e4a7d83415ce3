//! Reading a call from bytes.
//!
//! The corpus in `fuzz/regressions` is bytes: a change of what is read in which order makes it mean
//! something else.

use std::ops::{Deref, DerefMut};

use arbitrary::{Result, Unstructured};
use burn::tensor::{DType, IntDType};
use burn_roi::*;

use super::configs::{offset, operator};
use super::{AnyCall, OutputGradient, Pyramid};
use crate::problem::{Layout, Operator};

impl AnyCall {
    /// Reads a call; where the bytes end, zeros follow.
    pub fn read(bytes: &[u8]) -> Self {
        let mut bytes = Bytes {
            left: Unstructured::new(bytes),
            careless: false,
        };
        Self::from_bytes(&mut bytes).expect("zeros should follow")
    }

    fn from_bytes(bytes: &mut Bytes) -> Result<Self> {
        bytes.careless = bytes.int_in_range(0..=3)? == 3u8;
        let dtype = *bytes.choose(&[DType::F32, DType::F32, DType::F64, DType::F16, DType::BF16])?;
        let shape = [size(bytes, 2)?, size(bytes, 20)?, size(bytes, 13)?, size(bytes, 13)?];
        let operator = operator(bytes)?;
        let count = bytes.int_in_range(0..=5)?;
        let columns = if rarely(bytes)? { bytes.int_in_range(0..=6)? } else { 4 };
        let farthest = if dtype == DType::F16 { 65_504.0 } else { 3e38 };
        let aligns = matches!(operator, Operator::RoiAlign(_));
        let unit = matches!(operator, Operator::CropAndResize(_));
        let boxes = (0..count * columns)
            .map(|_| {
                let coordinate = coordinate(bytes)? * if unit { 1.0 / 16.0 } else { 1.0 };
                let right = coordinate.is_finite() && coordinate.abs() <= farthest;
                Ok(if right || bytes.careless { coordinate } else { 1.5 })
            })
            .collect::<Result<_>>()?;
        let index_dtype = *bytes.choose(&[
            IntDType::I64,
            IntDType::I32,
            IntDType::I16,
            IntDType::I8,
            IntDType::U64,
            IntDType::U32,
            IntDType::U16,
            IntDType::U8,
        ])?;
        let indices = match rarely(bytes)? {
            true => bytes.int_in_range(0..=5)?,
            false => count,
        };
        let mut call = Self {
            operator,
            shape,
            dtype,
            columns,
            boxes,
            indices: (0..indices)
                .map(|_| batch_index(bytes, shape[0]))
                .collect::<Result<_>>()?,
            index_dtype,
            box_dtype: match rarely(bytes)? {
                true => *bytes.choose(&[DType::F32, DType::F16, DType::F64])?,
                false => dtype,
            },
            layout: *bytes.choose(&[
                Layout::Contiguous,
                Layout::ChannelsLast,
                Layout::Transposed,
                Layout::Sliced,
                Layout::Expanded,
            ])?,
            seed: bytes.arbitrary()?,
            pyramid: if aligns { pyramid(bytes)? } else { None },
            gradient: None,
        };
        // Last, so that the corpus means what it did before there were such operators, and gradients.
        if bytes.int_in_range(0..=3)? == 3u8 {
            call.become_position_sensitive(bytes)?;
        }
        if bytes.arbitrary()? {
            call.gradient = Some(gradient(bytes, call.dtype)?);
        }
        if bytes.int_in_range(0..=3)? == 3u8 {
            call.become_precise();
        }
        if let Operator::RoiAlign(config) = &mut call.operator
            && bytes.int_in_range(0..=3)? == 3u8
        {
            config.arithmetic = Arithmetic::FromRegionInElements;
            config.end_offset = offset(bytes)?;
            if bytes.arbitrary()? {
                config.sampling = Sampling::AdaptiveFloor;
            }
        }
        if let Operator::RoiPool(config) = &mut call.operator
            && bytes.int_in_range(0..=3)? == 3u8
        {
            config.rounding = *bytes.choose(&[BoxRounding::Never, BoxRounding::BeforeScaling])?;
            config.minimum_length = *bytes.choose(&[None, Some(0.0), Some(1.0), Some(2.0), Some(0.5), Some(-1.0)])?;
            config.maximum_from = *bytes.choose(&[
                MaximumFrom::LeastSingle,
                MaximumFrom::Least,
                MaximumFrom::NegativeInfinity,
            ])?;
        }
        // As automatic mixed precision has them.
        if matches!(call.dtype, DType::F16 | DType::BF16) && bytes.arbitrary()? {
            call.box_dtype = DType::F32;
        }
        if rarely(bytes)? {
            call.become_too_large();
        }
        Ok(call)
    }

    /// Becomes a call whose output no memory holds, by a channel that is seen as many.
    fn become_too_large(&mut self) {
        if self.gradient.is_none() && self.count() > 0 && !self.shape.contains(&0) {
            self.layout = Layout::Expanded;
            self.shape[1] = 1 << 40;
        }
    }

    /// Becomes the position-sensitive operator of the same options, if its channels are not too many.
    fn become_position_sensitive(&mut self, bytes: &mut Bytes) -> Result<()> {
        let operator = match &self.operator {
            Operator::RoiAlign(config) => Operator::PsRoiAlign(
                PsRoiAlignConfig::new(config.output_size)
                    .with_spatial_scale(config.spatial_scale_y)
                    .with_sampling(config.sampling),
            ),
            Operator::RoiPool(config) => {
                Operator::PsRoiPool(PsRoiPoolConfig::new(config.output_size).with_spatial_scale(config.spatial_scale_y))
            }
            _ => return Ok(()),
        };
        if operator.input_channels() <= 36 {
            let [_, channels, ..] = &mut self.shape;
            *channels = match rarely(bytes)? {
                true => bytes.int_in_range(0..=40)?,
                false => *channels * operator.input_channels(),
            };
            self.operator = operator;
            self.pyramid = None;
        }
        Ok(())
    }

    /// Becomes the operator that integrates, of the same output size and scale.
    fn become_precise(&mut self) {
        let (size, scale) = match &self.operator {
            Operator::RoiAlign(config) => (config.output_size, config.spatial_scale_y),
            Operator::RoiPool(config) => (config.output_size, config.spatial_scale_y),
            _ => return,
        };
        self.operator = Operator::PrRoiPool(PrRoiPoolConfig::new(size).with_spatial_scale(scale));
        self.pyramid = None;
    }
}

/// The bytes that are left to read.
pub struct Bytes<'a> {
    left: Unstructured<'a>,
    /// Whether the call may be wrong: three of four are right in everything.
    pub careless: bool,
}

impl<'a> Deref for Bytes<'a> {
    type Target = Unstructured<'a>;

    fn deref(&self) -> &Self::Target {
        &self.left
    }
}

impl DerefMut for Bytes<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.left
    }
}

/// Once in sixteen times, where a call may be wrong.
pub fn rarely(bytes: &mut Bytes) -> Result<bool> {
    Ok(bytes.careless && bytes.int_in_range(0..=15)? == 15u8)
}

/// A size of a tensor up to `most`, where 0 and 1 are not rare.
fn size(bytes: &mut Bytes, most: usize) -> Result<usize> {
    match bytes.int_in_range(0..=9)? {
        0u8 if bytes.careless => Ok(0),
        0..=2 => Ok(1),
        _ => bytes.int_in_range(1..=most),
    }
}

/// A coordinate around a map of up to 13 pixels.
fn coordinate(bytes: &mut Bytes) -> Result<f64> {
    const SPECIAL: [f64; 24] = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        1e-40,
        -1e-40,
        f32::MIN_POSITIVE as f64,
        f32::EPSILON as f64,
        3e38,
        -3e38,
        f32::MAX as f64,
        f32::MIN as f64,
        1e9,
        -1e9,
        1e4,
        -1e4,
        16_777_216.0,
        2_147_483_648.0,
        -2_147_483_649.0,
        1e300,
        -1e300,
        65_504.0,
        5e-324,
    ];
    Ok(match bytes.int_in_range(0..=15)? {
        // On the borders of pixels, of halves, and of bins of thirds, fifths and sevenths.
        0..=3u8 => bytes.int_in_range(-16..=40)? as f64 / 2.0,
        4 => bytes.int_in_range(-30..=90)? as f64 / 3.0,
        5 => bytes.int_in_range(-50..=150)? as f64 / 5.0,
        6 => bytes.int_in_range(-70..=210)? as f64 / 7.0,
        7..=12 => bytes.int_in_range(-8_388_608..=16_777_216)? as f64 / 1_048_576.0,
        13 => bytes.int_in_range(-1_000_000..=1_000_000)? as f64,
        14 => *bytes.choose(&SPECIAL)?,
        _ => f32::from_bits(bytes.arbitrary()?).into(),
    })
}

fn batch_index(bytes: &mut Bytes, batch: usize) -> Result<i64> {
    let batch = batch as i64;
    match bytes.int_in_range(0..=31)? {
        0u8 if bytes.careless => bytes.arbitrary(),
        1 if bytes.careless => {
            Ok(*bytes.choose(&[-1, batch, i64::MIN, i64::MAX, 1 << 32, (1 << 32) - 1, 1 << 31, 256])?)
        }
        _ => bytes.int_in_range(0..=(batch - 1).max(0)),
    }
}

fn pyramid(bytes: &mut Bytes) -> Result<Option<Pyramid>> {
    let levels: usize = bytes.int_in_range(0..=7)?;
    if levels < 5 {
        return Ok(None);
    }
    let first = *bytes.choose(&[1.0, 0.25, 4.0])?;
    Ok(Some(Pyramid {
        scales: (0..levels - 3).map(|level| first / f64::from(1 << level)).collect(),
        canonical_scale: *bytes.choose(&[4.0, 8.0, 224.0])?,
        canonical_level: bytes.int_in_range(-1..=3)?,
        ratio_epsilon: *bytes.choose(&[0.0, 1e-8])?,
        level_epsilon: *bytes.choose(&[1e-6, 0.0])?,
    }))
}

fn gradient(bytes: &mut Bytes, dtype: DType) -> Result<OutputGradient> {
    let mut longer = [0; 4];
    if rarely(bytes)? {
        longer[bytes.int_in_range(0..=3)?] = 1;
    }
    Ok(OutputGradient {
        longer,
        dtype: match rarely(bytes)? {
            true => *bytes.choose(&[DType::F32, DType::F16, DType::F64])?,
            false => dtype,
        },
        special: match bytes.int_in_range(0..=7)? {
            0u8 => Some((bytes.arbitrary()?, f32::NAN)),
            _ => None,
        },
    })
}
