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
