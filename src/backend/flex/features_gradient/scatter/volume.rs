//! An average on volumes: the gradient of an element of a slice is the sum of the gradients of the output's elements
//! that read the slice, each times its weight.

use std::ops::Range;

use pulp::Simd;

use super::{GradientScratch, Scatter, ScatterAverage};
use crate::backend::flex::dtype::Sum;
use crate::backend::flex::features_gradient::sum_rows::SumRows;
use crate::backend::flex::kernels::add_pixels;
use crate::backend::flex::pixels::Rows;
use crate::backend::flex::planned::VolumePlan;
use crate::geometry::plan::{ChannelGroup, Weights, hull};

/// How many elements a slice has.
pub struct ScatterVolume(pub usize);

impl<S: Sum> Scatter<S> for ScatterVolume {
    type Plan = VolumePlan<Weights<S>>;

    fn elements(&self, plan: &Self::Plan, band: &ChannelGroup) -> Range<usize> {
        let (planes, elements) = (planes(plan, band), band.indices());
        planes.start * self.0 + elements.start..(planes.end - 1) * self.0 + elements.end
    }

    #[inline(always)]
    fn add<const L: usize>(
        &self,
        simd: impl Simd,
        plan: &Self::Plan,
        band: &ChannelGroup,
        columns: Range<usize>,
        gradient: &[[S; L]],
        features: &impl Rows<S, L>,
        scratch: &mut GradientScratch<S, L>,
        sums: &mut SumRows<S, L>,
    ) {
        let mut slice = std::mem::take(&mut scratch.slice);
        slice.resize(band.indices().len());
        slice.get_mut().fill([S::default(); L]);
        for (plane, gradient) in planes(plan, band).zip(gradient.chunks(self.0)) {
            if let Some(weight) = plan.depth.weight_of(plane, band.index) {
                add_pixels(slice.get_mut(), weight, gradient);
            }
        }
        ScatterAverage.add(simd, &plan.slices, band, columns, slice.get(), features, scratch, sums);
        scratch.slice = slice;
    }
}

/// The elements along the depth from the first to the last one that reads a slice.
fn planes<S>(plan: &VolumePlan<Weights<S>>, slice: &ChannelGroup) -> Range<usize> {
    let reads = plan.depth.reads.iter().enumerate();
    let read = reads.filter(|(_, read)| read.pixels.contains(&slice.index));
    hull(read.map(|(plane, _)| plane..plane + 1))
}
