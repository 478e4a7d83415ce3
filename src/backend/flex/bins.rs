//! Maxima of quantized bins: a bin's rows first, then its columns.

use std::ops::Range;

use burn_flex::FlexTensor;

use super::{Call, Number, Plane, Sum};
use crate::geometry::convention::RegionBins;
use crate::geometry::plan::{Coordinate, hull};

/// A region's bins, and the row that both passes share.
struct Workspace<S> {
    y: Vec<Range<usize>>,
    x: Vec<Range<usize>>,
    row: Vec<S>,
}

impl<S: Sum> Default for Workspace<S> {
    fn default() -> Self {
        Self {
            y: Vec::new(),
            x: Vec::new(),
            row: Vec::new(),
        }
    }
}

pub(super) fn pool<E: Number>(
    features: FlexTensor,
    boxes: FlexTensor,
    batch_indices: FlexTensor,
    bins: &RegionBins,
) -> FlexTensor {
    let [rows, columns] = bins.output_size;
    let [rule_y, rule_x] = E::Sum::bin_rules(bins);
    let call = Call::<E>::new(
        features,
        boxes,
        batch_indices,
        bins.output_size,
        [0, 1, 2, 3],
    );
    let [height, width] = call.map();
    call.run(
        0.0,
        |workspace: &mut Workspace<E::Sum>, region| {
            E::Sum::bin(&rule_y, region.y, rows, height, &mut workspace.y);
            E::Sum::bin(&rule_x, region.x, columns, width, &mut workspace.x);
        },
        maximum,
    )
}

/// One channel of one region.
fn maximum<E: Number>(workspace: &mut Workspace<E::Sum>, plane: Plane<'_, E>, output: &mut [E]) {
    let Workspace { y, x, row } = workspace;
    let window = hull(x.iter().cloned());

    for (output, bin_y) in output.chunks_exact_mut(x.len()).zip(&*y) {
        row.clear();
        row.resize(window.len(), E::Sum::LEAST);
        for pixel in bin_y.clone() {
            for (maximum, &number) in row.iter_mut().zip(plane.row(pixel, window.clone())) {
                *maximum = maximum.larger(number.load());
            }
        }
        for (output, bin_x) in output.iter_mut().zip(&*x) {
            *output = E::store(if bin_x.is_empty() || bin_y.is_empty() {
                E::Sum::default()
            } else {
                let along_y = &row[bin_x.start - window.start..bin_x.end - window.start];
                along_y
                    .iter()
                    .fold(E::Sum::LEAST, |maximum, &number| maximum.larger(number))
            });
        }
    }
}
