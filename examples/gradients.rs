//! Fits a box to an object by gradient descent: `roi_align` has gradients of its boxes, and of the features.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "gradients"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex", "autodiff"] }
//! burn-roi = { path = "../burn-roi", default-features = false, features = ["flex", "autodiff"] }
//! ```

use burn::tensor::{Device, Tensor};
use burn_roi::{RoiAlignConfig, Rois, try_roi_align};

const SIZE: usize = 32;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An autodiff device records what is computed on it.
    let device = Device::flex().autodiff();
    // A smooth hill with its top in row 12 and column 20.
    let squares = |top: f32| {
        let places = Tensor::<1, burn::tensor::Int>::arange(0..SIZE as i64, &device).float();
        places.sub_scalar(top).square()
    };
    let squares = squares(12.0).reshape([1, 1, SIZE, 1]) + squares(20.0).reshape([1, 1, 1, SIZE]);
    let features = squares.div_scalar(-128.0).exp();

    let mut boxes = Tensor::<2>::from_floats([[4.0, 16.0, 16.0, 28.0]], &device);
    let config = RoiAlignConfig::new([5, 5]).with_aligned(true);
    for step in 0..=50 {
        let tracked = boxes.clone().require_grad();
        let pooled = try_roi_align(
            features.clone(),
            &Rois::from_images(vec![tracked.clone()]),
            config.clone(),
        )?;
        let mean = pooled.mean();
        if step % 10 == 0 {
            println!("step {step}: mean {:.3}", mean.clone().into_scalar::<f32>());
        }
        let gradients = mean.backward();
        let slope = tracked.grad(&gradients).ok_or("the boxes have no gradient")?;
        // Both ends move alike, so that the box keeps its size.
        let [across, down] = [[0, 2], [1, 3]].map(|ends| {
            let slopes = ends.map(|end| slope.clone().narrow(1, end, 1));
            slopes[0].clone() + slopes[1].clone()
        });
        let step = Tensor::cat(vec![across.clone(), down.clone(), across, down], 1);
        boxes = boxes.detach() + Tensor::from_inner(step).mul_scalar(20.0);
    }

    let [x1, y1, x2, y2]: [f32; 4] = boxes
        .into_data()
        .try_to_vec::<f32>()?
        .try_into()
        .expect("four coordinates");
    let middle = [(x1 + x2) / 2.0, (y1 + y2) / 2.0];
    println!("middle of the box: {middle:.2?}");
    // `aligned` subtracts half a pixel, so column 20 and row 12 are the coordinates 20.5 and 12.5.
    assert!((middle[0] - 20.5).abs() < 0.1 && (middle[1] - 12.5).abs() < 0.1);
    Ok(())
}
