//! The gradients of a call, from what its regions read.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Shape, Slice};

use super::reads::Linear;
use crate::backend::RegionCall;
use crate::backend::fallback::channels_last::{ChannelsLast, within};
use crate::backend::fallback::planned::{PlannedGroup, Values, hull_of, planned, values};
use crate::backend::fallback::tensors::{Number, add_at, cast, concatenate, cut, place};
use crate::geometry::plan::{AxisPlan, ChannelGroup, Planner, Region, pixel_count};

/// How many numbers the pixels of an image hold at most, 24 MiB of f32. Their gradient holds as many.
const PIXELS: usize = 6 << 20;

/// A call, of which a gradient is computed.
pub struct GradientCall<'a, B: Backend, R: Number> {
    /// The gradient of the output, `[K, channels, P, Q]`.
    pub gradient: FloatTensor<B>,
    /// `[N, C, H, W]`; none if they are not read.
    features: Option<FloatTensor<B>>,
    pub regions: &'a [Region],
    pub planner: Planner<R>,
    values: Values,
    /// The shape of the features.
    pub shape: [usize; 4],
    /// The channels of the output.
    pub channels: usize,
}

impl<'a, B: Backend, R: Number> GradientCall<'a, B, R> {
    pub fn new(gradient: FloatTensor<B>, features: Option<FloatTensor<B>>, call: &'a RegionCall<B>) -> Self {
        let planner = Planner::new(&call.operator, call.features_shape);
        Self {
            channels: gradient.shape()[1],
            gradient,
            features,
            regions: call.host_regions(),
            values: values(&planner),
            planner,
            shape: call.features_shape,
        }
    }

    /// The features, if the operator reads them.
    pub fn features(&self) -> &FloatTensor<B> {
        self.features.as_ref().expect("the features are read")
    }

    /// The gradient of features.
    pub fn features_gradient<P: Linear<R>>(&self) -> FloatTensor<B> {
        let (device, dtype): (_, FloatDType) = (self.gradient.device(), self.gradient.dtype().into());
        let mut output = B::float_zeros(Shape::new(self.shape), &device, dtype);
        for group in &self.planner.groups {
            for image in 0..self.shape[0] {
                let regions = self.planned::<P>(group, image, false);
                if regions.is_empty() {
                    continue;
                }
                let window = hull_of(&regions);
                let [height, width] = window.each_ref().map(Range::len);
                for channels in self.blocks(height * width) {
                    let copy = || ChannelsLast::<B>::copy::<R>(self.features(), image, group, &channels, &window);
                    let pixels = P::READS_FEATURES.then(copy);
                    let mut sums = B::float_zeros(Shape::new([height, width, channels.len()]), &device, R::DTYPE);
                    for region in &regions {
                        let gradient = self.gradient_of(region.row, group, &channels);
                        for reads in P::reads(&region.plan, self.values, pixels.as_ref(), gradient) {
                            sums = add_at::<B>(sums, &within(reads.window(), &window), reads.window_gradient());
                        }
                    }
                    let sums = B::float_permute(cast::<B>(sums, dtype), &[2, 0, 1]);
                    let sums = B::float_reshape(sums, Shape::new([1, channels.len(), height, width]));
                    output = B::float_slice_assign(output, &place(image, group, &channels, &window), sums);
                }
            }
        }
        output
    }

    /// The gradient of boxes `[K, 4]`.
    pub fn boxes_gradient<P: Linear<R>>(&self) -> FloatTensor<B> {
        let device = self.gradient.device();
        let columns = self.planner.operator.box_format.columns();
        let mut output = B::float_zeros(Shape::new([self.regions.len(), 4]), &device, R::DTYPE);
        for group in &self.planner.groups {
            for image in 0..self.shape[0] {
                for PlannedGroup { row, plan, window } in self.planned::<P>(group, image, true) {
                    for channels in self.blocks(pixel_count(&window)) {
                        let features = self.features();
                        let pixels = ChannelsLast::<B>::copy::<R>(features, image, group, &channels, &window);
                        let gradient = self.gradient_of(row, group, &channels);
                        for reads in P::reads(&plan, self.values, Some(&pixels), gradient) {
                            let part = in_columns::<B>(reads.ends_gradient(&pixels), columns);
                            output = add_at::<B>(output, &[Slice::from(row..row + 1), Slice::full()], part);
                        }
                    }
                }
            }
        }
        output
    }

    /// The regions of an image that read some pixel.
    pub fn planned<P: AxisPlan<R>>(&self, group: &ChannelGroup, image: usize, slopes: bool) -> Vec<PlannedGroup<P>> {
        planned(&self.planner, self.regions, image, group, slopes).collect()
    }

    /// The channels of the output in blocks.
    fn blocks(&self, pixels: usize) -> impl Iterator<Item = Range<usize>> {
        cut(0..self.channels, (PIXELS / pixels).clamp(1, self.channels))
    }

    /// The gradient `[P, Q, C]` of a group of a region's elements.
    fn gradient_of(&self, row: usize, group: &ChannelGroup, channels: &Range<usize>) -> FloatTensor<B> {
        let [rows, columns] = group.elements.clone();
        let sizes = [channels.len(), rows.len(), columns.len()];
        let slices = [row..row + 1, channels.clone(), rows, columns].map(Slice::from);
        let gradient = B::float_reshape(B::float_slice(self.gradient.clone(), &slices), Shape::new(sizes));
        cast::<B>(B::float_permute(gradient, &[1, 2, 0]), R::DTYPE)
    }
}

/// The gradients of y1, y2, x1 and x2 in the order of a box's columns, `[1, 4]`.
fn in_columns<B: Backend>(end_gradients: [FloatTensor<B>; 4], columns: [[usize; 2]; 2]) -> FloatTensor<B> {
    let mut gradients: Vec<_> = columns.into_iter().flatten().zip(end_gradients).collect();
    gradients.sort_by_key(|(column, _)| *column);
    let gradients = gradients.into_iter().map(|(_, gradient)| gradient);
    B::float_reshape(concatenate::<B>(gradients.collect(), 0), Shape::new([1, 4]))
}
