//! The maximum over samples: each sample of y gives a row of the window, each sample of x a number.

use burn_flex::FlexTensor;

use super::{Call, Number, Plane, Sum};
use crate::geometry::convention::{Reduction, RegionSamples};
use crate::geometry::plan::{Coordinate, Samples};

/// A region's samples, the row between the two passes, and the maxima of an output row.
struct Workspace<S> {
    y: Samples<S>,
    x: Samples<S>,
    row: Vec<S>,
    maxima: Vec<S>,
}

impl<S: Sum> Default for Workspace<S> {
    fn default() -> Self {
        Self {
            y: Samples::default(),
            x: Samples::default(),
            row: Vec::new(),
            maxima: Vec::new(),
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
    let apart = sampling.reduction == Reduction::MaxOfWeightedCorners;
    let (least, outside) = match sampling.reduction {
        Reduction::MaxFromZero => (E::Sum::default(), sampling.out_of_bounds_value.max(0.0)),
        _ => (E::Sum::LEAST, sampling.out_of_bounds_value),
    };
    let outside_sum = E::Sum::from_f64(outside);
    call.run(
        outside,
        |workspace: &mut Workspace<E::Sum>, region| {
            E::Sum::sample(&rule_y, region.y, rows, height, apart, &mut workspace.y);
            E::Sum::sample(&rule_x, region.x, columns, width, apart, &mut workspace.x);
        },
        |workspace, plane, output| maximum(workspace, plane, least, outside_sum, output),
    )
}

/// One channel of one region.
fn maximum<E: Number>(
    workspace: &mut Workspace<E::Sum>,
    plane: Plane<'_, E>,
    least: E::Sum,
    outside: E::Sum,
    output: &mut [E],
) {
    let Workspace { y, x, row, maxima } = workspace;
    let window = x.window();
    row.resize(window.len(), E::Sum::default());
    let width = x.samples.len();

    for (output, (samples_y, complete_y)) in output.chunks_exact_mut(width).zip(y.elements()) {
        maxima.clear();
        maxima.resize(width, least);
        for taps in samples_y {
            let low = plane.row(taps.low, window.clone());
            let high = plane.row(taps.high, window.clone());
            for ((along_y, &low), &high) in row.iter_mut().zip(low).zip(high) {
                *along_y = taps.low_weight * low.load() + taps.high_weight * high.load();
            }
            for (maximum, (samples_x, _)) in maxima.iter_mut().zip(x.elements()) {
                for taps in samples_x {
                    let low = taps.low_weight * row[taps.low - window.start];
                    let high = taps.high_weight * row[taps.high - window.start];
                    *maximum = maximum.larger(low + high);
                }
            }
        }
        for ((output, maximum), (samples_x, complete_x)) in
            output.iter_mut().zip(&*maxima).zip(x.elements())
        {
            *output = E::store(if samples_y.is_empty() || samples_x.is_empty() {
                outside
            } else if complete_y && complete_x {
                *maximum
            } else {
                maximum.larger(outside)
            });
        }
    }
}
