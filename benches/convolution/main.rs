//! Times 2-D convolutions of Flex, as detectors have them: forward, and the gradients of input and weight, each alone.
//! `peers.py` beside it times torch and ONNX Runtime. `RAYON_NUM_THREADS` sets the threads.
//!
//! ```text
//! RAYON_NUM_THREADS=2 cargo run --release -p convolution --features x86-v4 [NAME, such as 3x3-256]
//! ```

use std::time::Instant;

use burn::backend::Flex;
use burn::backend::ops::{ConvOptions, FloatTensorOps, ModuleOps};
use burn::backend::tensor::FloatTensor;
use burn::tensor::TensorData;

struct Layer {
    name: &'static str,
    /// Of the input and of the output.
    channels: [usize; 2],
    kernel: usize,
    stride: usize,
    /// Height and width of the input.
    size: [usize; 2],
}

const fn layer(name: &'static str, channels: [usize; 2], kernel: usize, stride: usize, size: [usize; 2]) -> Layer {
    Layer {
        name,
        channels,
        kernel,
        stride,
        size,
    }
}

const LAYERS: [Layer; 6] = [
    layer("3x3-64", [64, 64], 3, 1, [200, 304]),
    layer("3x3-128-stride-2", [128, 128], 3, 2, [200, 304]),
    layer("3x3-256", [256, 256], 3, 1, [100, 152]),
    layer("3x3-512", [512, 512], 3, 1, [25, 38]),
    layer("1x1-256-64", [256, 64], 1, 1, [200, 304]),
    layer("1x1-512-2048", [512, 2048], 1, 1, [25, 38]),
];

/// Calls of which the median is taken, after one that is not timed.
const CALLS: usize = 7;

fn main() {
    let wanted = std::env::args().nth(1);
    println!("layer               forward ms    input ms   weight ms");
    let layers = LAYERS
        .iter()
        .filter(|layer| wanted.as_ref().is_none_or(|wanted| wanted == layer.name));
    for layer in layers {
        let Layer {
            name, kernel, stride, ..
        } = *layer;
        let ([channels, outputs], [height, width]) = (layer.channels, layer.size);
        let padding = kernel / 2;
        let options = || ConvOptions::new([stride; 2], [padding; 2], [1; 2], 1);
        let input = numbers([1, channels, height, width]);
        let weight = numbers([outputs, channels, kernel, kernel]);
        let gradient = numbers([1, outputs, height.div_ceil(stride), width.div_ceil(stride)]);
        let forward = median(|| Flex::conv2d(input.clone(), weight.clone(), None, options()));
        let of_input = median(|| Flex::conv2d_x_backward(input.clone(), weight.clone(), gradient.clone(), options()));
        let of_weight =
            median(|| Flex::conv2d_weight_backward(input.clone(), weight.clone(), gradient.clone(), options()));
        println!("{name:<18} {forward:>11.2} {of_input:>11.2} {of_weight:>11.2}");
    }
}

fn numbers(shape: [usize; 4]) -> FloatTensor<Flex> {
    let count = shape.iter().product::<usize>();
    let numbers: Vec<f32> = (0..count)
        .map(|place| ((place * 7919 % 1009) as f32 - 504.0) / 504.0)
        .collect();
    Flex::float_from_data(TensorData::new(numbers, shape), &Default::default())
}

/// Milliseconds.
fn median<T>(call: impl Fn() -> T) -> f64 {
    let time = || {
        let start = Instant::now();
        drop(call());
        1e3 * start.elapsed().as_secs_f64()
    };
    time();
    let mut times: Vec<f64> = (0..CALLS).map(|_| time()).collect();
    times.sort_by(f64::total_cmp);
    times[CALLS / 2]
}
