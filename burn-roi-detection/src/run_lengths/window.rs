//! The run lengths of a mask that is set within a window only.

use super::RunLengths;

impl RunLengths {
    /// The run lengths of a mask that is `is_set(x, y)` for the pixels of a window `[x1, y1, x2, y2]` within an image
    /// of `[height, width]` pixels, and not set around it. The image's number of pixels is a u32.
    pub(crate) fn of_window(
        [height, width]: [usize; 2],
        [x1, y1, x2, y2]: [usize; 4],
        is_set: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let (mut counts, mut last, mut was_set) = (Vec::new(), 0, false);
        let mut change = |pixel: usize| {
            counts.push((pixel - last) as u32);
            last = pixel;
        };
        for x in x1..x2 {
            for y in y1..y2 {
                if is_set(x, y) != was_set {
                    change(x * height + y);
                    was_set = !was_set;
                }
            }
            // The pixels below the window are not set, and neither are those above it in the next column.
            if was_set && (y2 < height || y1 > 0 || x + 1 == x2) && x * height + y2 < width * height {
                change(x * height + y2);
                was_set = false;
            }
        }
        counts.push((height * width - last) as u32);
        Self {
            size: [height, width],
            counts,
        }
    }
}
