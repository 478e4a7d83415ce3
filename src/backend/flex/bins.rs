//! Maxima of quantized bins: a bin's rows first, then its columns.

use std::ops::Range;

use super::engine::Kernel;
use super::number::Sum;
use super::rows::{keep_larger, maxima};
use super::tile::Rows;
use crate::backend::host::Region;
use crate::geometry::convention::RegionBins;
use crate::geometry::plan::{Coordinate, hull};

/// Maxima of quantized bins.
pub struct Bins<S: Coordinate> {
    output_size: [usize; 2],
    map: [usize; 2],
    rules: [S::BinRule; 2],
}

/// A region's bins.
#[derive(Default)]
pub struct Plan {
    y: Vec<Range<usize>>,
    x: Vec<Range<usize>>,
}

impl<S: Sum> Bins<S> {
    pub fn new(bins: &RegionBins, map: [usize; 2]) -> Self {
        Self {
            output_size: bins.output_size,
            map,
            rules: S::bin_rules(bins),
        }
    }
}

impl<S: Sum> Kernel<S> for Bins<S> {
    type Plan = Plan;

    fn outside(&self) -> S {
        S::default()
    }

    fn size_of_plan(&self) -> usize {
        let [rows, columns] = self.output_size;
        2 * (rows + columns)
    }

    fn plan(&self, region: &Region<S>) -> Plan {
        let mut plan = Plan::default();
        let [rows, columns] = self.output_size;
        let [height, width] = self.map;
        S::bin(&self.rules[0], region.y, rows, height, &mut plan.y);
        S::bin(&self.rules[1], region.x, columns, width, &mut plan.x);
        plan
    }

    fn window(&self, plan: &Plan) -> [Range<usize>; 2] {
        [hull(plan.y.iter().cloned()), hull(plan.x.iter().cloned())]
    }

    #[inline(always)]
    fn compute<const L: usize>(
        &self,
        plan: &Plan,
        columns: Range<usize>,
        rows: &impl Rows<S, L>,
        along_y: &mut [[S; L]],
        output: &mut [[S; L]],
    ) {
        for (output, bin_y) in output.chunks_exact_mut(plan.x.len()).zip(&plan.y) {
            maxima(along_y, bin_y.clone(), |row| rows.row(row, columns.clone()));
            for (output, bin_x) in output.iter_mut().zip(&plan.x) {
                let mut maximum = [S::LEAST; L];
                if bin_x.is_empty() || bin_y.is_empty() {
                    maximum = [S::default(); L];
                } else {
                    let pixels = bin_x.start - columns.start..bin_x.end - columns.start;
                    for pixel in &along_y[pixels] {
                        keep_larger(&mut maximum, pixel);
                    }
                }
                *output = maximum;
            }
        }
    }
}
