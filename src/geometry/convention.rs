//! What a framework chooses, as values. The executors know these values and no framework.

use serde::{Deserialize, Serialize};

/// How many samples an output element takes along an axis.
///
/// An element is `length / output size` pixels long, and `ceil` of that is the adaptive count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Sampling {
    /// This many, whatever the region's size; 1 to [`MAXIMUM_FIXED_SAMPLES`].
    Fixed(usize),
    /// As many as an element has pixels, rounded up; none in an empty or inverted region, whose
    /// elements then give the out-of-bounds value. torchvision, ONNX and OpenVINO where the
    /// sampling ratio is 0.
    Adaptive,
    /// As many as an element has pixels, rounded up, but no fewer than `minimum` and no more than
    /// `maximum`. DirectML.
    Clamped {
        /// The least number, 1 to [`MAXIMUM_FIXED_SAMPLES`].
        minimum: usize,
        /// The largest number, `minimum` or above.
        maximum: usize,
    },
}

/// The largest fixed or minimum number of samples of an output element along an axis. A maximum
/// over samples visits the square of it.
pub const MAXIMUM_FIXED_SAMPLES: usize = 1024;

/// The largest distance of a sample from its place. In f32, the numbers of 64 samples plus 1e9 are the same:
/// 2^24 samples along each axis would fall on one position, and each would have to be visited.
pub const FARTHEST_OUTPUT_OFFSET: f64 = 1024.0;

/// The largest height or width of an output.
pub const MAXIMUM_OUTPUT_SIZE: usize = 32_767;

/// What a sample between pixels reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Interpolation {
    /// The weighted mean of the four pixels around it.
    Bilinear,
    /// The nearest pixel. Halfway between two it is the lower one, as in DirectML; in
    /// `crop_and_resize` the upper one, as in TensorFlow.
    Nearest,
}

/// How the samples of an output element become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Reduction {
    /// Their mean.
    Average,
    /// The largest sample. DirectML.
    Max,
    /// The largest sample, and at least 0. OpenVINO, which starts from 0.
    MaxFromZero,
    /// The largest of all samples' four pixels times their weights, without a sum over the four.
    /// ONNX, as onnxruntime and its reference implementation compute it.
    MaxOfWeightedCorners,
}

/// In which order positions are computed, which decides their last bit.
///
/// It matters where a result jumps: a region whose element is a whole number of pixels long takes
/// one sample more if rounding lengthens it, and a sample at the border of the map can fall outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Arithmetic {
    /// Scale and offset both ends, subtract them, and count from the start of each output element in
    /// shares of its length: torchvision and ONNX Runtime.
    FromElements,
    /// The same, but count in multiples of the distance of two samples: OpenVINO.
    FromElementsBySteps,
    /// Scale both ends, subtract them, and count from the start of the region: DirectML.
    FromRegion,
    /// Subtract the ends, scale the difference, and count from the start of the region: TensorFlow.
    FromRegionUnscaled,
}

/// How bins of whole pixels are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BinDivision {
    /// Borders are whole numbers divided exactly, as DirectML's document has it.
    Whole,
    /// The length of a bin is rounded to a float and borders are its multiples, as in torchvision,
    /// ONNX Runtime and OpenVINO. A region of 57 pixels in 7 bins ends at 58, not at 57.
    Rounded,
}

/// Which positions read the map. Others read the out-of-bounds value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// One pixel beyond the map's first and last, which is then read in its place:
    /// `-1 <= position <= size`.
    OnePixelBeyond,
    /// `0 <= position <= size - 1`, as TensorFlow has it.
    FirstToLastPixel,
}

/// Where the samples of a region fall along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AxisConvention {
    /// From box coordinates to pixels of the map.
    pub scale: f64,
    /// Added to a box coordinate before it is scaled.
    pub box_offset: f64,
    /// Subtracted from a scaled coordinate.
    pub input_offset: f64,
    /// Subtracted from a sample's number.
    pub output_offset: f64,
    /// Whether a region is at least one pixel long.
    pub at_least_one_pixel: bool,
    /// How many samples an output element takes.
    pub sampling: Sampling,
    /// Whether the outermost samples lie on the region's corners.
    pub corners: bool,
    /// Which positions read the map.
    pub bounds: Bounds,
    /// What a sample between pixels reads.
    pub interpolation: Interpolation,
    /// Whether the nearest pixel is the upper one halfway between two.
    pub half_up: bool,
    /// In which order positions are computed.
    pub arithmetic: Arithmetic,
}

/// Samples of regions, reduced to output elements: what every `RoiAlign` and `crop_and_resize` is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionSamples {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// Where samples fall along y.
    pub y: AxisConvention,
    /// Where samples fall along x.
    pub x: AxisConvention,
    /// How samples become one number.
    pub reduction: Reduction,
    /// What a sample out of bounds reads.
    pub out_of_bounds_value: f64,
    /// The columns of x1, y1, x2 and y2 among a box's four.
    pub columns: [usize; 4],
    /// The boxes that are sampled; others are left alone.
    pub areas: AreaRange,
}

impl RegionSamples {
    /// What a region gives whose samples are all out of bounds, and one that names no image.
    pub fn outside(&self) -> f64 {
        match self.reduction {
            Reduction::MaxFromZero => self.out_of_bounds_value.max(0.0),
            _ => self.out_of_bounds_value,
        }
    }
}

/// Boxes by their area, in box coordinates: those of one level of a feature pyramid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AreaRange {
    /// The least area in range.
    pub from: f64,
    /// The least area beyond it.
    pub below: f64,
}

impl AreaRange {
    /// Every box.
    pub const ALL: Self = Self {
        from: 0.0,
        below: f64::INFINITY,
    };
}

/// Which level of a feature pyramid a box belongs to:
/// `floor(canonical_level + log2(sqrt(area) / canonical_scale + ratio_epsilon) + level_epsilon)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelConvention {
    /// The side of a square box that belongs to the canonical level.
    pub canonical_scale: f64,
    /// The level of such a box; a map of level `k` has `2^k` pixels of the image a pixel.
    pub canonical_level: i32,
    /// Added to the ratio of the sides.
    pub ratio_epsilon: f64,
    /// Added to the level.
    pub level_epsilon: f64,
}

/// Maxima over quantized bins of regions: what every `RoiPool` is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionBins {
    /// Height and width of the output.
    pub output_size: [usize; 2],
    /// From box coordinates to pixels of the map, of y and of x.
    pub scale: [f64; 2],
    /// How bins are divided.
    pub division: BinDivision,
}
