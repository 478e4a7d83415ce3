//! A mask as run lengths, which stay small even for a large picture.

use std::collections::BTreeMap;
use std::ops::Range;

/// COCO's uncompressed run lengths: down the columns, left to right, and the first run is of zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLengths {
    /// Height and width of the picture.
    pub size: [usize; 2],
    pub counts: Vec<usize>,
}

impl From<&burn_roi_detection::RunLengths> for RunLengths {
    fn from(mask: &burn_roi_detection::RunLengths) -> Self {
        Self {
            size: mask.size(),
            counts: mask.counts().iter().map(|&count| count as usize).collect(),
        }
    }
}

impl RunLengths {
    /// A mask that is `inside(x, y)` in a window `[x1, y1, x2, y2]` of the picture and zero around it; `x` and `y`
    /// count from the window's corner.
    pub fn of_window(size: [usize; 2], [x1, y1, x2, y2]: [usize; 4], inside: impl Fn(usize, usize) -> bool) -> Self {
        let [height, width] = size;
        let mut runs = Runs::default();
        runs.push(false, x1 * height);
        for x in x1..x2 {
            runs.push(false, y1);
            for y in y1..y2 {
                runs.push(inside(x - x1, y - y1), 1);
            }
            runs.push(false, height - y2);
        }
        runs.push(false, (width - x2) * height);
        Self {
            size,
            counts: runs.counts,
        }
    }

    /// The parts of columns that the mask covers, as `(x, y, end of y)`.
    pub fn columns(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let height = self.size[0];
        self.ones().flat_map(move |(start, end)| {
            let columns = start / height..end.div_ceil(height);
            columns.map(move |x| {
                let top = x * height;
                (x, start.max(top) - top, end.min(top + height) - top)
            })
        })
    }

    /// The pixels `[x, y]` of the mask that have a neighbour outside the mask.
    pub fn outline(&self) -> Vec<[usize; 2]> {
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

    pub fn area(&self) -> usize {
        self.ones().map(|(start, end)| end - start).sum()
    }

    /// The intersection over union (IoU) of two masks; 1 for two empty masks.
    pub fn intersection_over_union(&self, other: &Self) -> f64 {
        let (mut left, mut right) = (self.ones().peekable(), other.ones().peekable());
        let mut intersection = 0;
        while let (Some(&(left_start, left_end)), Some(&(right_start, right_end))) = (left.peek(), right.peek()) {
            intersection += left_end.min(right_end).saturating_sub(left_start.max(right_start));
            match left_end < right_end {
                true => left.next(),
                false => right.next(),
            };
        }
        match self.area() + other.area() - intersection {
            0 => 1.0,
            union => intersection as f64 / union as f64,
        }
    }

    /// The start and end of each run of ones.
    fn ones(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut end = 0;
        let runs = self.counts.iter().enumerate().map(move |(index, count)| {
            let start = end;
            end += count;
            (index % 2 == 1, start, end)
        });
        runs.filter_map(|(ones, start, end)| ones.then_some((start, end)))
    }
}

#[derive(Default)]
struct Runs {
    counts: Vec<usize>,
}

impl Runs {
    fn push(&mut self, value: bool, count: usize) {
        if count == 0 {
            return;
        }
        // Even indices are runs of zeros.
        if self.counts.is_empty() || self.counts.len().is_multiple_of(2) != value {
            if self.counts.is_empty() && value {
                self.counts.push(0);
            }
            self.counts.push(count);
        } else if let Some(last) = self.counts.last_mut() {
            *last += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_down_the_columns() {
        // . # .
        // . # #
        let mask = RunLengths::of_window([2, 3], [1, 0, 3, 2], |x, y| x == 0 || y == 1);
        assert_eq!(mask.counts, [2, 2, 1, 1]);
        assert_eq!(mask.area(), 3);
        assert_eq!(mask.columns().collect::<Vec<_>>(), [(1, 0, 2), (2, 1, 2)]);
    }

    #[test]
    fn runs_that_begin_with_ones_have_no_zeros_before_them() {
        let mask = RunLengths::of_window([2, 2], [0, 0, 2, 2], |_, _| true);
        assert_eq!(mask.counts, [0, 4]);
        assert_eq!(mask.columns().collect::<Vec<_>>(), [(0, 0, 2), (1, 0, 2)]);
        let none = RunLengths::of_window([2, 2], [1, 1, 1, 1], |_, _| true);
        assert_eq!(none.counts, [4]);
        assert_eq!(none.area(), 0);
    }

    #[test]
    fn an_outline_is_the_pixels_with_a_neighbour_outside() {
        let mask = RunLengths::of_window([5, 5], [1, 0, 4, 4], |_, _| true);
        let outline = mask.outline();
        assert_eq!(outline.len(), 10);
        assert!(!outline.contains(&[2, 1]) && !outline.contains(&[2, 2]));
        assert!(outline.contains(&[2, 0]) && outline.contains(&[1, 2]));
    }

    #[test]
    fn intersections_of_masks() {
        let left = RunLengths::of_window([4, 4], [0, 0, 2, 4], |_, _| true);
        let right = RunLengths::of_window([4, 4], [1, 0, 3, 4], |_, _| true);
        assert_eq!(left.intersection_over_union(&right), 4.0 / 12.0);
        assert_eq!(left.intersection_over_union(&left), 1.0);
        let none = RunLengths::of_window([4, 4], [0, 0, 4, 4], |_, _| false);
        assert_eq!(none.intersection_over_union(&none), 1.0);
        assert_eq!(none.intersection_over_union(&left), 0.0);
    }
}
