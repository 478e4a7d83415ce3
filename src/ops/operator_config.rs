//! What the configs of all operators have in common.

use std::fmt::Debug;

use super::arguments::Arguments;
use super::options;
use crate::backend::RoiBackend;
use crate::error::RoiError;
use crate::geometry::operator::RegionOperator;
use crate::regions::RegionTable;

/// The config of an operator on one map. No other crate can implement it.
///
/// [`primitive::pool`](crate::primitive::pool), its gradients and [`multi_scale_pool`](crate::multi_scale_pool()) take
/// any of them.
pub trait OperatorConfig: Operates {}

impl<C: Operates> OperatorConfig for C {}

/// What `operator!` says of a config: the kind of its regions, and which of its options are scales.
pub trait Operates: ToRegionOperator {
    /// [`Rois`](crate::Rois), or [`RotatedRois`](crate::RotatedRois) for rotated boxes.
    type Rois: RegionTable;

    /// What a level of a pyramid multiplies by its scale.
    fn spatial_scales(&mut self) -> Vec<&mut f64>;

    /// The operator on the map of a pyramid that has this scale.
    fn at_scale(&self, scale: f64, has_offsets: bool) -> Result<RegionOperator, RoiError> {
        // The operator's own scales are checked under their names.
        self.operator(has_offsets)?;
        options::scale("scales", scale)?;
        let mut config = self.clone();
        for own in config.spatial_scales() {
            *own *= scale;
            options::scale("scales", *own)?;
        }
        config.operator(has_offsets)
    }
}

/// How a config becomes a [`RegionOperator`], and what its operator computes around that.
pub trait ToRegionOperator: Clone + Debug + Send + Sync + 'static {
    /// The options, checked, as an operator of regions with or without offsets.
    fn operator(&self, has_offsets: bool) -> Result<RegionOperator, RoiError>;

    /// The calls of a backend that make up a call, at least one: each pools channels of its own.
    fn parts<B: RoiBackend>(&self, arguments: Arguments<B>) -> Result<Vec<Arguments<B>>, RoiError> {
        Ok(vec![arguments])
    }

    /// How many orientation channels turn with their box, if some do.
    fn orientations(&self) -> Option<usize> {
        None
    }
}

/// Gives configs a setter of the frameworks' `sampling_ratio`.
macro_rules! sampling_ratio {
    ($($config:ident),+) => {
        $(impl super::$config {
            /// Takes `sampling_ratio` samples an output element along each axis; 0 for the adaptive number.
            pub fn with_sampling_ratio(self, sampling_ratio: usize) -> Self {
                self.with_sampling($crate::geometry::options::Sampling::of_ratio(sampling_ratio))
            }
        })+
    };
}

sampling_ratio!(
    RoiAlignConfig,
    PsRoiAlignConfig,
    RoiAlignRotatedConfig,
    RiRoiAlignRotatedConfig,
    DeformRoiPoolConfig
);
