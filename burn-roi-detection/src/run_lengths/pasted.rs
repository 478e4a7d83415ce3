//! Run lengths of a mask that is pasted into an image.

use super::RunLengths;
use crate::mask_window::{MaskPixel, Window};

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
