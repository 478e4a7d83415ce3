//! Pools the regions of two images from a feature pyramid. Each region reads the level that fits its size.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "pyramid"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex"] }
//! burn-roi = { path = "../burn-roi", default-features = false, features = ["flex"] }
//! ```

use burn::tensor::{Device, Tensor};
use burn_roi::{Rois, torchvision, try_infer_scales, try_multi_scale_roi_align};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex();
    // Four levels of two images of 800 x 1216. The elements of a level are its number, so that the output tells it.
    let sizes = [[200, 304], [100, 152], [50, 76], [25, 38]];
    let levels = sizes.iter().enumerate();
    let levels: Vec<_> = levels
        .map(|(level, &[height, width])| Tensor::<4>::full([2, 8, height, width], level as f32, &device))
        .collect();
    let scales = try_infer_scales(&sizes, &[[800, 1216]])?;
    println!("scales: {scales:?}");

    let first = Tensor::<2>::from_floats([[40.0, 40.0, 90.0, 100.0], [0.0, 0.0, 1200.0, 800.0]], &device);
    let second = Tensor::<2>::from_floats([[300.0, 200.0, 520.0, 400.0]], &device);
    let rois = Rois::from_images(vec![first, second]);

    let config = torchvision::MultiScaleRoiAlign::new([7, 7]).with_sampling_ratio(2);
    let pooled = try_multi_scale_roi_align(levels, &rois, &scales, config)?;
    assert_eq!(pooled.dims(), [3, 8, 7, 7]);

    let read: Vec<f32> = pooled.slice([0..3, 0..1, 3..4, 3..4]).into_data().try_to_vec()?;
    println!("level of each region: {read:?}");
    // A box of 50 x 60 reads the finest level, the whole image the coarsest, and 220 x 200 the second.
    assert_eq!(read, [0.0, 3.0, 1.0]);
    Ok(())
}
