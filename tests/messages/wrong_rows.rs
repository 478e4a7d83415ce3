//! Boxes that are not finite, and batch indices that name no image.

use super::{BOXES, OUTPUT, message, numbers, outcome, session};
use crate::backend::remote::message::Operation;
use crate::ops::operator_config::ToRegionOperator;
use crate::{RoiAlignConfig, RoiPoolConfig};

/// Rows that the client could not check give what a GPU gives, and the others their numbers.
#[test]
fn wrong_rows_read_no_image() {
    let mut boxes = BOXES;
    boxes[5] = f32::NAN;
    let align = RoiAlignConfig::new([3, 2])
        .with_spatial_scale(0.5)
        .with_out_of_bounds_value(2.5);
    let align = align.operator(false).expect("right options");
    let max = RoiPoolConfig::new([3, 2]).operator(false).expect("right options");
    let per_row = OUTPUT.iter().skip(1).product::<usize>();
    let cases = [
        (Operation::Pool, &align, per_row, Some(2.5)),
        (Operation::PoolLevel, &align, per_row, None),
        (Operation::BoxesGradient, &align, 4, Some(0.0)),
    ];
    for (operation, operator, per_row, value) in cases {
        let message = message(operation, operator, OUTPUT);
        let right = outcome(operation, &mut session(&BOXES, [0, 1, 1], OUTPUT), &message).expect("a right message");
        for (boxes, indices) in [(&boxes, [0, 1, 1]), (&BOXES, [0, 2, 1]), (&BOXES, [0, -1, 1])] {
            let found = outcome(operation, &mut session(boxes, indices, OUTPUT), &message).expect("a right message");
            for (place, (found, right)) in found.iter().zip(&right).enumerate() {
                let given = numbers(OUTPUT.iter().product());
                let expected = if place / per_row == 1 {
                    value.unwrap_or(given[place])
                } else {
                    *right
                };
                assert_eq!(*found, expected, "{operation:?} {indices:?} at {place}");
            }
        }
        let none = outcome(operation, &mut session(&BOXES, [9, 9, 9], OUTPUT), &message).expect("a right message");
        let expected = value.map_or(numbers(none.len()), |value| vec![value; none.len()]);
        assert_eq!(none, expected, "{operation:?} of wrong rows only");
    }
    for (operation, operator) in [(Operation::AverageGradient, &align), (Operation::MaximumGradient, &max)] {
        let message = message(operation, operator, OUTPUT);
        let found = outcome(operation, &mut session(&boxes, [0, 1, 1], OUTPUT), &message).expect("a right message");
        // The second row reads image 1 no more, so that the gradient is that of the other two rows.
        let also = outcome(operation, &mut session(&BOXES, [0, -1, 1], OUTPUT), &message).expect("a right message");
        assert_eq!(found, also, "{operation:?}");
        let all = outcome(operation, &mut session(&BOXES, [0, 1, 1], OUTPUT), &message).expect("a right message");
        assert_ne!(found, all, "{operation:?}");
        let none = outcome(operation, &mut session(&BOXES, [9, 9, 9], OUTPUT), &message).expect("a right message");
        assert!(
            none.iter().all(|&number| number == 0.0),
            "{operation:?} of wrong rows only"
        );
    }
}
