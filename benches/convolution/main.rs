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

/// Name, channels in and out, kernel, stride, height and width of the input.
const LAYERS: [(&str, [usize; 2], usize, usize, [usize; 2]); 6] = [
    ("3x3-64", [64, 64], 3, 1, [200, 304]),
    ("3x3-128-stride-2", [128, 128], 3, 2, [200, 304]),
    ("3x3-256", [256, 256], 3, 1, [100, 152]),
    ("3x3-512", [512, 512], 3, 1, [25, 38]),
    ("1x1-256-64", [256, 64], 1, 1, [200, 304]),
    ("1x1-512-2048", [512, 2048], 1, 1, [25, 38]),
];

/// Calls of which the median is taken, after one that is not timed.
const CALLS: usize = 7;

fn main() {
    let wanted = std::env::args().nth(1);
    println!("layer               forward ms    input ms   weight ms");
    for (name, [channels, outputs], kernel, stride, [height, width]) in LAYERS {
        if wanted.as_ref().is_some_and(|wanted| wanted != name) {
            continue;
        }
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
