//! What a region operator computes, as a value. Backends know these values, and no operator or framework.

use super::levels::AreaRange;
use super::options::{Arithmetic, BinDivision, Bounds, BoxFormat, BoxRounding, Interpolation, Reduction, Sampling};
use super::point_grid::{Placement, PointGrid};

/// A region operator: where its output elements read, and how they reduce what they read to one value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub struct RegionOperator {
    /// Height P and width Q of the output.
    pub output_size: [usize; 2],
    /// Where output elements read.
    pub elements: Elements,
    /// How an element reduces what it reads to one value.
    pub reduction: Reduction,
    /// The value of a sample out of bounds, and of an element that reads nothing.
    pub out_of_bounds_value: f64,
    /// What the columns of a box are.
    pub box_format: BoxFormat,
    /// Which channel of the features an output element reads.
    pub channel_map: ChannelMap,
    /// The boxes that are pooled, by their areas. The output rows of others are left as they are.
    pub areas: AreaRange,
    /// What a maximum starts from: the value of an element whose pixels are all smaller or NaN.
    pub maximum_from: f64,
}

impl RegionOperator {
    /// An average: 0 outside, boxes `[x1, y1, x2, y2]` of any area, and each channel from its own.
    pub fn average(output_size: [usize; 2], elements: Elements) -> Self {
        Self {
            output_size,
            elements,
            reduction: Reduction::Average,
            out_of_bounds_value: 0.0,
            box_format: BoxFormat::Xyxy,
            channel_map: ChannelMap::Same,
            areas: AreaRange::ALL,
            maximum_from: f64::NEG_INFINITY,
        }
    }

    /// The value of an element that reads nothing, and of all elements of a region with an invalid batch index.
    pub fn value_without_pixels(&self) -> f64 {
        match self.reduction {
            Reduction::MaxFromZero => self.out_of_bounds_value.max(0.0),
            _ => self.out_of_bounds_value,
        }
    }

    /// Whether the gradient of boxes can be other than 0: not if elements read nearest or whole pixels.
    pub fn moves_with_boxes(&self) -> bool {
        match &self.elements {
            Elements::Samples(axes) => axes.iter().any(|axis| axis.interpolation == Interpolation::Bilinear),
            Elements::Bins(_) => false,
            Elements::Integrals(_) => true,
            Elements::Points(grid) => grid.moves_with_region(),
        }
    }

    /// What the columns of a region are.
    pub fn region_kind(&self) -> RegionKind {
        match &self.elements {
            Elements::Points(grid) if matches!(grid.placement, Placement::Rotated { .. }) => RegionKind::Rotated,
            Elements::Points(grid) if grid.parts() != [0, 0] => RegionKind::Offsets(grid.parts()),
            _ => RegionKind::Box,
        }
    }

    /// The operator whose transpose is the gradient of features: this one, but for torchvision's gradient of
    /// `ps_roi_pool`.
    pub fn gradient_operator(&self) -> Self {
        let mut operator = *self;
        if let Elements::Bins(axes) = &mut operator.elements {
            for axis in axes {
                axis.reaches_last_pixel |= axis.gradient_reaches_last_pixel;
            }
        }
        operator
    }

    /// Whether a sample on a pixel has no slope, rather than the slope towards the next pixel.
    pub fn flat_on_pixels(&self) -> bool {
        match &self.elements {
            Elements::Samples([y, _]) => y.flat_on_pixels,
            Elements::Bins(_) | Elements::Integrals(_) | Elements::Points(_) => false,
        }
    }
}

/// What the columns of a region are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionKind {
    /// A box, in the order of [`BoxFormat`].
    Box,
    /// `[center x, center y, width, height, angle]`.
    Rotated,
    /// A box, then the offsets of this many parts of it along y and along x: `[2, parts y, parts x]`.
    Offsets([usize; 2]),
}

impl RegionKind {
    pub const fn columns(self) -> usize {
        let [rows, columns] = self.offset_parts();
        self.box_columns() + 2 * rows * columns
    }

    /// How many of them are the box.
    pub const fn box_columns(self) -> usize {
        match self {
            Self::Rotated => 5,
            Self::Box | Self::Offsets(_) => 4,
        }
    }

