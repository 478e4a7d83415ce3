//! [`RunLengths`]: a binary mask as COCO encodes it.

mod changes;
mod coco_string;
#[cfg(all(feature = "models", feature = "pictures"))]
mod columns;
mod joined;
mod json;
mod overlap;
mod pixels;
mod polygon;

use crate::arguments::option;
use crate::error::DetectionError;
use burn_roi::internal::or_panic;
pub use changes::of_mask;
pub(crate) use overlap::{iou_of_areas, set_pixels_in_both};

use joined::Joined;

/// A binary mask of an image as run lengths, the RLE of COCO.
///
/// The pixels are in column-major order: the first column from top to bottom, then the next. The first run is of pixels
/// that are not set, and is 0 if the first pixel is set. Then runs of set pixels and of pixels that are not set
/// alternate. No other run is 0.
///
/// It comes from [`paste_masks_as_run_lengths`](crate::paste_masks_as_run_lengths), from run lengths
/// ([`from_counts`](Self::from_counts), [`from_coco_string`](Self::from_coco_string)), from polygons
/// ([`from_polygons`](Self::from_polygons)), or from pixels ([`from_pixels`](Self::from_pixels)). With serde it is
/// COCO's `{"size": [H, W], "counts": ...}`: it is written with compressed counts, and read with either form.
///
/// ```
/// use burn_roi_detection::RunLengths;
///
/// let square = RunLengths::from_polygons(&[vec![1.0, 1.0, 3.0, 1.0, 3.0, 3.0, 1.0, 3.0]], [4, 5]);
/// assert_eq!(square.counts(), [5, 2, 2, 2, 9]);
/// assert_eq!(square.area(), 4);
/// assert_eq!(square.bounding_box(), [1, 1, 2, 2]);
/// assert_eq!(RunLengths::from_coco_string(&square.to_coco_string(), [4, 5]), square);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunLengths {
    size: [usize; 2],
    counts: Vec<u32>,
}

impl RunLengths {
    /// The mask with these run lengths, COCO's `counts` without compression.
    ///
    /// Runs of 0 pixels are left out, and the runs on both sides of one are joined.
    ///
    /// - `counts`: the length of each run in pixels. Their sum is H * W.
    /// - `size`: `[H, W]` of the image in pixels. H * W fits into a u32.
    ///
    /// # Panics
    ///
    /// If [`try_from_counts`](Self::try_from_counts) returns an error, with its text.
    pub fn from_counts(counts: &[u32], size: [usize; 2]) -> Self {
        or_panic(Self::try_from_counts(counts, size))
    }

    /// Fallible form of [`from_counts`](Self::from_counts).
    ///
    /// # Errors
    ///
    /// `DetectionError::RunLengths`: `counts` does not add up to H * W. `RoiError::Option`: H * W is too large.
    pub fn try_from_counts(counts: &[u32], size: [usize; 2]) -> Result<Self, DetectionError> {
        let pixels = pixels_of(size)?;
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if sum != u64::from(pixels) {
            let value = format!("{} runs of {sum} pixels in all", counts.len());
            let expected = format!("runs of {} * {} pixels in all", size[0], size[1]);
            return Err(DetectionError::RunLengths { value, expected });
        }
        let mut joined = Joined::default();
        for (run, &count) in counts.iter().enumerate() {
            joined.push(run % 2 == 1, count);
        }
        let counts = joined.finish();
        Ok(Self { size, counts })
    }

    /// `[H, W]` of the image in pixels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// The length of each run in pixels: COCO's `counts` without compression. Their sum is H * W.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The number of set pixels.
    pub fn area(&self) -> u32 {
        self.counts.iter().skip(1).step_by(2).sum()
    }

    /// The smallest box around the set pixels: `[x, y, w, h]` in pixels, all 0 if no pixel is set.
    pub fn bounding_box(&self) -> [u32; 4] {
        let height = self.size[0] as u32;
        let mut limits: Option<[u32; 4]> = None;
        for (start, end) in self.set_runs() {
            let (first_column, last_column) = (start / height, (end - 1) / height);
            // A run that goes on in the next column covers the last row of one and the first row of the other.
            let (first_row, last_row) = match first_column == last_column {
                true => (start % height, (end - 1) % height),
                false => (0, height - 1),
            };
            let [left, top, right, bottom] = limits.unwrap_or([first_column, first_row, last_column, last_row]);
            limits = Some([left, top.min(first_row), right.max(last_column), bottom.max(last_row)]);
        }
        limits.map_or([0; 4], |[left, top, right, bottom]| {
            [left, top, right - left + 1, bottom - top + 1]
        })
    }

    /// The pixels of the image in row-major order, `[H, W]`: whether each is set.
    pub fn decode(&self) -> Vec<bool> {
        let [height, width] = self.size;
        let mut pixels = vec![false; height * width];
        for (start, end) in self.set_runs() {
            for pixel in start as usize..end as usize {
                pixels[pixel % height * width + pixel / height] = true;
            }
        }
        pixels
    }

    /// The first pixel of each run of set pixels and the pixel after its last, in column-major order.
    fn set_runs(&self) -> impl Iterator<Item = (u32, u32)> {
        let mut end = 0;
        self.counts.chunks_exact(2).map(move |pair| {
            let start = end + pair[0];
            end = start + pair[1];
            (start, end)
        })
    }
}

/// H * W of an image of `[H, W]` pixels.
fn pixels_of([height, width]: [usize; 2]) -> Result<u32, DetectionError> {
    let pixels = height.checked_mul(width).and_then(|pixels| u32::try_from(pixels).ok());
    pixels.ok_or_else(|| option("size", format!("{:?}", [height, width]), "of fewer than 2^32 pixels"))
}
