//! Coordinates, volumes, scores and thresholds that the kernels leave to the host, or that need care.

use burn::tensor::DType;

use super::{Problem, others};

/// A coordinate along x or y and one along z that are NaN, infinite, very large or very small, of a box that has a
/// score or has none.
#[test]
fn unusual_coordinates_are_treated_as_on_flex() {
    let unusual = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        -1e30,
        1e-12,
        -1e-40,
        -0.0,
    ];
    for backend in others() {
        for (place, value) in (0..).zip(unusual) {
            for score in [0.5, f32::NAN] {
                let mut problem = Problem::random(300, 2);
                let row = place * 35;
                problem.boxes[row][place % 4] = value;
                problem.boxes[row][4 + place % 2] = value;
                problem.scores[row] = score;
                problem.check(&backend, DType::F32, 0.3);
            }
        }
    }
}

/// Pairs of equal boxes whose volumes are subnormal or so small that the sum of two is.
#[test]
fn unusual_volumes_are_treated_as_on_flex() {
    for backend in others() {
        for exponent in [-15, -18, -19, -25, -34, -42, -45, -50] {
            let mut problem = Problem::random(100, 2);
            let side = 1.5 * 2.0f32.powi(exponent);
            problem.add_pair([[0.0, 0.0, side, side, 0.0, side]; 2]);
            problem.check(&backend, DType::F32, 0.3);
        }
    }
}

#[test]
fn unusual_scores_and_thresholds_are_treated_as_on_flex() {
    let scores = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        -0.0,
        1e-40,
        -1e-40,
        f32::MAX,
        f32::MIN,
    ];
    let mut problem = Problem::random(900, 2);
    for (place, score) in problem.scores.iter_mut().enumerate() {
        *score = scores[place * 7 % scores.len()];
    }
    let mut without_scores = Problem::random(70, 1);
    without_scores.scores.fill(f32::NAN);
    for backend in others() {
        for threshold in [
            -0.5,
            -0.0,
            1e-50,
            1e-40,
            0.3,
            1.0,
            1.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ] {
            problem.check(&backend, DType::F32, threshold);
        }
        assert_eq!(without_scores.check(&backend, DType::F32, 0.5), [0; 2]);
    }
}
