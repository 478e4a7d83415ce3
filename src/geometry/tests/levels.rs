//! Which level of a pyramid a box belongs to.

use crate::geometry::levels::{AreaRange, LevelRule};
use crate::geometry::plan::Coordinate;

/// torchvision's levels, as its `LevelMapper` gave them for the floats around each of its borders.
#[test]
fn levels_begin_at_the_areas_where_torchvision_begins_them() {
    let torchvision = LevelRule {
        canonical_scale: 224.0,
        canonical_level: 4,
        ratio_epsilon: 0.0,
        level_epsilon: 1e-6,
    };
    for (level, area) in [(2, 3135.9956), (3, 12543.98), (4, 50175.93), (8, 12845033.0)] {
        let found = f32::least_area(&torchvision, level);
        assert_eq!(found, area, "level {level}");
    }
    // In f64 the epsilon, and not rounding, says how far below the canonical area a level begins.
    let found = f64::least_area(&torchvision, 4);
    assert!((found / 50176.0 - (1.0 - 2e-6 * std::f64::consts::LN_2)).abs() < 1e-11);
}

#[test]
fn every_area_is_in_one_range() {
    let ranges = [(0.0, 5.0), (5.0, 20.0), (20.0, f64::INFINITY)];
    let sides = [
        0.0,
        1.0,
        5.0,
        20.0,
        -5.0,
        1e-30,
        3e38,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    for side in sides {
        let of = |(from, below)| f32::in_range(&AreaRange { from, below }, [0.0, 1.0], [0.0, side]);
        assert_eq!(ranges.into_iter().filter(|&range| of(range)).count(), 1, "{side}");
    }
    let least = |side| f32::in_range(&AreaRange { from: 5.0, below: 20.0 }, [0.0, 1.0], [0.0, side]);
    assert!(least(5.0) && least(20.0f32.next_down()) && !least(5.0f32.next_down()) && !least(20.0));
}
