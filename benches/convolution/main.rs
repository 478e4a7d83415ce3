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

/// The layers that `peers.py` times too.
fn layers() -> impl Iterator<Item = Layer> {
    let lines = include_str!("layers.txt").lines();
    lines.filter(|line| !line.starts_with('#')).map(|line| {
        let (name, numbers) = line.split_once(' ').expect("a name comes first");
        let numbers = numbers.split(' ').map(|number| number.parse().expect("an integer"));
        let numbers: Vec<usize> = numbers.collect();
        let [inputs, outputs, kernel, stride, height, width] = numbers[..] else {
            panic!("{name} has the numbers {numbers:?}, but must have six");
        };
        Layer {
            name,
            channels: [inputs, outputs],
            kernel,
            stride,
            size: [height, width],
        }
    })
}

/// Calls of which the median is taken, after one that is not timed.
const CALLS: usize = 7;

fn main() {
    let wanted = std::env::args().nth(1);
    println!("layer               forward ms    input ms   weight ms");
    for layer in layers().filter(|layer| wanted.as_ref().is_none_or(|wanted| wanted == layer.name)) {
        let Layer {
            name, kernel, stride, ..
        } = layer;
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
