//! The average over samples: a row of the output is a weighted sum of the window's rows, and an element
//! of it a weighted sum of that.

use burn_flex::FlexTensor;

use super::{Call, Number, Plane, Sum};
use crate::geometry::convention::RegionSamples;
use crate::geometry::plan::{Coordinate, Weights};

/// A region's weights, and the row that both passes share.
struct Workspace<S> {
    y: Weights<S>,
    x: Weights<S>,
    row: Vec<S>,
}

impl<S: Sum> Default for Workspace<S> {
    fn default() -> Self {
        Self {
            y: Weights::default(),
            x: Weights::default(),
            row: Vec::new(),
        }
    }
}

pub(super) fn sample<E: Number>(
    features: FlexTensor,
    boxes: FlexTensor,
    batch_indices: FlexTensor,
    sampling: &RegionSamples,
) -> FlexTensor {
    let [rows, columns] = sampling.output_size;
    let (rule_y, rule_x) = (
        E::Sum::axis_rule(&sampling.y),
        E::Sum::axis_rule(&sampling.x),
    );
    let call = Call::<E>::new(
        features,
        boxes,
        batch_indices,
        sampling.output_size,
        sampling.columns,
    );
    let [height, width] = call.map();
    let outside = E::Sum::from_f64(sampling.out_of_bounds_value);
    call.run(
        sampling.out_of_bounds_value,
        |workspace: &mut Workspace<E::Sum>, region| {
            E::Sum::weigh(&rule_y, region.y, rows, height, &mut workspace.y);
            E::Sum::weigh(&rule_x, region.x, columns, width, &mut workspace.x);
        },
        |workspace, plane, output| average(workspace, plane, outside, output),
    )
}

/// One channel of one region.
fn average<E: Number>(
    workspace: &mut Workspace<E::Sum>,
    plane: Plane<'_, E>,
    outside: E::Sum,
    output: &mut [E],
) {
    let Workspace { y, x, row } = workspace;
    let window = x.window();
    row.resize(window.len(), E::Sum::default());
    let width = x.pixels.len();

    for (output, (pixels, weights, &share_y)) in output.chunks_exact_mut(width).zip(y.elements()) {
        row.fill(E::Sum::default());
        for (pixel, &weight) in pixels.zip(weights) {
            for (sum, &number) in row.iter_mut().zip(plane.row(pixel, window.clone())) {
                *sum += weight * number.load();
            }
        }
        for (output, (pixels, weights, &share_x)) in output.iter_mut().zip(x.elements()) {
            let mut sum = E::Sum::default();
            if !pixels.is_empty() {
                let along_y = &row[pixels.start - window.start..pixels.end - window.start];
                for (&weight, &number) in weights.iter().zip(along_y) {
                    sum += weight * number;
                }
            }
            if outside != E::Sum::default() {
                sum += outside * (E::Sum::ONE - share_y * share_x);
            }
            *output = E::store(sum);
        }
    }
}
