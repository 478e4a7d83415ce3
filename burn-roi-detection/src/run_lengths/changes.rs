//! Masks by the pixels at which they change.

use super::RunLengths;
use super::joined::Joined;

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
}
