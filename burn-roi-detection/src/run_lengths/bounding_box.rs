//! The bounding box of a mask.

use super::RunLengths;

impl RunLengths {
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
}
