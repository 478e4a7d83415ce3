//! Masks from pixels, and their pixels.

use super::{RunLengths, or_panic, pixels_of};
use crate::arguments;
use crate::error::DetectionError;

impl RunLengths {
    /// The mask of these pixels, the reverse of [`decode`](Self::decode).
    ///
    /// - `pixels`: whether each pixel is set, row by row.
    /// - `size`: `[H, W]` of the image in pixels. H * W fits into a u32.
    ///
    /// # Panics
    ///
    /// If [`try_from_pixels`](Self::try_from_pixels) returns an error, with its text.
    pub fn from_pixels(pixels: &[bool], size: [usize; 2]) -> Self {
        or_panic(Self::try_from_pixels(pixels, size))
    }

    /// Fallible form of [`from_pixels`](Self::from_pixels).
    ///
    /// # Errors
    ///
    /// [`DetectionError::Length`]: `pixels` are not H * W. `RoiError::Option`: H * W is too large.
    pub fn try_from_pixels(pixels: &[bool], size: [usize; 2]) -> Result<Self, DetectionError> {
        let area = pixels_of(size)?;
        arguments::length("pixels", pixels.len(), area as usize, "pixel of `size`")?;
        let [height, width] = size;
        let pixel = |index: usize| pixels[index % height * width + index / height];
        let changes = (0..area).filter(|&index| {
            let index = index as usize;
            pixel(index) != (index > 0 && pixel(index - 1))
        });
        Ok(Self::of_changes(&changes.collect::<Vec<_>>(), size))
    }

    /// Whether each pixel of these rows and columns is set, row by row. The rows ascend.
    #[cfg(feature = "train")]
    pub(crate) fn at(&self, rows: &[usize], columns: &[usize]) -> Vec<bool> {
        let [height, _] = self.size;
        let ends = self.counts.iter().scan(0, |end, &count| {
            *end += count as usize;
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let mut pixels = vec![false; rows.len() * columns.len()];
        for (place, column) in columns.iter().enumerate() {
            let mut run = ends.partition_point(|&end| end <= column * height);
            for (row, pixels) in rows.iter().zip(pixels.chunks_mut(columns.len())) {
                while ends[run] <= column * height + row {
                    run += 1;
                }
                pixels[place] = run % 2 == 1;
            }
        }
        pixels
    }

    /// The mask with left and right exchanged.
    #[cfg(feature = "train")]
    pub(crate) fn mirrored(&self) -> Self {
        let [height, width] = self.size.map(|side| side as u32);
        let mut changes = Vec::new();
        for (mut start, end) in self.set_runs() {
            // A run is moved column by column.
            while start < end {
                let column = start / height;
                let stop = end.min((column + 1) * height);
                changes.extend([start, stop].map(|pixel| pixel - column * height + (width - 1 - column) * height));
                start = stop;
            }
        }
        changes.sort_unstable();
        Self::of_changes(&changes, self.size)
    }
}
