//! How a config of three axes becomes two operators of maps.

use std::fmt::Debug;

use crate::backend::MaximumOfSamples;
use crate::error::RoiError;
use crate::geometry::operator::{BinAxis, Elements, RegionOperator, SampleAxis};
use crate::geometry::options::{BinDivision, BoxFormat};
use crate::ops::{RoiAlignConfig, RoiPoolConfig};

/// How a config of three axes becomes operators of two.
pub trait Operates3d: Clone + Debug + Send + Sync + 'static {
    /// The name of the option, and the depth, height and width of the output.
    fn output_size(&self) -> (&'static str, [usize; 3]);

    /// The samples of an element, if an element is a maximum of samples.
    fn maximum(&self) -> Result<Option<MaximumOfSamples>, RoiError> {
        Ok(None)
    }

    /// The operator along two of the axes z (0), y (1) and x (2), with its options checked. With a
    /// [`maximum`](Self::maximum), its elements are single samples.
    fn operator(&self, axes: [usize; 2]) -> Result<RegionOperator, RoiError>;
}

/// The operator of all slices, on boxes `[x1, y1, x2, y2]`.
pub fn of_slices(config: &impl Operates3d) -> Result<RegionOperator, RoiError> {
    Ok(RegionOperator {
        box_format: BoxFormat::Xyxy,
        ..config.operator([1, 2])?
    })
}

/// The operator along the depth. Its boxes are `[0, z1, columns, z2]`, and it returns each column as it is.
pub fn of_depths(config: &impl Operates3d, planes: usize, columns: usize) -> Result<RegionOperator, RoiError> {
    let mut operator = config.operator([0, 0])?;
    operator.output_size = [planes, columns];
    operator.box_format = BoxFormat::Xyxy;
    match &mut operator.elements {
        Elements::Samples([z, x]) => *x = columns_of_samples(z),
        Elements::Bins([_, x]) => *x = columns_of_bins(),
        Elements::Integrals(_) | Elements::Points(_) => unreachable!("no operator of volumes has them"),
    }
    Ok(operator)
}

/// The axis that keeps columns, beside an axis along the depth: sample s lies at (s + 0.5) - 0.5, on pixel s.
pub fn columns_of_samples(z: &SampleAxis) -> SampleAxis {
    let config = RoiAlignConfig::new([1, 1]).with_aligned(true).with_sampling_ratio(1);
    SampleAxis {
        interpolation: z.interpolation,
        half_up: z.half_up,
        flat_on_pixels: z.flat_on_pixels,
        ..config.axis(1.0)
    }
}

/// The axis that keeps columns: bin p has pixel p alone.
pub fn columns_of_bins() -> BinAxis {
    let config = RoiPoolConfig::new([1, 1]).with_division(BinDivision::Whole);
    BinAxis {
        inclusive_end: false,
        minimum_length: 0.0,
        ..config.axis(1.0)
    }
}
