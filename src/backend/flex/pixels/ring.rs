//! Where rows of a map lie in a buffer that holds only some of them.

/// The slots of a ring buffer of rows. A row's slot is its index modulo the number of slots. One division for each
/// region, in [`move_to`](Self::move_to), finds it for all its rows, so that the number need not be a power of two: for
/// `rotated-p2` it is 40, and would be 64.
#[derive(Clone, Copy, Default)]
pub struct Ring {
    rows: usize,
    /// The largest multiple of `rows` that is not greater than the first row held.
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

    /// From then on, the rows held are `first` and those after it. Called before their slots are asked for.
    #[inline(always)]
    pub fn move_to(&mut self, first: usize) {
        self.start = first - first % self.rows.max(1);
    }

    /// The largest multiple of the number of rows that is not greater than the first row held.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.start
    }

    /// The slot of a row held.
    #[inline(always)]
    pub fn slot(&self, row: usize) -> usize {
        let index = row - self.start;
        // If `index` is below `rows`, the subtraction wraps to a huge number, and `min` takes `index`.
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
