//! Sine and cosine of kernels.

use crate::geometry::real::single::angle::sine_cosine;

fn error(angle: f32) -> f64 {
    let found = sine_cosine(angle);
    let (sine, cosine) = f64::from(angle).sin_cos();
    (f64::from(found.sine) - sine)
        .abs()
        .max((f64::from(found.cosine) - cosine).abs())
}

#[test]
fn they_are_near_the_exact_ones_up_to_1000_turns() {
    let steps = 2_000_000;
    for number in -steps..=steps {
        let angle = number as f32 * (6283.0 / steps as f32);
        assert!(error(angle) <= 2e-7, "{angle}: {:e}", error(angle));
    }
}

#[test]
fn an_angle_of_0_is_exact_and_quarters_are_near() {
    let none = sine_cosine(0.0);
    assert_eq!((none.sine, none.cosine), (0.0, 1.0));
    for quarters in -8i32..=8 {
        assert!(
            error(quarters as f32 * std::f32::consts::FRAC_PI_2) <= 1e-7,
            "{quarters}"
        );
    }
}

#[test]
fn they_are_bounded_for_every_finite_angle() {
    for exponent in 0..39 {
        for angle in [1.7, -1.7].map(|digits: f32| digits * 10f32.powi(exponent)) {
            let found = sine_cosine(angle);
            assert!(found.sine.abs() <= 1.0 && found.cosine.abs() <= 1.0, "{angle:e}");
        }
    }
}
