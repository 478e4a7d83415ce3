//! Operators whose elements read points, and their gradients: products with the dense matrix `W` of a region's weights,
//! a row for each element and a column for each pixel of its window.
//!
//! With pixels `F` as `[C, window]` and the gradient of the output `D` as `[C, elements]`, an output is `F · Wᵀ`, and
//! the gradient of the window is `D · W`. The gradient of a column of the region is the sum of `Dᵀ · F` times the
//! derivatives of W by it.

use std::ops::Range;

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{FloatDType, Shape, Slice, TensorData, read_sync};

use super::backward::call::GradientCall;
use super::tensors::{Number, add_at, cast, cut, place};
use crate::backend::RegionCall;
use crate::geometry::plan::{ChannelGroup, ElementSpans, Planner, PointWeights, Region, hull, pixel_count};

/// How many numbers the pixels or the weights of a product hold at most, 24 MiB of f32.
const LARGEST: usize = 6 << 20;

/// Pools the regions in the operator's range of areas.
pub fn pool<B: Backend, R: Number>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    call: &RegionCall<B>,
    planner: &Planner<R>,
) -> FloatTensor<B> {
    let shape = call.output_shape();
    let (device, dtype): (_, FloatDType) = (features.device(), features.dtype().into());
    let [_, channels, rows, columns] = shape.dims();
    let mut output = pooled.unwrap_or_else(|| B::float_zeros(shape.clone(), &device, dtype));
    for (row, image, plan) in planned(call.host_regions(), planner, false) {
        let mut sums = B::float_zeros(Shape::new([channels, rows * columns]), &device, R::DTYPE);
        for product in products(planner, &plan, channels) {
            let pixels = product.pixels::<B, R>(&features, image);
            let weights = B::float_swap_dims(product.matrix::<B, R>(&plan, &device), 0, 1);
            let place = [product.channels.clone(), product.places()].map(Slice::from);
            sums = add_at::<B>(sums, &place, B::float_matmul(pixels, weights));
        }
        let sums = B::float_reshape(cast::<B>(sums, dtype), Shape::new([1, channels, rows, columns]));
        output = B::float_slice_assign(output, &[Slice::from(row..row + 1)], sums);
    }
    output
}

/// The gradient of features.
pub fn features_gradient<B: Backend, R: Number>(call: &GradientCall<'_, B, R>) -> FloatTensor<B> {
    let (device, dtype): (_, FloatDType) = (call.gradient.device(), call.gradient.dtype().into());
    let mut sums = B::float_zeros(Shape::new(call.shape), &device, R::DTYPE);
    for (row, image, plan) in planned(call.regions, &call.planner, false) {
        for product in products(&call.planner, &plan, call.channels) {
            let gradient = product.gradient::<B, R>(&call.gradient, row);
            let window_gradient = B::float_matmul(gradient, product.matrix::<B, R>(&plan, &device));
            let [rows, columns] = product.window.each_ref().map(Range::len);
            let shape = Shape::new([1, product.channels.len(), rows, columns]);
            sums = add_at::<B>(
                sums,
                &product.pixel_place(image),
                B::float_reshape(window_gradient, shape),
            );
        }
    }
    cast::<B>(sums, dtype)
}

/// The gradient of regions, `[K, columns]`.
pub fn regions_gradient<B: Backend, R: Number>(call: &GradientCall<'_, B, R>) -> FloatTensor<B> {
    let columns = call.planner.columns();
    let mut numbers = vec![R::default(); call.regions.len() * columns];
    for (row, image, plan) in planned(call.regions, &call.planner, true) {
        let mut weight_products = vec![0.0; plan.weights.len()];
        for product in products(&call.planner, &plan, call.channels) {
            let gradient = product.gradient::<B, R>(&call.gradient, row);
            let pixels = product.pixels::<B, R>(call.features(), image);
            let window_products = B::float_matmul(B::float_swap_dims(gradient, 0, 1), pixels);
            product.add_products::<B>(window_products, &mut weight_products);
        }
        let region_gradient = call.planner.region_gradient(&plan, &weight_products);
        for (number, gradient) in numbers[row * columns..].iter_mut().zip(region_gradient) {
            *number = R::from_f64(gradient);
        }
    }
    let data = TensorData::new(numbers, [call.regions.len(), columns]);
    B::float_from_data(data, &call.gradient.device())
}

/// The row, the image and the plan of each region that is pooled.
fn planned<R: Number>(
    regions: &[Region],
    planner: &Planner<R>,
    slopes: bool,
) -> impl Iterator<Item = (usize, usize, PointWeights<R>)> {
    let pooled = regions.iter().enumerate().filter(|(_, region)| planner.pools(region));
    pooled.map(move |(row, region)| (row, region.image, R::point_weights(planner, region, slopes)))
}

