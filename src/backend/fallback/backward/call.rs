//! The gradients of a call, from what its regions read.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Shape, Slice};

use super::reads::Linear;
use crate::backend::fallback::channels_last::ChannelsLast;
use crate::backend::fallback::planned::{ChannelRun, Planned, Values, hull_of, planned, runs};
use crate::backend::fallback::tensors::{Sum, cast, concatenate, cut, every_channel};
use crate::geometry::plan::{AxisPlan, Planner, Region, pixel_count};

/// How many numbers the pixels of an image hold at most, 24 MiB of f32. Their gradient holds as many.
const PIXELS: usize = 6 << 20;

/// A call, of which a gradient is computed.
pub struct GradientCall<'a, B: Backend, R: Sum> {
    /// The gradient of the output, `[K, channels, P, Q]`.
    pub gradient: FloatTensor<B>,
    /// `[N, C, H, W]`; none if they are not read.
    pub features: Option<FloatTensor<B>>,
    pub regions: &'a [Region],
    pub planner: &'a Planner<R>,
    pub values: Values,
    /// The shape of the features.
    pub shape: [usize; 4],
}

impl<B: Backend, R: Sum> GradientCall<'_, B, R> {
    /// The gradient of features.
    pub fn features_gradient<P: Linear<R>>(&self) -> FloatTensor<B> {
        let (device, dtype): (_, FloatDType) = (self.gradient.device(), self.gradient.dtype().into());
        let mut output = B::float_zeros(Shape::new(self.shape), &device, dtype);
        for run in runs(self.planner) {
            for image in 0..self.shape[0] {
                let regions = self.planned::<P>(&run, image, false);
                if regions.is_empty() {
                    continue;
                }
                let window = hull_of(&regions);
                for channels in self.blocks(pixel_count(&window)) {
                    let pixels = P::READS_FEATURES.then(|| self.pixels(&run, image, &channels, &window));
                    let sizes = [window[0].len(), window[1].len(), channels.len()];
                    let mut sums = B::float_zeros(Shape::new(sizes), &device, R::DTYPE);
                    for region in &regions {
                        let gradient = self.gradient_of(region.row, &run, &channels);
                        for reads in P::reads(&region.plan, self.values, pixels.as_ref(), gradient) {
                            sums = add_at::<B>(sums, reads.window_gradient(), &reads.window(), &window);
                        }
                    }
                    let sums = B::float_permute(cast::<B>(sums, dtype), &[2, 0, 1]);
                    output = self.write(output, sums, &run, image, &channels, &window);
                }
            }
        }
        output
    }

    /// The gradient of boxes `[K, 4]`. `columns` are those of y1 and y2, and of x1 and x2.
    pub fn boxes_gradient<P: Linear<R>>(&self, columns: [[usize; 2]; 2]) -> FloatTensor<B> {
        let device = self.gradient.device();
        let mut output = B::float_zeros(Shape::new([self.regions.len(), 4]), &device, R::DTYPE);
        for run in runs(self.planner) {
            for image in 0..self.shape[0] {
                for Planned { row, plan, window } in self.planned::<P>(&run, image, true) {
                    for channels in self.blocks(pixel_count(&window)) {
                        let pixels = self.pixels(&run, image, &channels, &window);
                        let gradient = self.gradient_of(row, &run, &channels);
                        for reads in P::reads(&plan, self.values, Some(&pixels), gradient) {
                            let part = of_box::<B>(reads.ends_gradient(&pixels), columns);
                            let row = [Slice::from(row..row + 1), Slice::full()];
                            let sum = B::float_add(B::float_slice(output.clone(), &row), part);
                            output = B::float_slice_assign(output, &row, sum);
                        }
                    }
                }
            }
        }
        output
    }

    /// The regions of an image that read some pixel.
    pub fn planned<P: AxisPlan<R>>(&self, run: &ChannelRun, image: usize, slopes: bool) -> Vec<Planned<P>> {
        planned(self.planner, self.regions, image, run, slopes).collect()
    }

    /// The channels of the output in blocks.
    fn blocks(&self, pixels: usize) -> impl Iterator<Item = Range<usize>> {
        let channels = self.gradient.shape()[1];
        cut(0..channels, (PIXELS / pixels).clamp(1, channels))
    }

    fn pixels(
        &self,
        run: &ChannelRun,
        image: usize,
        channels: &Range<usize>,
        window: &[Range<usize>; 2],
    ) -> ChannelsLast<B> {
        ChannelsLast::copy::<R>(&self.features_of(run), image, channels, window)
    }

    /// The channels that a run reads.
    fn features_of(&self, run: &ChannelRun) -> FloatTensor<B> {
        let features = self.features.as_ref().expect("the features are read");
        every_channel::<B>(features, run.first_channel, self.shape[1] / self.gradient.shape()[1])
    }

    /// The gradient `[P, Q, C]` of a run of a region's elements.
    fn gradient_of(&self, row: usize, run: &ChannelRun, channels: &Range<usize>) -> FloatTensor<B> {
        let [rows, columns] = run.elements.clone();
        let sizes = [channels.len(), rows.len(), columns.len()];
        let slices = [row..row + 1, channels.clone(), rows, columns].map(Slice::from);
        let gradient = B::float_reshape(B::float_slice(self.gradient.clone(), &slices), Shape::new(sizes));
        cast::<B>(B::float_permute(gradient, &[1, 2, 0]), R::DTYPE)
    }

    /// Writes sums `[C, H, W]` to the channels that a run reads.
    fn write(
        &self,
        output: FloatTensor<B>,
        sums: FloatTensor<B>,
        run: &ChannelRun,
        image: usize,
        channels: &Range<usize>,
        [rows, columns]: &[Range<usize>; 2],
    ) -> FloatTensor<B> {
        let step = self.shape[1] / self.gradient.shape()[1];
        let first = run.first_channel + channels.start * step;
        let place =
            |channels: Range<usize>| [image..image + 1, channels, rows.clone(), columns.clone()].map(Slice::from);
        let shape = |channels: usize| Shape::new([1, channels, rows.len(), columns.len()]);
        if step == 1 {
            let sums = B::float_reshape(sums, shape(channels.len()));
            return B::float_slice_assign(output, &place(first..first + channels.len()), sums);
        }
        (0..channels.len()).fold(output, |output, number| {
            let sums = B::float_slice(sums.clone(), &[Slice::from(number..number + 1)]);
            let channel = first + number * step;
            B::float_slice_assign(output, &place(channel..channel + 1), B::float_reshape(sums, shape(1)))
        })
    }
}

/// The gradients of y1, y2, x1 and x2 in the order of a box's columns, `[1, 4]`.
fn of_box<B: Backend>(of_ends: [FloatTensor<B>; 4], columns: [[usize; 2]; 2]) -> FloatTensor<B> {
    let mut of_columns: Vec<_> = columns.into_iter().flatten().zip(of_ends).collect();
    of_columns.sort_by_key(|(column, _)| *column);
    let of_columns = of_columns.into_iter().map(|(_, gradient)| gradient);
    B::float_reshape(concatenate::<B>(of_columns.collect(), 0), Shape::new([1, 4]))
}

/// Adds `[h, w, C]` to a window of sums `[H, W, C]`, which begin at `origin`.
fn add_at<B: Backend>(
    sums: FloatTensor<B>,
    part: FloatTensor<B>,
    window: &[Range<usize>; 2],
    origin: &[Range<usize>; 2],
) -> FloatTensor<B> {
    let within = |axis: usize| window[axis].start - origin[axis].start..window[axis].end - origin[axis].start;
    let slices = [Slice::from(within(0)), Slice::from(within(1)), Slice::full()];
    let sum = B::float_add(B::float_slice(sums.clone(), &slices), part);
    B::float_slice_assign(sums, &slices, sum)
}
