//! The type of coordinates as a [`Coordinate`].

use super::real::rules::{self, Rules, area_rule};
use super::real::{Real, area};
use super::{axes, points};
use crate::geometry::levels::{AreaRange, LevelRule};
use crate::geometry::operator::{Elements, RegionOperator};
use crate::geometry::plan::axis::{PixelRanges, SampleTaps, Weights};
use crate::geometry::plan::planner::{AxisRun, Coordinate, Planner};
use crate::geometry::plan::points::PointWeights;
use crate::geometry::plan::region::Region;

impl Coordinate for Real {
    type Rules = Rules;

    fn from_f64(value: f64) -> Self {
        value as Self
    }

    fn rules(elements: &Elements, map: [usize; 2]) -> Rules {
        rules::rules(elements, map)
    }

    fn maximum_from(operator: &RegionOperator) -> Self {
        let start = operator.maximum_from as Self;
        // A finite number beyond this type becomes its least one, not an infinite one.
        if operator.maximum_from.is_finite() {
            start.max(Self::MIN)
        } else {
            start
        }
    }

    fn in_range(areas: &AreaRange, [y1, y2]: [Real; 2], [x1, x2]: [Real; 2]) -> bool {
        area::in_range(&area_rule(areas), y1, x1, y2, x2)
    }

    fn least_area(rule: &LevelRule, level: i32) -> Real {
        area::least_area(rule, level)
    }

    fn weights(run: &AxisRun<Real>) -> Weights<Real> {
        match run.rules {
            Rules::Samples(y, x) => axes::weights_of_samples([y, x][run.axis], run),
            Rules::Bins(y, x) => axes::weights_of_bins([y, x][run.axis], run),
            Rules::Integrals(y, x) => axes::weights_of_integrals([y, x][run.axis], run),
        }
    }

    fn sample_taps(run: &AxisRun<Real>) -> SampleTaps<Real> {
        match run.rules {
            Rules::Samples(y, x) => axes::sample_taps([y, x][run.axis], run),
            Rules::Bins(..) | Rules::Integrals(..) => unreachable!("bins and integrals have no samples"),
        }
    }

    fn pixel_ranges(run: &AxisRun<Real>) -> PixelRanges {
        match run.rules {
            Rules::Bins(y, x) => axes::bins([y, x][run.axis], run).collect(),
            Rules::Samples(..) | Rules::Integrals(..) => unreachable!("only bins are whole pixels"),
        }
    }

    fn point_weights(planner: &Planner<Real>, region: &Region, slopes: bool) -> PointWeights<Real> {
        points::point_weights(planner, region, slopes)
    }
}
