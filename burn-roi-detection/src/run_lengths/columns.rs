//! The pixels of a mask column by column, and those at its edge.

use std::collections::BTreeMap;
use std::ops::Range;

use super::RunLengths;

impl RunLengths {
    /// The runs of set pixels, cut at the ends of columns, as `(x, y, end of y)`.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let height = self.size[0];
        self.set_runs().flat_map(move |(start, end)| {
            let (start, end) = (start as usize, end as usize);
            let columns = start / height..end.div_ceil(height);
            columns.map(move |x| {
                let top = x * height;
                (x, start.max(top) - top, end.min(top + height) - top)
            })
        })
    }

    /// The set pixels `[x, y]` that have a neighbour that is not set, or that lies outside of the image.
    pub(crate) fn outline(&self) -> Vec<[usize; 2]> {
        let mut columns = BTreeMap::<usize, Vec<Range<usize>>>::new();
        for (x, top, bottom) in self.columns() {
            columns.entry(x).or_default().push(top..bottom);
        }
        let covered = |x: usize, y: usize| {
            let pieces = columns.get(&x);
            pieces.is_some_and(|pieces| pieces.iter().any(|piece| piece.contains(&y)))
        };
        let at_edge = |x: usize, y: usize| {
            let beside = [(x.wrapping_sub(1), y), (x + 1, y), (x, y.wrapping_sub(1)), (x, y + 1)];
            beside.into_iter().any(|(x, y)| !covered(x, y))
        };
        self.columns()
            .flat_map(|(x, top, bottom)| (top..bottom).map(move |y| [x, y]))
            .filter(|&[x, y]| at_edge(x, y))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_at_the_ends_of_columns() {
        // . # .
        // . # #
        let mask = RunLengths::from_counts(&[2, 2, 1, 1], [2, 3]);
        assert_eq!(mask.columns().collect::<Vec<_>>(), [(1, 0, 2), (2, 1, 2)]);
        let all = RunLengths::from_counts(&[0, 4], [2, 2]);
        assert_eq!(all.columns().collect::<Vec<_>>(), [(0, 0, 2), (1, 0, 2)]);
        let none = RunLengths::from_counts(&[4], [2, 2]);
        assert_eq!(none.columns().count(), 0);
    }

    #[test]
    fn an_outline_is_the_pixels_with_a_neighbour_outside() {
        let mask = RunLengths::from_counts(&[5, 4, 1, 4, 1, 4, 6], [5, 5]);
        let outline = mask.outline();
        assert_eq!(outline.len(), 10);
        assert!(!outline.contains(&[2, 1]) && !outline.contains(&[2, 2]));
        assert!(outline.contains(&[2, 0]) && outline.contains(&[1, 2]));
    }
}
