//! [`PyramidConfig`] and `multi_scale_pool`: any operator on a feature pyramid, each region on the level of its size.

use std::ops::RangeInclusive;

use burn::tensor::{DType, Tensor};

use super::operator_config::{Operates, OperatorConfig};
use super::{call, options};
use crate::config::config;
use crate::error::{RoiError, panicking};
use crate::geometry::levels::{AreaRange, LevelRule};
use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::Coordinate;

const CANONICAL_SCALES: RangeInclusive<f64> = 1e-6..=1e6;

/// Canonical levels, and levels of maps.
const LEVELS: RangeInclusive<f64> = -32.0..=32.0;

/// Smaller areas count as 0: the smallest f32 that every device keeps.
const LEAST_AREA: f64 = f32::MIN_POSITIVE as f64;

config! {
/// Which level of a feature pyramid a region belongs to. The defaults are torchvision's;
/// [`detectron2::RoiPooler::pyramid`](crate::detectron2::RoiPooler::pyramid) returns detectron2's.
///
/// A region belongs to the level
///
/// ```text
/// floor(canonical_level + log2(sqrt(area) / canonical_scale + ratio_epsilon) + level_epsilon)
/// ```
///
/// clamped to the available levels. A pixel of level `k` is `2^k` pixels of the image wide. With `first_level`, the
/// maps are the levels `first_level`, `first_level + 1`, and so on, in their order.
///
/// [`try_multi_scale_pool`] returns [`RoiError::Option`] for a value out of its range.
///
/// ```
/// use burn_roi::PyramidConfig;
///
/// // A square box of 160 pixels belongs to the map with the scale 1/8, which is level 3.
/// let pyramid = PyramidConfig::new().with_canonical_scale(160.0).with_canonical_level(3);
/// assert_eq!(pyramid.first_level, None);
/// ```
#[derive(Debug, PartialEq)]
pub struct PyramidConfig {
    /// The side of a square box that belongs to the canonical level, in box coordinates; 1e-6 to 1e6.
    pub canonical_scale: f64 = 224.0,
    /// The level of such a box, -32 to 32.
    pub canonical_level: i32 = 4,
    /// Added to the ratio of the sides, 0 to 1.
    pub ratio_epsilon: f64 = 0.0,
    /// Added to the level, 0 to 1.
    pub level_epsilon: f64 = 1e-6,
    /// The level of the first map, -32 to 32. With it, scales may be any. If `None`, the first scale decides the level.
    pub first_level: Option<i32> = None,
    /// Whether a box without area belongs to the first map. Otherwise it returns the out-of-bounds value.
    pub pools_empty: bool = true,
}
}

impl PyramidConfig {
    /// The options, checked, as operators: one for each level, whose maps have these scales and dtypes. All dtypes are
    /// the same, or the call is refused later.
    pub(super) fn operators(
        &self,
        scales: &[f64],
        dtypes: &[DType],
        config: &impl OperatorConfig,
        has_offsets: bool,
    ) -> Result<Vec<RegionOperator>, RoiError> {
        let wrong_levels = Err(RoiError::Levels {
            features: dtypes.len(),
            scales: scales.len(),
        });
        let &[dtype, ..] = dtypes else {
            return wrong_levels;
        };
        if dtypes.len() != scales.len() {
            return wrong_levels;
        }
        let rule = self.level_rule()?;
        let first = self.first_level(scales)?;
        let least_area = |level| match dtype {
            DType::F64 => f64::least_area(&rule, level),
            _ => f32::least_area(&rule, level).into(),
        };
        let level = |(index, &scale): (usize, &f64)| {
            let level = first + index as i32;
            let mut areas = AreaRange::ALL;
            if !self.pools_empty {
                areas.from = LEAST_AREA;
            }
            if index > 0 {
                areas.from = least_area(level);
            }
            if index + 1 < scales.len() {
                areas.below = least_area(level + 1);
            }
            Ok(RegionOperator {
                areas,
                ..config.at_scale(scale, has_offsets)?
            })
        };
        scales.iter().enumerate().map(level).collect()
    }

