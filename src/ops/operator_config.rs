//! What the configs of all operators have in common, and [`Pool`], which makes a module of each.

use std::fmt::Debug;

use burn::module::Module;
use burn::tensor::Tensor;

use super::{MultiScaleRoiAlignConfig, call, options};
use crate::error::{RoiError, or_panic};
use crate::geometry::operator::RegionOperator;
use crate::regions::RegionTable;

/// The config of an operator that a backend computes in one call: of all operators but
/// [`riroi_align_rotated`](crate::riroi_align_rotated()) and [`deform_ps_roi_pool`](crate::deform_ps_roi_pool()), which
/// are several operations. No other crate can implement it.
///
/// [`primitive::pool`](crate::primitive::pool), its gradients and [`multi_scale_pool`](crate::multi_scale_pool()) take
/// any of them.
pub trait OperatorConfig: Operates {}

impl<C: Operates> OperatorConfig for C {}

/// The config of any operator, as [`Pool`] has it. No other crate can implement it.
pub trait PoolConfig: Sealed + Clone + Debug + Send + Sync + 'static {}

/// What keeps other crates from implementing [`PoolConfig`].
pub trait Sealed {}

impl<C: Pools> Sealed for C {}
impl<C: Pools> PoolConfig for C {}
impl Sealed for MultiScaleRoiAlignConfig {}
impl PoolConfig for MultiScaleRoiAlignConfig {}

/// How a config becomes a call.
pub trait Pools: Clone + Debug + Send + Sync + 'static {
    /// [`Rois`](crate::Rois), or [`RotatedRois`](crate::RotatedRois) for rotated boxes.
    type Rois;

    fn try_pool(&self, features: Tensor<4>, rois: &Self::Rois) -> Result<Tensor<4>, RoiError>;
}

/// How a config becomes a [`RegionOperator`].
pub trait Operates: Clone + Debug + Send + Sync + 'static {
    /// [`Rois`](crate::Rois), or [`RotatedRois`](crate::RotatedRois) for rotated boxes.
    type Rois: RegionTable;

    /// The options, checked, as an operator of regions with or without offsets.
    fn operator(&self, has_offsets: bool) -> Result<RegionOperator, RoiError>;

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

impl<C: Operates> Pools for C {
    type Rois = C::Rois;

    fn try_pool(&self, features: Tensor<4>, rois: &C::Rois) -> Result<Tensor<4>, RoiError> {
        call::pool_tensor(features, rois.regions(), self.operator(false)?)
    }
}

/// An operator as a module: [`RoiAlign`](crate::RoiAlign) is `Pool<RoiAlignConfig>`, and so on. The config's `init`
/// creates it.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_roi::{RoiAlign, RoiAlignConfig, Rois};
///
/// let device = Device::default();
/// let roi_align: RoiAlign = RoiAlignConfig::new([7, 7]).with_spatial_scale(0.25).init();
/// let features = Tensor::<4>::ones([1, 8, 50, 76], &device);
/// let boxes = Tensor::<2>::from_floats([[16.0, 16.0, 240.0, 128.0]], &device);
/// let pooled = roi_align.forward(features, &Rois::from_images(vec![boxes]));
/// assert_eq!(pooled.dims(), [1, 8, 7, 7]);
/// ```
#[derive(Module, Debug)]
pub struct Pool<C: PoolConfig> {
    /// What it computes.
    #[module(skip)]
    pub config: C,
}

impl<C: PoolConfig> Pool<C> {
    pub(super) fn of(config: &C) -> Self {
        Self { config: config.clone() }
    }
}

impl<C: Pools> Pool<C> {
    /// Applies the operator: features `[N, C, H, W]` and K regions to `[K, channels, P, Q]`, without offsets.
    ///
    /// # Panics
    ///
    /// As the operator's function does.
    pub fn forward(&self, features: Tensor<4>, rois: &C::Rois) -> Tensor<4> {
        or_panic(self.config.try_pool(features, rois))
    }
}
