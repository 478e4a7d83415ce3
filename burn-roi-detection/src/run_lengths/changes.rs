//! Masks by the pixels at which they change.

use super::RunLengths;
use super::joined::Joined;
use crate::mask_window::{MaskPixel, Window};

impl RunLengths {
    /// The mask that changes between set and not set at each of these pixels, which ascend in column-major order. Two
    /// changes at one pixel are none.
    pub(super) fn of_changes(changes: &[u32], size: [usize; 2]) -> Self {
        let mut joined = Joined::default();
        let (mut is_set, mut last) = (false, 0);
        for &change in changes {
            joined.push(is_set, change - last);
            (is_set, last) = (!is_set, change);
        }
        joined.push(is_set, (size[0] * size[1]) as u32 - last);
        let counts = joined.finish();
        Self { size, counts }
    }

    /// The run lengths of a mask that is `is_set(x, y)` for the pixels of a window `[x1, y1, x2, y2]` within an image
    /// of `[height, width]` pixels, and not set around it. The image's number of pixels is a u32.
    #[cfg(feature = "models")]
    pub(crate) fn of_window(
        [height, width]: [usize; 2],
        [x1, y1, x2, y2]: [usize; 4],
        is_set: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let mut changes = Vec::new();
        for x in x1..x2 {
            let mut was_set = false;
            for y in y1..y2 {
                if is_set(x, y) != was_set {
                    changes.push((x * height + y) as u32);
                    was_set = !was_set;
                }
            }
            // The next column may begin where this one ends. Then there are two changes at one pixel.
            if was_set {
                changes.push((x * height + y2) as u32);
            }
        }
        Self::of_changes(&changes, [height, width])
    }
}

/// The run lengths of a mask, M x M values, that is pasted into its window of an image of `[height, width]` pixels: the
/// pixels above the threshold. The image's number of pixels is a u32.
pub fn of_mask<T: MaskPixel>(mask: &[T], window: &Window, [height, width]: [usize; 2], threshold: T) -> RunLengths {
    // Outside of its window, a mask is 0.
    let outside = T::from_elem(0.0) > threshold;
    let last_row = window.bottom(height).wrapping_sub(1);
    // The pixels that differ from the one before them in column-major order. A column that ends as the next one begins
    // changes at its end and back at the next one's beginning.
    let mut changes: Vec<u32> = Vec::new();
    if outside {
        changes.push(0);
    }
    let mut differs = Vec::new();
    window.resize_on_host(mask, [height, width], |row, first_column, values| {
        differs.resize(values.len(), false);
        for (column, (&value, differs)) in values.iter().zip(&mut differs).enumerate() {
            let pixel = (first_column + column) * height + row;
            if *differs != ((value > threshold) != outside) {
                *differs = !*differs;
                changes.push(pixel as u32);
            }
            if *differs && row == last_row {
                *differs = false;
                changes.push(pixel as u32 + 1);
            }
        }
    });
    changes.sort_unstable();
    RunLengths::of_changes(&changes, [height, width])
}
