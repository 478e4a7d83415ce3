//! [`AnchorGenerator3d`]: the anchors of a region proposal network on volumes. Two configs create it.

use burn::tensor::{Device, Tensor};

use super::anchor_grid::{AnchorGrid, all_positive};
use super::anchors::half_sizes_of_levels;
use super::arguments;
use super::base_anchors::{BaseAnchors, half_depth, half_side};
use crate::error::DetectionError;
use burn_roi::config;
use burn_roi::internal::or_panic;

config! {
/// The sizes, aspect ratios and depths of anchors of three axes. The defaults have the semantics of nnDetection's
/// `AnchorGenerator3D` (`nndet.core.boxes.anchors`). There x is the first axis of a map and z the last, and cells are
/// listed in that order; here x is the last axis and z the first.
///
/// Each cell of feature map l has one anchor for each depth of `depths[l]`, aspect ratio of `aspect_ratios[l]` and size
/// of `sizes[l]`. All anchors of the first depth come first, in the order of
/// [`AnchorGeneratorConfig`](crate::AnchorGeneratorConfig).
///
/// [`AnchorGenerator3dSConfig`] takes widths and heights instead of sizes and aspect ratios.
///
/// ```
/// use burn::tensor::Device;
/// use burn_roi_detection::AnchorGenerator3dConfig;
///
/// let generator = AnchorGenerator3dConfig::new(vec![vec![4.0]], vec![vec![1.0]], vec![vec![2.0, 6.0]]).init();
/// assert_eq!(generator.num_anchors_per_location(), [2]);
///
/// // A volume of 2 slices of 8 x 16 pixels, and a map of 1 x 1 x 2 cells.
/// let anchors = generator.forward([2, 8, 16], &[[1, 1, 2]], &Device::default());
/// let anchors = anchors[0].clone().try_into_vec_as::<f32>().unwrap();
/// assert_eq!(anchors[..12], [-2.0, -2.0, 2.0, 2.0, -1.0, 1.0, -2.0, -2.0, 2.0, 2.0, -3.0, 3.0]);
/// assert_eq!(anchors[12..18], [6.0, -2.0, 10.0, 2.0, -1.0, 1.0]);
/// ```
#[derive(Debug, PartialEq)]
pub struct AnchorGenerator3dConfig {
    /// For each feature map the sizes of its anchors: the square roots of their areas in the plane of x and y, in
    /// pixels of the volume. Finite and above 0.
    pub sizes: Vec<Vec<f64>>,
    /// For each feature map the aspect ratios of its anchors: height divided by width. Finite and above 0.
    pub aspect_ratios: Vec<Vec<f64>>,
    /// For each feature map the depths of its anchors: their lengths along z, in slices of the volume. Finite and
    /// above 0.
    pub depths: Vec<Vec<f64>>,
    /// Whether anchors are rounded to whole pixels, and the order of those of one depth. By default as in torchvision
    /// and nnDetection: half of the depth is rounded as half of the width is.
    pub base_anchors: BaseAnchors = BaseAnchors::Torchvision,
    /// The distance from the corner of a cell of the feature map to the centre of its anchors, as a fraction of the
    /// stride along each axis. From 0 to 1; 0 is nnDetection's.
    pub offset: f64 = 0.0,
    /// For each feature map the distance of its cells in the volume along `[D, H, W]`, in pixels, above 0. Without it
    /// the distance is `volume_size / map_size`, rounded down, as in nnDetection.
    pub strides: Option<Vec<[usize; 3]>> = None,
}
}

impl AnchorGenerator3dConfig {
    /// Creates the generator.
    ///
    /// # Panics
    ///
    /// If [`try_init`](AnchorGenerator3dConfig::try_init) returns an error, with its text.
    pub fn init(&self) -> AnchorGenerator3d {
        or_panic(self.try_init())
    }

    /// Fallible form of [`init`](AnchorGenerator3dConfig::init).
    ///
    /// # Errors
    ///
    /// - [`DetectionError::Length`]: `aspect_ratios` or `depths` does not have as many lists as `sizes`, or `strides`
    ///   not one element for each.
    /// - `RoiError::Option`: an element of `sizes`, `aspect_ratios` or `depths` is not finite and above 0, or makes an
    ///   anchor that is not finite in f32; `offset` is not from 0 to 1; or an element of `strides` has a 0.
    pub fn try_init(&self) -> Result<AnchorGenerator3d, DetectionError> {
        let in_plane = half_sizes_of_levels(self.base_anchors, &self.sizes, &self.aspect_ratios)?;
        arguments::length("depths", self.depths.len(), self.sizes.len(), "list of `sizes`")?;
        all_positive("depths", &self.depths)?;
        let mut half_sizes = Vec::with_capacity(in_plane.len());
        for (in_plane, depths) in in_plane.iter().zip(&self.depths) {
            let mut of_level = Vec::with_capacity(in_plane.len() * depths.len());
            for &depth in depths {
                let z = half_depth(self.base_anchors, depth)?;
                of_level.extend(in_plane.iter().map(|&[x, y]| [x, y, z]));
            }
            half_sizes.push(of_level);
        }
        let grid = AnchorGrid::new(half_sizes, self.offset, self.strides.as_deref(), |stride| stride)?;
        Ok(AnchorGenerator3d { grid })
    }
}