    /// How many parts of a region have an offset, along y and along x.
    pub const fn offset_parts(self) -> [usize; 2] {
        match self {
            Self::Offsets(parts) => parts,
            Self::Box | Self::Rotated => [0, 0],
        }
    }
}

/// Where output elements read, along y and then along x.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub enum Elements {
    /// At points between pixels.
    Samples([SampleAxis; 2]),
    /// Whole pixels.
    Bins([BinAxis; 2]),
    /// All of a bin of the bilinear map, which falls to 0 within a pixel beyond its border. The numbers are the scales
    /// from box coordinates to pixels of the map.
    Integrals([f64; 2]),
    /// At points between pixels that are not a grid of rows and columns of the map.
    Points(PointGrid),
}

/// Where the samples of a region fall along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub struct SampleAxis {
    /// From box coordinates to pixels of the map.
    pub spatial_scale: SpatialScale,
    /// Added to a box coordinate before it is scaled.
    pub box_offset: f64,
    /// Added to the high end of a box before anything else.
    pub end_offset: f64,
    /// Subtracted from a scaled coordinate.
    pub input_pixel_offset: f64,
    /// Subtracted from the index of a sample.
    pub output_pixel_offset: f64,
    /// The least length of a region in pixels, if there is one.
    pub minimum_length: Option<f64>,
    /// How many samples an output element takes.
    pub sampling: Sampling,
    /// Whether the outermost samples lie on the corners of the region.
    pub align_corners: bool,
    /// The index of the sample that is put exactly at the scaled high end of the region, if there is one. Without it,
    /// rounding can put the last sample next to the end.
    pub sample_at_end: Option<usize>,
    pub bounds: Bounds,
    /// What a sample between pixels reads.
    pub interpolation: Interpolation,
    /// Whether the nearest pixel is the upper one halfway between two.
    pub half_up: bool,
    /// In which order positions are computed.
    pub arithmetic: Arithmetic,
    /// Whether a sample on a pixel has no slope in the gradient of boxes, as in TensorFlow, rather than the slope
    /// towards the next pixel.
    pub flat_on_pixels: bool,
}

/// From box coordinates to pixels of the map.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub enum SpatialScale {
    /// Times this number.
    Times(f64),
    /// Coordinates from 0 to 1 span the centres of the first and the last pixel.
    Normalized,
}

impl SpatialScale {
    /// The scale on a map of `size` pixels.
    pub fn on_map(self, size: usize) -> f64 {
        match self {
            Self::Times(scale) => scale,
            Self::Normalized => size.saturating_sub(1) as f64,
        }
    }
}

/// Which pixels of a region belong to which output element along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub struct BinAxis {
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64,
    /// Added to the high end of a box before anything else.
    pub end_offset: f64,
    /// Whether box coordinates are rounded before or after they are scaled.
    pub rounding: BoxRounding,
    /// Whether 1 is added to the rounded high end: the pixel that a box ends in belongs to the region.
    pub inclusive_end: bool,
    /// The least length of a region in pixels, 0 or above. [`BinDivision::Whole`] takes its integer part.
    pub minimum_length: f64,
    pub division: BinDivision,
    /// Whether bins reach the last pixel of the map; torchvision's `ps_roi_pool` ends one before it.
    pub reaches_last_pixel: bool,
    /// Whether the gradient of features uses bins that reach the last pixel, as in torchvision's `ps_roi_pool`.
    pub gradient_reaches_last_pixel: bool,
}

/// Which channel of the features an output element reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub enum ChannelMap {
    /// Channel c reads channel c.
    Same,
    /// Element (p, q) of channel c reads channel `(c * P + p) * Q + q`.
    PositionSensitive,
    /// Sample s of every element of channel c reads channel `s * C + c`.
    SampleSensitive { samples: usize },
}

impl ChannelMap {
    /// How many channels an output of size `[P, Q]` has for features of `channels`; none if they do not divide evenly.
    pub fn output_channels(self, channels: usize, [rows, columns]: [usize; 2]) -> Option<usize> {
        let per_output = self.input_channels(rows * columns);
        channels.is_multiple_of(per_output).then(|| channels / per_output)
    }

    /// The channels of the features for each channel of an output of `elements`.
    pub const fn input_channels(self, elements: usize) -> usize {
        match self {
            Self::Same => 1,
            Self::PositionSensitive => elements,
            Self::SampleSensitive { samples } => samples,
        }
    }
}
