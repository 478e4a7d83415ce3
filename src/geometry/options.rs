//! The options of operators, and which framework uses which. All except [`Bounds`] are public.

use serde::{Deserialize, Serialize};

/// What the columns of a box are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BoxFormat {
    /// `[x1, y1, x2, y2]`.
    Xyxy,
    /// `[y1, x1, y2, x2]`, TensorFlow's.
    Yxyx,
}

impl BoxFormat {
    /// The columns of y1 and y2, and the columns of x1 and x2.
    pub const fn columns(self) -> [[usize; 2]; 2] {
        match self {
            Self::Xyxy => [[1, 3], [0, 2]],
            Self::Yxyx => [[0, 2], [1, 3]],
        }
    }
}

/// How many samples an output element takes along an axis.
///
/// An output element is `length / output size` pixels long. The adaptive count is `ceil` or `floor` of this length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub enum Sampling {
    /// This many, whatever the region's size; 1 to [`MAXIMUM_FIXED_SAMPLES`].
    Fixed(usize),
    /// As many as an element has pixels, rounded up. In an empty or inverted region there are none, and its elements
    /// are the out-of-bounds value. torchvision, ONNX and OpenVINO with a sampling ratio of 0.
    Adaptive,
    /// As many as an element has pixels, rounded down. In an element shorter than a pixel there are none, and it is the
    /// out-of-bounds value. MindSpore.
    AdaptiveFloor,
    /// As many as an element has pixels, rounded up, but no fewer than `minimum` and no more than
    /// `maximum`. DirectML.
    Clamped {
        /// The least number, 1 to [`MAXIMUM_FIXED_SAMPLES`].
        minimum: usize,
        /// The largest number, `minimum` or above.
        maximum: usize,
    },
}

impl Sampling {
    /// What the frameworks' `sampling_ratio` means: this many samples, or the adaptive number for 0.
    pub(crate) fn of_ratio(sampling_ratio: usize) -> Self {
        match sampling_ratio {
            0 => Self::Adaptive,
            samples => Self::Fixed(samples),
        }
    }
}

/// The largest fixed or minimum number of samples of an output element along an axis. A maximum visits the square of
/// this number.
pub const MAXIMUM_FIXED_SAMPLES: usize = 1024;

/// The largest adaptive number of samples of an output element along an axis: the next whole number is not
/// an f32.
pub const MAXIMUM_ADAPTIVE_SAMPLES: usize = 1 << 24;

/// The largest absolute value of `output_pixel_offset`. With 1e9, the indices of 64 samples round to one f32: 2^24
/// samples along each axis would fall on one position, and each would have to be visited.
pub const MAXIMUM_OUTPUT_PIXEL_OFFSET: f64 = 1024.0;

/// The largest height or width of an output.
pub const MAXIMUM_OUTPUT_SIZE: usize = 32_767;

/// Which positions read the map. Others read the out-of-bounds value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "remote", derive(serde::Serialize, serde::Deserialize))]
pub enum Bounds {
    /// `-1 <= position <= size`; the map's first or last pixel is read for a position beyond it.
    OnePixelBeyond,
    /// `-1/2 <= position <= size - 1/2`, as R-FCN's deformable pooling has it.
    HalfPixelBeyond,
    /// `0 <= position <= size - 1`, as TensorFlow has it.
    FirstToLastPixel,
}

/// What a sample between pixels reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Interpolation {
    /// The weighted mean of the four pixels around it.
    Bilinear,
    /// The nearest pixel. Halfway between two pixels it is the lower one, as in DirectML. In `crop_and_resize` it is
    /// the upper one, as in TensorFlow.
    Nearest,
}

/// How the samples of an output element become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Reduction {
    /// The mean of the samples.
    Average,
    /// The largest sample. DirectML.
    Max,
    /// The largest sample, and at least 0. OpenVINO, which starts from 0.
    MaxFromZero,
    /// The maximum of weight × pixel over the four pixels of each sample, not over interpolated samples. ONNX, as
    /// onnxruntime and the reference implementation compute it.
    MaxOfWeightedCorners,
}

impl Reduction {
    /// What a maximum starts from.
    pub(crate) fn starts_from(self) -> f64 {
        match self {
            Self::MaxFromZero => 0.0,
            Self::Average | Self::Max | Self::MaxOfWeightedCorners => f64::NEG_INFINITY,
        }
    }
}

/// In which order positions are computed, which decides their last bit.
///
/// The order matters because results jump: a region whose element is a whole number of pixels long takes
/// one sample more if rounding lengthens it, and a sample at the border of the map can fall outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Arithmetic {
    /// Scale and offset both ends, subtract them, and count from the start of each output element in
    /// shares of its length: torchvision and ONNX Runtime.
    FromElements,
    /// The same, but count in multiples of the distance of two samples: OpenVINO.
    FromElementsBySteps,
    /// The same, but count from the start of the region, in multiples of an element's length: Paddle.
    FromRegionInElements,
    /// Scale both ends, subtract them, count from the start of the region, and subtract the input pixel
    /// offset last: DirectML.
    FromRegion,
    /// Subtract the ends, scale the difference, and count from the start of the region: TensorFlow.
    FromRegionUnscaled,
}

/// Whether box coordinates are rounded to whole numbers, before or after they are scaled. A half is rounded away from
/// zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BoxRounding {
    /// `round(x * spatial_scale)`: a region begins and ends between pixels of the map. torchvision and ONNX Runtime.
    AfterScaling,
    /// `round(x) * spatial_scale`: a region begins and ends between pixels of the image, which may be inside a pixel of
    /// the map. Bins are then always divided as [`BinDivision::Rounded`] does. R-FCN, OpenVINO and Paddle.
    BeforeScaling,
    /// `x * spatial_scale`, not rounded: a region may begin and end inside a pixel of the map, which then belongs to it
    /// as a whole. Bins are always divided as [`BinDivision::Rounded`] does. mmcv.
    Never,
}

/// The initial value of a bin's maximum: the result if all pixels are smaller or NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum MaximumFrom {
    /// The least f32, -3.4028e38, whatever the dtype. torchvision, ONNX Runtime and mmcv.
    LeastSingle,
    /// The least number of the dtype of coordinates and sums: f32, or f64 for features of f64. Paddle.
    Least,
    /// -infinity. OpenVINO.
    NegativeInfinity,
}

impl MaximumFrom {
    /// All of them.
    #[cfg_attr(not(feature = "remote"), allow(dead_code))]
    pub(crate) const ALL: [Self; 3] = [Self::LeastSingle, Self::Least, Self::NegativeInfinity];

    /// The value. `Least` is that of f64, which each dtype replaces by its own.
    pub(crate) fn number(self) -> f64 {
        match self {
            Self::LeastSingle => f32::MIN.into(),
            Self::Least => f64::MIN,
            Self::NegativeInfinity => f64::NEG_INFINITY,
        }
    }
}

/// How bins of whole pixels are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum BinDivision {
    /// Borders are whole numbers divided exactly, as in OpenVINO and in DirectML's document.
    Whole,
    /// The length of a bin is rounded to a float and borders are its multiples, as in torchvision and ONNX Runtime.
    /// A region of 57 pixels in 7 bins ends at 58, not at 57.
    Rounded,
}