config! {
/// The widths, heights and depths of anchors of three axes. The defaults have the semantics of nnDetection's
/// `AnchorGenerator3DS` (`nndet.core.boxes.anchors`), whose axes are named as [`AnchorGenerator3dConfig`] says.
///
/// Each cell of feature map l has one anchor for each width of `widths[l]`, height of `heights[l]` and depth of
/// `depths[l]`, in the order of Python's `itertools.product(widths[l], heights[l], depths[l])`: the depth changes from
/// each anchor to the next. No side is rounded.
///
/// ```
/// use burn::tensor::Device;
/// use burn_roi_detection::AnchorGenerator3dSConfig;
///
/// let generator = AnchorGenerator3dSConfig::new(vec![vec![4.0]], vec![vec![3.0]], vec![vec![2.0, 5.0]]).init();
/// let anchors = generator.forward([2, 8, 16], &[[1, 1, 1]], &Device::default());
/// let anchors = anchors[0].clone().try_into_vec_as::<f32>().unwrap();
/// assert_eq!(anchors, [-2.0, -1.5, 2.0, 1.5, -1.0, 1.0, -2.0, -1.5, 2.0, 1.5, -2.5, 2.5]);
/// ```
#[derive(Debug, PartialEq)]
pub struct AnchorGenerator3dSConfig {
    /// For each feature map the widths of its anchors: their lengths along x, in pixels of the volume. Finite and above
    /// 0.
    pub widths: Vec<Vec<f64>>,
    /// For each feature map the heights of its anchors: their lengths along y, in pixels of the volume. Finite and
    /// above 0.
    pub heights: Vec<Vec<f64>>,
    /// As in [`AnchorGenerator3dConfig`].
    pub depths: Vec<Vec<f64>>,
    /// As in [`AnchorGenerator3dConfig`].
    pub offset: f64 = 0.0,
    /// As in [`AnchorGenerator3dConfig`].
    pub strides: Option<Vec<[usize; 3]>> = None,
}
}

impl AnchorGenerator3dSConfig {
    /// Creates the generator.
    ///
    /// # Panics
    ///
    /// If [`try_init`](AnchorGenerator3dSConfig::try_init) returns an error, with its text.
    pub fn init(&self) -> AnchorGenerator3d {
        or_panic(self.try_init())
    }

    /// Fallible form of [`init`](AnchorGenerator3dSConfig::init).
    ///
    /// # Errors
    ///
    /// - [`DetectionError::Length`]: `heights` or `depths` does not have as many lists as `widths`, or `strides` not
    ///   one element for each.
    /// - `RoiError::Option`: an element of `widths`, `heights` or `depths` is not above 0 and finite in f32; `offset`
    ///   is not from 0 to 1; or an element of `strides` has a 0.
    pub fn try_init(&self) -> Result<AnchorGenerator3d, DetectionError> {
        let maps = self.widths.len();
        let halves = |argument, sides: &[Vec<f64>]| {
            arguments::length(argument, sides.len(), maps, "list of `widths`")?;
            all_positive(argument, sides)?;
            let halves = |of_map: &Vec<f64>| of_map.iter().map(|&side| half_side(argument, side)).collect();
            sides
                .iter()
                .map(halves)
                .collect::<Result<Vec<Vec<f32>>, DetectionError>>()
        };
        let widths = halves("widths", &self.widths)?;
        let heights = halves("heights", &self.heights)?;
        let depths = halves("depths", &self.depths)?;
        let of_map = |map: usize| {
            let (heights, depths) = (&heights[map], &depths[map]);
            let of_width = |&x| {
                heights
                    .iter()
                    .flat_map(move |&y| depths.iter().map(move |&z| [x, y, z]))
            };
            widths[map].iter().flat_map(of_width).collect()
        };
        let half_sizes = (0..maps).map(of_map).collect();
        let grid = AnchorGrid::new(half_sizes, self.offset, self.strides.as_deref(), |stride| stride)?;
        Ok(AnchorGenerator3d { grid })
    }
}

/// Places anchors on feature maps `[D, H, W]`. Created by [`AnchorGenerator3dConfig::init`] or
/// [`AnchorGenerator3dSConfig::init`].
#[derive(Debug, Clone)]
pub struct AnchorGenerator3d {
    grid: AnchorGrid<3>,
}

impl AnchorGenerator3d {
    /// For each feature map the number of anchors of a cell.
    pub fn num_anchors_per_location(&self) -> Vec<usize> {
        self.grid.num_anchors_per_location()
    }

    /// The anchors of each feature map.
    ///
    /// - `volume_size`: `[depth, height, width]` of the volumes as the network gets them: the size of the batch with
    ///   its padding. It is not used if the configuration has strides.
    /// - `map_sizes`: `[D, H, W]` of each feature map. The distance of its cells in the volume is the configuration's
    ///   stride, or without strides `volume_size / map_size` rounded down.
    /// - Returns for each feature map `[D * H * W * A, 6]`, where A is its number of anchors per cell: the anchors
    ///   `[x1, y1, x2, y2, z1, z2]` in pixels of the volume, in the device's float dtype. x is along W, y along H and z
    ///   along D. The order is cell by cell, in the order of a map `[D, H, W]` in memory, and at each cell as the
    ///   config says. Anchors are not clipped to the volume.
    ///
    /// # Panics
    ///
    /// If [`try_forward`](AnchorGenerator3d::try_forward) returns an error, with its text.
    pub fn forward(&self, volume_size: [usize; 3], map_sizes: &[[usize; 3]], device: &Device) -> Vec<Tensor<2>> {
        or_panic(self.try_forward(volume_size, map_sizes, device))
    }

    /// Fallible form of [`forward`](AnchorGenerator3d::forward).
    ///
    /// # Errors
    ///
    /// - [`DetectionError::Length`]: `map_sizes` does not have one size for each feature map of the config.
    /// - `RoiError::Memory`: an element of `map_sizes` has so many anchors that no memory can hold them.
    pub fn try_forward(
        &self,
        volume_size: [usize; 3],
        map_sizes: &[[usize; 3]],
        device: &Device,
    ) -> Result<Vec<Tensor<2>>, DetectionError> {
        self.grid.anchors(volume_size, map_sizes, device)
    }
}
