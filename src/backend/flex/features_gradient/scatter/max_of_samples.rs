//! A maximum over samples: the pixels of the largest sample get the gradient times their weights.

use std::ops::Range;

use pulp::Simd;

use super::{GradientScratch, Reads, Scatter};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::kernels::Window;
use crate::backend::flex::pixels::{Rows, Tile};
use crate::geometry::plan::{ChannelGroup, SampleTaps, Values};

pub struct ScatterMaxOfSamples<S>(pub Values<S>);

impl<S: Sum> Scatter<S> for ScatterMaxOfSamples<S> {
    type Plan = [SampleTaps<S>; 2];

    fn reads(&self) -> Reads {
        Reads::Pixels
    }

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        _simd: impl Simd,
        plan: &[SampleTaps<S>; 2],
        band: &ChannelGroup,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        sums: &mut Tile<S, L>,
    ) {
        let window = Window {
            rows: features,
            columns,
        };
        let ([y, x], elements) = (plan, band.elements.clone());
        scratch.winners.visit(
            self.0,
            plan,
            elements,
            &window,
            gradient,
            #[inline(always)]
            |[at_y, at_x], lane, gradient| {
                let (y, x) = (y.taps[at_y], x.taps[at_x]);
                for (row, weight_y) in [(y.low, y.low_weight), (y.high, y.high_weight)] {
                    for (column, weight_x) in [(x.low, x.low_weight), (x.high, x.high_weight)] {
                        sums.add([row, column], lane, weight_y * weight_x * gradient);
                    }
                }
            },
        );
    }
}
