//! Where rows of a map lie in a buffer that holds only some of them.

/// The slots of a ring buffer of rows. A row's slot is its index modulo the number of slots. It is found without a
/// division, and the number need not be a power of two: 40 rows of `rotated-p2` would take 64.
#[derive(Clone, Copy, Default)]
pub struct Ring {
    rows: usize,
    /// The multiple of `rows` at or above the first row that is held.
    start: usize,
}

impl Ring {
    /// Slots for so many rows.
    pub fn of(rows: usize) -> Self {
        Self { rows, start: 0 }
    }

    pub fn row_count(&self) -> usize {
        self.rows
    }

    /// From then on, `first` is the first row that is held.
    #[inline(always)]
    pub fn move_to(&mut self, first: usize) {
        self.start = first - first % self.rows.max(1);
    }

    /// The row whose slot is 0, or would be if it were held.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.start
    }

    /// The slot of a row that is held.
    #[inline(always)]
    pub fn slot(&self, row: usize) -> usize {
        let index = row - self.start;
        // The smaller one, since the difference is huge where it is negative.
        index.min(index.wrapping_sub(self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn a_slot_is_the_index_of_a_row_modulo_their_number() {
        for rows in 1..9 {
            let mut ring = Ring::of(rows);
            for first in 0..40 {
                ring.move_to(first);
                for row in first..first + rows {
                    assert_eq!(ring.slot(row), row % rows);
                }
            }
        }
    }
}
