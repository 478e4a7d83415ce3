//! Gradients from tensor operations of any Burn backend.
//!
//! What a region reads in a block of channels is linear once the winners of maxima are known: `Y · F · Xᵀ`, where F is
//! its window, and a row of Y or X is an element's weights or a sample's. With D, the gradient of each of these:
//!
//! - the gradient of the window is `Yᵀ · D · X`;
//! - that of an end of the region is the sum of `D` times `Y' · F · Xᵀ`, where Y' has the slopes of the weights.
//!
//! [`Reads`] has these matrices and D; [`average`] and [`max_of_samples`] make them, for each kind of plan. A maximum
//! over bins of whole pixels has no such matrices: [`max_of_pixels`] finds one pixel for each bin.

mod average;
mod max_of_pixels;
mod max_of_samples;
mod reads;

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{DType, FloatDType, Shape, Slice};

use self::average::Average;
use self::max_of_samples::MaxOfSamples;
use self::reads::Reads;
use super::{ChannelsLast, Sum, cast, concatenate, every_channel, points};
use crate::backend::HostRegions;
use crate::geometry::operator::RegionOperator;
use crate::geometry::plan::{AxisPlan, PlanKind, Planner, PointPlanner, Region, hull, pixel_count};

/// How many numbers the pixels of an image hold at most, 24 MiB of f32. Their gradient holds as many.
const PIXELS: usize = 6 << 20;

/// How a kind of plan becomes what is read.
trait Kernel<R: Sum> {
    /// The plan of an axis. It has slopes where the gradient of boxes is wanted.
    type Plan: AxisPlan<R>;

    /// Whether the gradient of features reads them.
    const READS_FEATURES: bool;

    /// What a region reads in a block of channels, in parts. `gradient` is `[P, Q, C]`.
    fn reads<B: Backend>(
        &self,
        pixels: Option<&ChannelsLast<B>>,
        plan: &[Self::Plan; 2],
        gradient: FloatTensor<B>,
    ) -> Vec<Reads<B, R>>;
}

/// See [`RegionKernels::average_gradient`](crate::backend::RegionKernels::average_gradient).
pub fn average_gradient<B: Backend>(
    gradient: FloatTensor<B>,
    regions: Option<HostRegions>,
    operator: &RegionOperator,
    shape: [usize; 4],
) -> FloatTensor<B> {
    match gradient.dtype() {
        DType::F64 => features_gradient::<B, f64>(gradient, None, regions, operator, shape),
        _ => features_gradient::<B, f32>(gradient, None, regions, operator, shape),
    }
}

/// See [`RegionKernels::maximum_gradient`](crate::backend::RegionKernels::maximum_gradient).
pub fn maximum_gradient<B: Backend>(
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    regions: Option<HostRegions>,
    operator: &RegionOperator,
) -> FloatTensor<B> {
    let shape = features.shape().dims();
    match gradient.dtype() {
        DType::F64 => features_gradient::<B, f64>(gradient, Some(features), regions, operator, shape),
        _ => features_gradient::<B, f32>(gradient, Some(features), regions, operator, shape),
    }
}

/// See [`RegionKernels::boxes_gradient`](crate::backend::RegionKernels::boxes_gradient).
pub fn boxes_gradient<B: Backend>(
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    boxes: FloatTensor<B>,
    regions: Option<HostRegions>,
    operator: &RegionOperator,
) -> FloatTensor<B> {
    let of_boxes = match gradient.dtype() {
        DType::F64 => boxes_gradient_in::<B, f64>(gradient, features, regions, operator),
        _ => boxes_gradient_in::<B, f32>(gradient, features, regions, operator),
    };
    cast::<B>(of_boxes, boxes.dtype().into())
}

fn features_gradient<B: Backend, R: Sum>(
    gradient: FloatTensor<B>,
    features: Option<FloatTensor<B>>,
    regions: Option<HostRegions>,
    operator: &RegionOperator,
    shape: [usize; 4],
) -> FloatTensor<B> {
    let regions = regions.expect("the regions of a backend without kernels are read");
    if let Some(planner) = PointPlanner::new(operator, [shape[2], shape[3]]) {
        return points::features_gradient::<B, R>(gradient, regions, &planner, operator.channel_map, shape);
    }
    let planner = Planner::<R>::new(operator, [shape[2], shape[3]]);
    let call = Call::<B, R> {
        gradient,
        features,
        regions: &regions,
        planner: &planner,
        shape,
    };
    match planner.kind() {
        PlanKind::Weights => call.features_gradient(&Average::<false>),
        PlanKind::SampleTaps => call.features_gradient(&MaxOfSamples::<false>::new(&planner)),
        PlanKind::PixelRanges => call.gradient_of_largest_pixels(),
    }
}

/// The gradient of boxes in the dtype of sums.
fn boxes_gradient_in<B: Backend, R: Sum>(
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    regions: Option<HostRegions>,
    operator: &RegionOperator,
) -> FloatTensor<B> {
    let regions = regions.expect("the regions of a backend without kernels are read");
    let shape: [usize; 4] = features.shape().dims();
    if let Some(planner) = PointPlanner::new(operator, [shape[2], shape[3]]) {
        return points::regions_gradient::<B, R>(gradient, features, regions, &planner, operator.channel_map);
    }
    let planner = Planner::<R>::new(operator, [shape[2], shape[3]]);
    let call = Call::<B, R> {
        gradient,
        features: Some(features),
        regions: &regions,
        planner: &planner,
        shape,
    };
    let columns = operator.box_format.columns();
    match planner.kind() {
        PlanKind::Weights => call.boxes_gradient(&Average::<true>, columns),
        PlanKind::SampleTaps => call.boxes_gradient(&MaxOfSamples::<true>::new(&planner), columns),
        PlanKind::PixelRanges => unreachable!("bins do not move with a box"),
    }
}

