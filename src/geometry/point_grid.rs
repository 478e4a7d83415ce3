//! Operators whose samples lie on no axis-aligned grid: rotated boxes, elements with offsets, and sub-crops.

use super::options::{Arithmetic, Bounds, Sampling};

/// Where the samples of a region fall. An element is their mean, and samples are bilinear.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub struct PointGrid {
    /// How a region's samples are placed.
    pub placement: Placement,
    /// From box coordinates to pixels of the map.
    pub spatial_scale: f64,
    /// Subtracted from a scaled coordinate.
    pub input_pixel_offset: f64,
    /// The least length of a region in pixels, if there is one.
    pub minimum_length: Option<f64>,
    /// How many samples an output element takes along y and along x: a fixed or the adaptive number.
    pub sampling: [Sampling; 2],
    pub bounds: Bounds,
    /// Whether an element is the mean of its samples in bounds, rather than of all samples, with 0 for those out of
    /// bounds.
    pub ignores_out_of_bounds: bool,
    /// In which order positions are computed: `FromElements` or `FromElementsBySteps`.
    pub arithmetic: Arithmetic,
}

/// How the samples of a region are placed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub enum Placement {
    /// A box is `[center x, center y, width, height, angle]`: a grid, turned about its centre.
    Rotated {
        /// Radians per unit of the angle, counter-clockwise on the screen; negative for clockwise.
        radians: f64,
    },
    /// A box is `[x1, y1, x2, y2]`. An element's samples move by its offset times the region's size.
    Offsets(Offsets),
    /// The same for boxes whose coordinates are rounded before they are scaled, with 1 added to the high end; an
    /// element's first sample lies at its start.
    OffsetsOfRoundedBox(Offsets),
    /// A box is `[x1, y1, x2, y2]`, and coordinates from 0 to 1 span the map. It is divided into as many equal boxes as
    /// an element has samples; `crop_and_resize` of each of these boxes places one sample of every element.
    SubCrops,
}

/// The offsets of a region, in columns after its box: `[2, parts y, parts x]`, those along x first.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub struct Offsets {
    /// Samples move by `scale * region size * offset`.
    pub scale: f64,
    /// How many parts of a region have an offset of their own, along y and along x; none without offsets.
    pub parts: Option<[usize; 2]>,
}

/// How many columns of a region place an element's samples: four of the box, and two for its offset or its angle.
pub const PARAMETERS: usize = 6;

/// The largest adaptive number of samples of an element along an axis. Samples of a turned grid are visited one by one.
pub const MOST_POINTS: usize = 1 << 16;

impl PointGrid {
    /// The offsets of a region, if it has some.
    fn offsets(&self) -> Option<(f64, [usize; 2])> {
        match self.placement {
            Placement::Offsets(offsets) | Placement::OffsetsOfRoundedBox(offsets) => {
                offsets.parts.map(|parts| (offsets.scale, parts))
            }
            Placement::Rotated { .. } | Placement::SubCrops => None,
        }
    }

    /// The columns of an element's offset, along y and along x, in an output of a size.
    pub fn offset_columns(&self, element: [usize; 2], output_size: [usize; 2]) -> Option<[usize; 2]> {
        let (_, parts) = self.offsets()?;
        let [y, x] = [0, 1].map(|axis| element[axis] * parts[axis] / output_size[axis]);
        let along_x = 4 + y * parts[1] + x;
        Some([along_x + parts[0] * parts[1], along_x])
    }

    /// [`Offsets::scale`], 0 without offsets.
    pub fn offset_scale(&self) -> f64 {
        self.offsets().map_or(0.0, |(scale, _)| scale)
    }

    /// [`Offsets::parts`], 0 without offsets.
    pub fn parts(&self) -> [usize; 2] {
        self.offsets().map_or([0, 0], |(_, parts)| parts)
    }

    /// Whether the positions of samples depend on the box or on offsets, other than by rounding.
    pub fn moves_with_region(&self) -> bool {
        match self.placement {
            Placement::OffsetsOfRoundedBox(offsets) => offsets.parts.is_some(),
            _ => true,
        }
    }
}