/// Some elements of a group whose matrix is small enough, in some channels of the output.
struct Product<'a> {
    group: &'a ChannelGroup,
    elements: Vec<ElementSpans<'a>>,
    window: [Range<usize>; 2],
    channels: Range<usize>,
}

/// The elements of a region that read some pixel, in products of bounded size, for so many channels of the output.
fn products<'a, R: Number>(
    planner: &'a Planner<R>,
    plan: &'a PointWeights<R>,
    channels: usize,
) -> impl Iterator<Item = Product<'a>> {
    let groups = planner.groups.iter().zip(&plan.windows);
    groups.flat_map(move |(group, window)| {
        let at_once = (LARGEST / pixel_count(window).max(1)).max(1);
        let elements: Vec<_> = plan.elements(group).collect();
        let products = elements
            .chunks(at_once)
            .flat_map(|elements| Product::in_blocks(group, elements, channels));
        products.collect::<Vec<_>>()
    })
}

impl<'a> Product<'a> {
    /// The products of elements in blocks of channels; none if they read no pixel.
    fn in_blocks(group: &'a ChannelGroup, elements: &[ElementSpans<'a>], channels: usize) -> Vec<Self> {
        let spans = || elements.iter().flat_map(|element| element.spans);
        let rows = hull(spans().map(|span| span.row as usize..span.row as usize + 1));
        let window = [rows, hull(spans().map(|span| span.columns()))];
        let pixels = pixel_count(&window);
        let blocks = cut(0..channels, (LARGEST / pixels.max(1)).clamp(1, channels));
        let blocks = blocks.filter(|_| pixels > 0).map(|channels| Self {
            group,
            elements: elements.to_vec(),
            window: window.clone(),
            channels,
        });
        blocks.collect()
    }

    /// Where features `[N, C, H, W]` have the pixels that are read.
    fn pixel_place(&self, image: usize) -> [Slice; 4] {
        place(image, self.group, &self.channels, &self.window)
    }

    /// The pixels `[C, window]`.
    fn pixels<B: Backend, R: Number>(&self, features: &FloatTensor<B>, image: usize) -> FloatTensor<B> {
        let window = B::float_slice(features.clone(), &self.pixel_place(image));
        let shape = Shape::new([self.channels.len(), pixel_count(&self.window)]);
        cast::<B>(B::float_reshape(window, shape), R::DTYPE)
    }

    /// The gradient `[C, elements]` of the elements.
    fn gradient<B: Backend, R: Number>(&self, gradient: &FloatTensor<B>, row: usize) -> FloatTensor<B> {
        let [regions, count, height, width] = gradient.shape().dims();
        let flat = B::float_reshape(gradient.clone(), Shape::new([regions, count, height * width]));
        let slices = [row..row + 1, self.channels.clone(), self.places()].map(Slice::from);
        let shape = Shape::new([self.channels.len(), self.elements.len()]);
        cast::<B>(B::float_reshape(B::float_slice(flat, &slices), shape), R::DTYPE)
    }

    /// The indices of the elements among all of a channel; they are consecutive.
    fn places(&self) -> Range<usize> {
        let first = self.elements[0].element;
        first..first + self.elements.len()
    }

    /// The index of each weight in the matrix, and its index in the plan.
    fn weights(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let [rows, columns] = &self.window;
        let window_pixels = rows.len() * columns.len();
        self.elements.iter().enumerate().flat_map(move |(number, element)| {
            let pixels = element.spans.iter().flat_map(move |span| {
                let row = (span.row as usize - rows.start) * columns.len();
                span.columns().map(move |column| row + column - columns.start)
            });
            pixels
                .map(move |pixel| number * window_pixels + pixel)
                .zip(element.weights.clone())
        })
    }

    /// The weights `[elements, window]`.
    fn matrix<B: Backend, R: Number>(&self, plan: &PointWeights<R>, device: &B::Device) -> FloatTensor<B> {
        let shape = [self.elements.len(), pixel_count(&self.window)];
        let mut matrix = vec![R::default(); shape[0] * shape[1]];
        for (place, weight) in self.weights() {
            matrix[place] = plan.weights[weight];
        }
        B::float_from_data(TensorData::new(matrix, shape), device)
    }

    /// Adds the products of pixels and gradients `[elements, window]` to the gradients of the plan's weights.
    fn add_products<B: Backend>(&self, products: FloatTensor<B>, weight_products: &mut [f64]) {
        let data = read_sync(B::float_into_data(products)).expect("the device should answer with the tensor's data");
        let numbers: Vec<f64> = data.iter::<f64>().collect();
        for (place, weight) in self.weights() {
            weight_products[weight] += numbers[place];
        }
    }
}
