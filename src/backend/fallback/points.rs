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

use super::tensors::{Sum, cast, cut};
use crate::backend::RegionCall;
use crate::geometry::operator::ChannelMap;
use crate::geometry::plan::{ElementSpans, PointPart, PointPlanner, PointWeights, Region, hull, pixel_count};

/// How many numbers the pixels or the weights of a product hold at most, 24 MiB of f32.
const LARGEST: usize = 6 << 20;

/// Pools the regions in the operator's range of areas.
pub fn pool<B: Backend, R: Sum>(
    pooled: Option<FloatTensor<B>>,
    features: FloatTensor<B>,
    call: &RegionCall<B>,
    planner: &PointPlanner,
) -> FloatTensor<B> {
    let (shape, map) = (call.output_shape(), call.operator.channel_map);
    let (device, dtype): (_, FloatDType) = (features.device(), features.dtype().into());
    let [_, channels, rows, columns] = shape.dims();
    let pixels = Groups::<B>::new(features, channels, map);
    let mut output = pooled.unwrap_or_else(|| B::float_zeros(shape.clone(), &device, dtype));
    for (row, image, plan) in planned::<R>(call.host_regions(), planner, false) {
        let mut sums = B::float_zeros(Shape::new([channels, rows * columns]), &device, R::DTYPE);
        for product in products(&plan) {
            for channels in product.blocks(channels) {
                let pixels = pixels.window::<R>(image, &channels, &product);
                let weights = B::float_swap_dims(product.matrix::<B, R>(&plan, &device), 0, 1);
                let place = [channels, product.places()].map(Slice::from);
                let sum = B::float_add(B::float_slice(sums.clone(), &place), B::float_matmul(pixels, weights));
                sums = B::float_slice_assign(sums, &place, sum);
            }
        }
        let sums = B::float_reshape(cast::<B>(sums, dtype), Shape::new([1, channels, rows, columns]));
        output = B::float_slice_assign(output, &[Slice::from(row..row + 1)], sums);
    }
    output
}

/// The gradient of features.
pub fn features_gradient<B: Backend, R: Sum>(
    gradient: FloatTensor<B>,
    call: &RegionCall<B>,
    planner: &PointPlanner,
) -> FloatTensor<B> {
    let (shape, map) = (call.features_shape, call.operator.channel_map);
    let (device, dtype): (_, FloatDType) = (gradient.device(), gradient.dtype().into());
    let channels = gradient.shape()[1];
    let sums = B::float_zeros(Shape::new(shape), &device, R::DTYPE);
    let mut sums = Groups::<B>::new(sums, channels, map);
    for (row, image, plan) in planned::<R>(call.host_regions(), planner, false) {
        for product in products(&plan) {
            for channels in product.blocks(channels) {
                let of_elements = of_elements::<B, R>(&gradient, row, &channels, &product);
                let of_pixels = B::float_matmul(of_elements, product.matrix::<B, R>(&plan, &device));
                sums = sums.add(image, &channels, &product, of_pixels);
            }
        }
    }
    cast::<B>(B::float_reshape(sums.tensor, Shape::new(shape)), dtype)
}

/// The gradient of regions, `[K, columns]`.
pub fn regions_gradient<B: Backend, R: Sum>(
    gradient: FloatTensor<B>,
    features: FloatTensor<B>,
    call: &RegionCall<B>,
    planner: &PointPlanner,
) -> FloatTensor<B> {
    let (regions, map) = (call.host_regions(), call.operator.channel_map);
    let device = gradient.device();
    let channels = gradient.shape()[1];
    let pixels = Groups::<B>::new(features, channels, map);
    let mut numbers = vec![R::default(); regions.len() * planner.columns()];
    for (row, image, plan) in planned::<R>(regions, planner, true) {
        let mut of_weights = vec![0.0; plan.weights.len()];
        for product in products(&plan) {
            for channels in product.blocks(channels) {
                let of_elements = of_elements::<B, R>(&gradient, row, &channels, &product);
                let pixels = pixels.window::<R>(image, &channels, &product);
                let of_window = B::float_matmul(B::float_swap_dims(of_elements, 0, 1), pixels);
                product.add_to_weights::<B>(of_window, &mut of_weights);
            }
        }
        let of_region = planner.region_gradient(&plan, &of_weights);
        let of_row = &mut numbers[row * of_region.len()..];
        for (number, gradient) in of_row.iter_mut().zip(of_region) {
            *number = R::from_f64(gradient);
        }
    }
    let data = TensorData::new(numbers, [regions.len(), planner.columns()]);
    B::float_from_data(data, &device)
}

/// The row, the image and the plan of each region that is pooled.
fn planned<R: Sum>(
    regions: &[Region],
    planner: &PointPlanner,
    slopes: bool,
) -> impl Iterator<Item = (usize, usize, PointWeights<R>)> {
    let pooled = regions
        .iter()
        .enumerate()
        .filter(|(_, region)| planner.pools::<R>(region));
    pooled.map(move |(row, region)| (row, region.image, planner.plan(region, slopes)))
}

/// Some elements of a part whose matrix is small enough.
struct Product<'a> {
    group: usize,
    elements: Vec<ElementSpans<'a>>,
    window: [Range<usize>; 2],
}

/// The elements of a region that read some pixel, in products of bounded size.
fn products<R>(plan: &PointWeights<R>) -> impl Iterator<Item = Product<'_>> {
    plan.parts.iter().flat_map(|part| products_of_part(plan, part))
}

