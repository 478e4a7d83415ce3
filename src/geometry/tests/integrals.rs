//! The weights of pixels in a bin of the bilinear map.

use super::{pixels, run, shares};
use crate::geometry::operator::Elements;
use crate::geometry::plan::{Coordinate, Weights};

fn plan(ends: [f32; 2], elements: u32, size: u32) -> Weights<f32> {
    let rules = f32::rules(&Elements::Integrals([1.0; 2]), [1; 2]);
    f32::weights(&run(&rules, ends, elements, size))
}

#[test]
fn a_bin_between_two_pixels_weighs_them_alike() {
    let plan = plan([2.0, 4.0], 2, 10);
    assert_eq!(pixels(&plan), [2..4, 3..5]);
    assert_eq!(plan.weights, [0.5, 0.5, 0.5, 0.5]);
    assert_eq!(shares(&plan), [1.0, 1.0]);
}

#[test]
fn a_bin_over_a_pixel_takes_both_sides_of_its_hat() {
    let plan = plan([1.5, 2.5], 1, 10);
    assert_eq!(pixels(&plan)[0], 1..4);
    assert_eq!(plan.weights, [0.125, 0.75, 0.125]);
}

/// Pixels outside of the map are 0, so the map is half as high half a pixel beyond its border.
#[test]
fn the_map_falls_to_0_within_a_pixel_beyond_its_border() {
    assert_eq!(plan([-1.0, 0.0], 1, 3).weights, [0.5]);
    assert_eq!(plan([2.0, 4.0], 1, 3).weights, [0.25]);
    for ends in [[-9.0, -1.0], [3.0, 9.0]] {
        assert!(pixels(&plan(ends, 2, 3)).iter().all(|pixels| pixels.is_empty()));
    }
}

#[test]
fn an_empty_an_inverted_and_a_subnormal_region_read_nothing() {
    for ends in [[1.0, 1.0], [2.0, 1.0], [0.0, 1e-40], [3e38, -3e38]] {
        let plan = plan(ends, 3, 9);
        assert!(plan.weights.is_empty());
        assert_eq!(shares(&plan), [0.0; 3]);
    }
}

/// In f32 the distance of the ends of such bins is 0 or far off.
#[test]
fn a_short_bin_far_from_0_has_the_weights_of_its_place() {
    let plan = plan([4000.25, 4000.2505], 7, 5000);
    for (pixels, weights, _) in plan.elements(0..7) {
        assert_eq!(pixels, 4000..4002);
        assert!((weights[0] - 0.75).abs() < 1e-3 && (weights[0] + weights[1] - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_bin_of_any_length_has_finite_weights() {
    for [low, high] in [
        [-f32::MAX, f32::MAX],
        [-3e38, 5.0],
        [-1e9, 1e9],
        [2.0, 2.000_000_2],
        [1e-29, 1e-28],
    ] {
        for elements in [1, 2, 7] {
            let plan = plan([low, high], elements, 6);
            assert!(
                plan.weights.iter().all(|weight| (0.0..=1.0).contains(weight)),
                "{plan:?}"
            );
            assert!(plan.weights.len() <= 6 * elements as usize);
        }
    }
}