/// What is computed.
struct Call<'a, B: Backend, R: Sum> {
    /// The gradient of the output, `[K, channels, P, Q]`.
    gradient: FloatTensor<B>,
    /// `[N, C, H, W]`, where they are read.
    features: Option<FloatTensor<B>>,
    regions: &'a [Region],
    planner: &'a Planner<R>,
    /// The shape of the features.
    shape: [usize; 4],
}

/// A run of output elements that read the same channels.
struct Run {
    /// Rows and columns of the output.
    elements: [Range<usize>; 2],
    /// The channel that the first output channel reads.
    first_channel: usize,
}

impl<B: Backend, R: Sum> Call<'_, B, R> {
    fn features_gradient<K: Kernel<R>>(&self, kernel: &K) -> FloatTensor<B> {
        let images = self.shape[0];
        let (device, dtype): (_, FloatDType) = (self.gradient.device(), self.gradient.dtype().into());
        let mut output = B::float_zeros(Shape::new(self.shape), &device, dtype);
        for run in self.runs() {
            for image in 0..images {
                let planned = self.planned::<K::Plan>(&run, image);
                let windows = planned.iter().map(|(_, _, window)| window);
                let window = [0, 1].map(|axis| hull(windows.clone().map(|window| window[axis].clone())));
                if pixel_count(&window) == 0 {
                    continue;
                }
                for channels in self.blocks(pixel_count(&window)) {
                    let pixels = self.pixels(K::READS_FEATURES, &run, image, &channels, &window);
                    let sizes = [window[0].len(), window[1].len(), channels.len()];
                    let mut sums = B::float_zeros(Shape::new(sizes), &device, R::DTYPE);
                    for (row, plan, _) in &planned {
                        let gradient = self.gradient_of(*row, &run, &channels);
                        for reads in kernel.reads(pixels.as_ref(), plan, gradient) {
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

    fn boxes_gradient<K: Kernel<R>>(&self, kernel: &K, columns: [[usize; 2]; 2]) -> FloatTensor<B> {
        let device = self.gradient.device();
        let mut output = B::float_zeros(Shape::new([self.regions.len(), 4]), &device, R::DTYPE);
        for run in self.runs() {
            for image in 0..self.shape[0] {
                for (row, plan, window) in self.planned::<K::Plan>(&run, image) {
                    for channels in self.blocks(pixel_count(&window)) {
                        let pixels = self.pixels(true, &run, image, &channels, &window);
                        let pixels = pixels.expect("the features are read");
                        let gradient = self.gradient_of(row, &run, &channels);
                        for reads in kernel.reads(Some(&pixels), &plan, gradient) {
                            let of_ends = reads.ends_gradient(&pixels);
                            // From [[y1, y2], [x1, x2]] to the columns of a box.
                            let mut of_columns = [0; 4].map(|_| None);
                            for (column, of_end) in columns.into_iter().flatten().zip(of_ends) {
                                of_columns[column] = Some(of_end);
                            }
                            let of_columns = of_columns.into_iter().map(|column| column.expect("four columns"));
                            let part = B::float_reshape(concatenate::<B>(of_columns.collect(), 0), Shape::new([1, 4]));
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

    fn runs(&self) -> Vec<Run> {
        let (map, [_, width]) = (self.planner.channel_map(), self.planner.output_size());
        let along_x = self.planner.runs(1);
        let rows = self.planner.runs(0).into_iter();
        let run = |rows: Range<usize>, columns: Range<usize>| Run {
            first_channel: map.first_channel([rows.start, columns.start], width),
            elements: [rows, columns],
        };
        rows.flat_map(|rows| along_x.iter().map(move |columns| run(rows.clone(), columns.clone())))
            .collect()
    }

    /// The regions of an image that read some pixel: their rows, plans and windows.
    #[allow(clippy::type_complexity)]
    fn planned<P: AxisPlan<R>>(&self, run: &Run, image: usize) -> Vec<(usize, [P; 2], [Range<usize>; 2])> {
        let regions = self.regions.iter().enumerate();
        let of_image = regions.filter(|(_, region)| region.image == image && self.planner.pools(region));
        let planned = of_image.map(|(row, region)| {
            let plan = [0, 1].map(|axis| P::make(self.planner, region, axis, run.elements[axis].clone()));
            let window = plan.each_ref().map(AxisPlan::window);
            (row, plan, window)
        });
        planned.filter(|(_, _, window)| pixel_count(window) > 0).collect()
    }

    /// The channels of the output in blocks.
    fn blocks(&self, pixels: usize) -> impl Iterator<Item = Range<usize>> {
        let channels = self.gradient.shape()[1];
        let block = (PIXELS / pixels).clamp(1, channels);
        (0..channels)
            .step_by(block)
            .map(move |start| start..(start + block).min(channels))
    }

    fn pixels(
        &self,
        read: bool,
        run: &Run,
        image: usize,
        channels: &Range<usize>,
        window: &[Range<usize>; 2],
    ) -> Option<ChannelsLast<B>> {
        read.then(|| ChannelsLast::copy::<R>(&self.features_of(run), image, channels, window))
    }

    /// The channels that a run reads.
    fn features_of(&self, run: &Run) -> FloatTensor<B> {
        let features = self.features.as_ref().expect("the features are read");
        every_channel::<B>(features, run.first_channel, self.shape[1] / self.gradient.shape()[1])
    }

    /// The gradient `[P, Q, C]` of a run of a region's elements.
    fn gradient_of(&self, row: usize, run: &Run, channels: &Range<usize>) -> FloatTensor<B> {
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
        run: &Run,
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
