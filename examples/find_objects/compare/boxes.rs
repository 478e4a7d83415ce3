//! Boxes of two runs, matched whatever their order.

/// How far apart the corners of a matching pair may be, relative to the largest coordinate.
const LARGEST_DIFFERENCE: f64 = 1e-3;

/// The least share of the proposals that must match.
///
/// Burn and torchvision sum in different orders, so their scores and boxes differ by rounding. Where two scores tie, or
/// an overlap is within rounding of the NMS threshold, the two runs keep different candidates. At full width with
/// random weights that was 1 of 1000 proposals; a wrong rule changes far more of them.
const LEAST_SHARE: f64 = 0.99;

/// How many boxes of two sets match.
pub struct BoxMatches {
    pub matched: usize,
    /// The size of the larger set.
    pub total: usize,
    /// Of the matching pairs, relative to the largest coordinate.
    pub largest_difference: f64,
}

impl BoxMatches {
    /// Matches each recorded box with the nearest box that is left.
    pub fn new(own: &[[f32; 4]], recorded: &[[f32; 4]]) -> Self {
        let coordinates = recorded.as_flattened().iter();
        let scale = coordinates.fold(0.0, |largest: f64, value| largest.max(f64::from(value.abs())));
        let mut left: Vec<&[f32; 4]> = own.iter().collect();
        let mut largest = 0.0_f64;
        for other in recorded {
            let nearest = left
                .iter()
                .map(|own| largest_corner_difference(own, other))
                .enumerate()
                .min_by(|(_, first), (_, second)| first.total_cmp(second));
            if let Some((index, difference)) = nearest
                && difference <= LARGEST_DIFFERENCE * scale
            {
                left.remove(index);
                largest = largest.max(difference);
            }
        }
        Self {
            matched: own.len() - left.len(),
            total: own.len().max(recorded.len()),
            largest_difference: if largest == 0.0 { 0.0 } else { largest / scale },
        }
    }

    /// Whether enough boxes match for the two sets to count as the same proposals.
    pub fn are_enough(&self) -> bool {
        self.matched as f64 >= LEAST_SHARE * self.total as f64
    }
}

/// The largest of the differences between the coordinates of two boxes.
pub fn largest_corner_difference(own: &[f32; 4], other: &[f32; 4]) -> f64 {
    let coordinates = own.iter().zip(other);
    coordinates
        .map(|(own, other)| difference(*own, *other))
        .fold(0.0, f64::max)
}

/// Infinite where one of the two is NaN, so that it exceeds every tolerance.
pub fn difference(own: f32, other: f32) -> f64 {
    let difference = (f64::from(own) - f64::from(other)).abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boxes of 20 pixels, 30 apart.
    fn grid(count: u16) -> Vec<[f32; 4]> {
        let corner = |index: u16| [index % 40, index / 40].map(|cell| 30.0 * f32::from(cell));
        let boxes = (0..count).map(corner).map(|[x, y]| [x, y, x + 20.0, y + 20.0]);
        boxes.collect()
    }

    #[test]
    fn order_and_rounding_do_not_matter() {
        let recorded = grid(1000);
        let mut own = recorded.clone();
        own.reverse();
        own[17][2] += 1e-3;
        let matches = BoxMatches::new(&own, &recorded);
        assert_eq!([matches.matched, matches.total], [1000, 1000]);
        assert!(matches.largest_difference > 0.0 && matches.largest_difference < 1e-6);
        assert!(matches.are_enough());
    }

    #[test]
    fn one_percent_may_be_other_candidates() {
        let recorded = grid(1000);
        for (changed, enough) in [(1, true), (10, true), (11, false)] {
            let mut own = recorded.clone();
            own[..changed].iter_mut().for_each(|corners| corners[3] += 9.0);
            let matches = BoxMatches::new(&own, &recorded);
            assert_eq!(matches.matched, 1000 - changed);
            assert_eq!(matches.are_enough(), enough, "{changed} changed");
        }
    }

    #[test]
    fn of_a_few_boxes_all_must_match() {
        let recorded = grid(12);
        let mut own = recorded.clone();
        assert!(BoxMatches::new(&own, &recorded).are_enough());
        own[4][0] = f32::NAN;
        assert!(!BoxMatches::new(&own, &recorded).are_enough());
    }

    #[test]
    fn missing_and_additional_boxes_count_against_the_share() {
        let boxes = grid(200);
        for (own, recorded, enough) in [(200, 198, true), (198, 200, true), (200, 197, false), (197, 200, false)] {
            let matches = BoxMatches::new(&boxes[..own], &boxes[..recorded]);
            assert_eq!([matches.matched, matches.total], [own.min(recorded), 200]);
            assert_eq!(matches.are_enough(), enough, "{own} and {recorded}");
        }
        assert!(BoxMatches::new(&[], &[]).are_enough());
        assert!(!BoxMatches::new(&[], &boxes).are_enough());
    }

    #[test]
    fn a_box_matches_once() {
        let recorded = [[0.0, 0.0, 20.0, 20.0]; 2];
        let own = [recorded[0], [50.0, 50.0, 70.0, 70.0]];
        assert_eq!(BoxMatches::new(&own, &recorded).matched, 1);
    }
}
