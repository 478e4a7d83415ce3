//! [`RunLengths`]: a binary mask as COCO encodes it.

use super::mask_window::{MaskPixel, Window};

/// A binary mask of an image as run lengths, the RLE of COCO. Created by
/// [`paste_masks_as_run_lengths`](super::paste_masks_as_run_lengths).
///
/// The pixels are in column-major order: the first column from top to bottom, then the next. The first run is of pixels
/// that are not set, and is 0 if the first pixel is set. Then runs of set pixels and of pixels that are not set
/// alternate. No other run is 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunLengths {
    size: [usize; 2],
    counts: Vec<u32>,
}

impl RunLengths {
    /// `[H, W]` of the image in pixels.
    pub fn size(&self) -> [usize; 2] {
        self.size
    }

    /// The length of each run in pixels: COCO's `counts` without compression. Their sum is H * W.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// How many pixels are set.
    pub fn area(&self) -> u32 {
        self.counts.iter().skip(1).step_by(2).sum()
    }

    /// The compressed form of the counts, as pycocotools writes and reads it in `{"size": [H, W], "counts": ...}`.
    ///
    /// From the fourth run on, the difference to the run before the last one is written. A number is written in groups
    /// of 5 bits, the lowest first, as characters from `0` on. A group that another one follows has 32 added, and the
    /// highest bit of the last group is the sign.
    pub fn to_coco_string(&self) -> String {
        let mut text = String::new();
        for (run, &count) in self.counts.iter().enumerate() {
            let before = if run > 2 { self.counts[run - 2] } else { 0 };
            let mut left = i64::from(count) - i64::from(before);
            loop {
                let group = (left & 31) as u8;
                left >>= 5;
                let sign = if group & 16 == 0 { 0 } else { -1 };
                let is_last = left == sign;
                text.push(char::from(b'0' + group + if is_last { 0 } else { 32 }));
                if is_last {
                    break;
                }
            }
        }
        text
    }

    /// The pixels of the image in row-major order, `[H, W]`: whether each is set.
    pub fn decode(&self) -> Vec<bool> {
        let [height, width] = self.size;
        let mut pixels = vec![false; height * width];
        let mut end = 0;
        for (run, &count) in self.counts.iter().enumerate() {
            let start = end;
            end += count as usize;
            if run % 2 == 1 {
                for pixel in start..end {
                    pixels[pixel % height * width + pixel / height] = true;
                }
            }
        }
        pixels
    }
}

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