fn products_of_part<'a, R>(plan: &'a PointWeights<R>, part: &'a PointPart) -> Vec<Product<'a>> {
    let at_once = (LARGEST / pixel_count(&part.window).max(1)).max(1);
    let mut products: Vec<Product<'a>> = Vec::new();
    for element in plan.elements(part) {
        match products.last_mut() {
            Some(product) if product.elements.len() < at_once => product.elements.push(element),
            _ => products.push(Product {
                group: part.group,
                elements: vec![element],
                window: [0..0, 0..0],
            }),
        }
    }
    for product in &mut products {
        let spans = || product.elements.iter().flat_map(|element| element.spans);
        let rows = hull(spans().map(|span| span.row as usize..span.row as usize + 1));
        product.window = [rows, hull(spans().map(|span| span.columns()))];
    }
    products.retain(|product| pixel_count(&product.window) > 0);
    products
}

impl Product<'_> {
    /// The indices of the elements among all of a channel; they are consecutive.
    fn places(&self) -> Range<usize> {
        let first = self.elements[0].element;
        first..first + self.elements.len()
    }

    /// The channels of the output in blocks.
    fn blocks(&self, channels: usize) -> impl Iterator<Item = Range<usize>> {
        cut(0..channels, (LARGEST / pixel_count(&self.window)).clamp(1, channels))
    }

    /// The index of each weight in the matrix, and its index in the plan.
    fn weights(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let [rows, columns] = &self.window;
        let of_a_row = rows.len() * columns.len();
        self.elements.iter().enumerate().flat_map(move |(number, element)| {
            let pixels = element.spans.iter().flat_map(move |span| {
                let row = (span.row as usize - rows.start) * columns.len();
                span.columns().map(move |column| row + column - columns.start)
            });
            pixels
                .map(move |pixel| number * of_a_row + pixel)
                .zip(element.weights.clone())
        })
    }

    /// The weights `[elements, window]`.
    fn matrix<B: Backend, R: Sum>(&self, plan: &PointWeights<R>, device: &B::Device) -> FloatTensor<B> {
        let shape = [self.elements.len(), pixel_count(&self.window)];
        let mut matrix = vec![R::default(); shape[0] * shape[1]];
        for (place, weight) in self.weights() {
            matrix[place] = plan.weights[weight];
        }
        B::float_from_data(TensorData::new(matrix, shape), device)
    }

    /// Adds the products of pixels and gradients `[elements, window]` to the gradients of the plan's weights.
    fn add_to_weights<B: Backend>(&self, products: FloatTensor<B>, of_weights: &mut [f64]) {
        let data = read_sync(B::float_into_data(products)).expect("the device should answer with the tensor's data");
        let numbers: Vec<f64> = data.iter::<f64>().collect();
        for (place, weight) in self.weights() {
            of_weights[weight] += numbers[place];
        }
    }
}

/// The gradient `[C, elements]` of a product's elements.
fn of_elements<B: Backend, R: Sum>(
    gradient: &FloatTensor<B>,
    row: usize,
    channels: &Range<usize>,
    product: &Product<'_>,
) -> FloatTensor<B> {
    let [regions, count, height, width] = gradient.shape().dims();
    let flat = B::float_reshape(gradient.clone(), Shape::new([regions, count, height * width]));
    let slices = [row..row + 1, channels.clone(), product.places()].map(Slice::from);
    let shape = Shape::new([channels.len(), product.elements.len()]);
    cast::<B>(B::float_reshape(B::float_slice(flat, &slices), shape), R::DTYPE)
}

/// Features with a dimension for the groups of channels.
struct Groups<B: Backend> {
    /// `[N, C, groups, H, W]`, or `[N, groups, C, H, W]` if samples read channels of their own.
    tensor: FloatTensor<B>,
    map: ChannelMap,
}

impl<B: Backend> Groups<B> {
    /// `channels` is the number of output channels.
    fn new(features: FloatTensor<B>, channels: usize, map: ChannelMap) -> Self {
        let [images, inputs, height, width] = features.shape().dims();
        let groups = inputs / channels;
        let sizes = match map {
            ChannelMap::SampleSensitive { .. } => [images, groups, channels, height, width],
            _ => [images, channels, groups, height, width],
        };
        Self {
            tensor: B::float_reshape(features, Shape::new(sizes)),
            map,
        }
    }

    fn slices(&self, image: usize, channels: &Range<usize>, product: &Product<'_>) -> [Slice; 5] {
        let group = product.group..product.group + 1;
        let [rows, columns] = product.window.clone();
        let (first, second) = match self.map {
            ChannelMap::SampleSensitive { .. } => (group, channels.clone()),
            _ => (channels.clone(), group),
        };
        [image..image + 1, first, second, rows, columns].map(Slice::from)
    }

    /// The pixels `[C, window]` of a product.
    fn window<R: Sum>(&self, image: usize, channels: &Range<usize>, product: &Product<'_>) -> FloatTensor<B> {
        let window = B::float_slice(self.tensor.clone(), &self.slices(image, channels, product));
        let shape = Shape::new([channels.len(), pixel_count(&product.window)]);
        cast::<B>(B::float_reshape(window, shape), R::DTYPE)
    }

    /// Adds `[C, window]`.
    fn add(self, image: usize, channels: &Range<usize>, product: &Product<'_>, further: FloatTensor<B>) -> Self {
        let slices = self.slices(image, channels, product);
        let sums = B::float_slice(self.tensor.clone(), &slices);
        let further = B::float_reshape(further, sums.shape());
        let sums = B::float_add(sums, further);
        Self {
            tensor: B::float_slice_assign(self.tensor, &slices, sums),
            map: self.map,
        }
    }
}