    fn level_rule(&self) -> Result<LevelRule, RoiError> {
        let epsilons = 0.0..=1.0;
        options::within(
            "canonical_scale",
            self.canonical_scale,
            CANONICAL_SCALES,
            "0.000001 to 1000000",
        )?;
        options::within("canonical_level", self.canonical_level.into(), LEVELS, "-32 to 32")?;
        options::within("ratio_epsilon", self.ratio_epsilon, epsilons.clone(), "0 to 1")?;
        options::within("level_epsilon", self.level_epsilon, epsilons, "0 to 1")?;
        Ok(LevelRule {
            canonical_scale: self.canonical_scale,
            canonical_level: self.canonical_level,
            ratio_epsilon: self.ratio_epsilon,
            level_epsilon: self.level_epsilon,
        })
    }

    /// The level of the first map.
    fn first_level(&self, scales: &[f64]) -> Result<i32, RoiError> {
        let Some(level) = self.first_level else {
            return finest_level(scales);
        };
        options::within("first_level", level.into(), LEVELS, "-32 to 32")?;
        Ok(level)
    }
}

/// The level of the first scale. Where there are more, they are powers of two, each half of the one
/// before: a box's level is counted from the first.
fn finest_level(scales: &[f64]) -> Result<i32, RoiError> {
    let level = -scales[0].log2();
    let halves = scales.windows(2).all(|pair| pair[1] == pair[0] / 2.0);
    let fits = scales.len() == 1 || (halves && level.fract() == 0.0 && LEVELS.contains(&level));
    let expected = "powers of two between 2^-32 and 2^32, each half of the one before";
    options::check("scales", fits, format!("{scales:?}"), expected)?;
    Ok(level as i32)
}

panicking! {
/// Pools regions of a feature pyramid by any operator, each region on the level of its size.
///
/// - `features`: one map `[N, C, Hᵢ, Wᵢ]` for each level, from the finest to the coarsest, as the operator takes them.
/// - `rois`: boxes in pixels of the image, rotated boxes for `roi_align_rotated` and `riroi_align_rotated`. They have
///   the features' dtype, or f32 for features of f16 or bf16, and are on the same device. The area of a rotated box is
///   its width times its height.
/// - `scales`: from box coordinates to pixels of each map, as [`multi_scale_roi_align`](crate::multi_scale_roi_align())
///   takes them. The operator's own spatial scale is multiplied by the level's. `crop_and_resize` and
///   `ps_crop_and_resize` take normalized boxes, the same on all maps; the level follows from their normalized area.
/// - `config`: any operator's config. `deform_roi_pool` and `deform_ps_roi_pool` run without offsets here;
///   [`primitive::multi_scale_pool`](crate::primitive::multi_scale_pool()) takes offsets.
/// - Returns `[K, channels, P, Q]`: each region once, in the order given.
///
/// detectron2's `ROIPooler` does this for `ROIAlign`, `ROIPool` and `ROIAlignRotated`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RoiAlignRotatedConfig, RotatedRois, detectron2, multi_scale_pool};
///
/// let device = Device::default();
/// let features = [[56, 80], [28, 40]].map(|[h, w]| Tensor::<4>::ones([1, 8, h, w], &device)).into();
/// let boxes = Tensor::<2>::from_floats([[40.0, 40.0, 30.0, 20.0, 30.0], [150.0, 100.0, 300.0, 200.0, 80.0]], &device);
/// let operator: RoiAlignRotatedConfig = detectron2::RoiAlignRotated::new([7, 7], 1.0, 2).into();
/// let pyramid = detectron2::RoiPooler::new([7, 7]).pyramid();
/// let rois = RotatedRois::from_images(vec![boxes]);
/// let pooled = multi_scale_pool(features, &rois, &[0.25, 0.125], operator, pyramid);
/// assert_eq!(pooled.dims(), [2, 8, 7, 7]);
/// ```
pub fn multi_scale_pool<C: OperatorConfig>(
    features: Vec<Tensor<4>>,
    rois: &<C as Operates>::Rois,
    scales: &[f64],
    config: C,
    pyramid: PyramidConfig,
) -> Tensor<4>;
/// All errors of [`try_multi_scale_roi_align`](crate::try_multi_scale_roi_align), and all errors of the operator for
/// any level.
pub fn try_multi_scale_pool {
    let dtypes: Vec<_> = features.iter().map(Tensor::dtype).collect();
    let operators = pyramid.operators(scales, &dtypes, &config, false)?;
    call::pool_pyramid_tensor(features, rois, None, &config, &operators)
}
}
