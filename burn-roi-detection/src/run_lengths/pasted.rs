//! Run lengths of a mask that is pasted into an image.

use super::RunLengths;
use crate::mask_window::{MaskPixel, Window};

/// The run lengths of a mask, M x M values, that is pasted into its window of an image of `[height, width]` pixels: the
/// pixels above the threshold. The image's number of pixels is a u32.
pub fn of_mask<T: MaskPixel>(mask: &[T], window: &Window, [height, width]: [usize; 2], threshold: T) -> RunLengths {
    // Outside of its window, a mask is 0.
    let outside = T::from_elem(0.0) > threshold;
    let last_row = window.bottom(height).wrapping_sub(1);
    // The pixels that differ from the one before them in column-major order, or twice from two that are one.
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

    let mut counts = Vec::new();
    let (mut last, pixels) = (0, (height * width) as u32);
    // A column that ends as the next one begins changes at its end and back at the next one's beginning.
    for change in odd_times(&changes) {
        if change < pixels {
            counts.push(change - last);
            last = change;
        }
    }
    counts.push(pixels - last);
    RunLengths {
        size: [height, width],
        counts,
    }
}

/// Of sorted numbers, those that are there an odd number of times.
fn odd_times(sorted: &[u32]) -> impl Iterator<Item = u32> {
    let groups = sorted.chunk_by(|left, right| left == right);
    groups.filter(|group| group.len() % 2 == 1).map(|group| group[0])
}
