//! Pools two regions of a feature map to 7 x 7, as torchvision's `roi_align` does.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "roi_align"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex"] }
//! burn-roi = { path = "../burn-roi", default-features = false, features = ["flex"] }
//! ```

use burn::tensor::{Device, Tensor};
use burn_roi::{Rois, torchvision, try_roi_align};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex();
    // A map of one channel, a quarter of the image's size: each element is the x coordinate of its column.
    let (height, width) = (50, 76);
    let columns = Tensor::<1, burn::tensor::Int>::arange(0..width as i64, &device).float();
    let features = columns.reshape([1, 1, 1, width]).expand([1, 1, height, width]);

    // [x1, y1, x2, y2] in pixels of the image, one tensor for each image of the batch.
    let boxes = Tensor::<2>::from_floats([[40.0, 40.0, 160.0, 180.0], [0.0, 8.0, 64.0, 72.0]], &device);
    let rois = Rois::from_images(vec![boxes]);

    let config = torchvision::RoiAlign::new([7, 7])
        .with_spatial_scale(0.25)
        .with_sampling_ratio(2)
        .with_aligned(true);
    let pooled = try_roi_align(features, &rois, config)?;
    assert_eq!(pooled.dims(), [2, 1, 7, 7]);

    let row: Vec<f32> = pooled.slice([0..1, 0..1, 0..1, 0..7]).into_data().try_to_vec()?;
    println!("the first row of region 0: {row:?}");
    // The box begins at 40 / 4 - 0.5 = 9.5. A bin is 120 / 4 / 7 wide, and its mean is its middle.
    assert!((row[0] - (9.5 + 30.0 / 7.0 / 2.0)).abs() < 1e-4);

    // Bad input is an error that names the argument.
    let boxes = Tensor::<2>::from_floats([[0.0, 0.0, f32::NAN, 8.0]], &device);
    let error = try_roi_align(
        Tensor::zeros([1, 1, 8, 8], &device),
        &Rois::from_images(vec![boxes]),
        torchvision::RoiAlign::new([7, 7]),
    );
    println!("{}", error.expect_err("a box that is not finite"));
    Ok(())
}
