//! Finds spheres in a noisy volume: the mean of each of many boxes, and non-maximum suppression of three axes.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "volume"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex"] }
//! burn-roi = { path = "../burn-roi", default-features = false, features = ["flex"] }
//! burn-roi-detection = { path = "../burn-roi/burn-roi-detection", default-features = false, features = ["flex"] }
//! ```

use burn::tensor::{Device, Distribution, Tensor, TensorData};
use burn_roi::{BoxFormat3d, RoiAlign3dConfig, Rois3d, try_roi_align_3d};
use burn_roi_detection::try_nms_3d;

/// Depth, height and width of the volume, in voxels.
const SIZE: [usize; 3] = [24, 48, 48];
/// The centre of each sphere: its slice, row and column.
const CENTRES: [[f32; 3]; 3] = [[8.0, 12.0, 36.0], [12.0, 36.0, 12.0], [16.0, 32.0, 40.0]];
const RADIUS: f32 = 5.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex();
    let [depth, height, width] = SIZE;
    let is_inside = |index: usize| {
        let voxel = [index / (height * width), index / width % height, index % width].map(|index| index as f32);
        let squared = |centre: &[f32; 3]| (0..3).map(|axis| (voxel[axis] - centre[axis]).powi(2)).sum::<f32>();
        CENTRES.iter().any(|centre| squared(centre) <= RADIUS * RADIUS)
    };
    let spheres: Vec<f32> = (0..depth * height * width)
        .map(|index| is_inside(index).into())
        .collect();
    let shape = [1, 1, depth, height, width];
    let spheres = Tensor::<5>::from_data(TensorData::new(spheres, shape), &device);
    let noise = Tensor::random(shape, Distribution::Uniform(-1.0, 1.0), &device);

    // A cube around every fourth voxel of each axis, [x1, y1, x2, y2, z1, z2] in voxels.
    let mut boxes: Vec<[f32; 6]> = Vec::new();
    for z in (0..depth).step_by(4) {
        for y in (0..height).step_by(4) {
            for x in (0..width).step_by(4) {
                let [z, y, x] = [z, y, x].map(|place| place as f32);
                boxes.push([x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS, z - RADIUS, z + RADIUS]);
            }
        }
    }
    let count = boxes.len();
    let boxes = Tensor::<2>::from_data(TensorData::new(boxes.concat(), [count, 6]), &device);

    // One element for each box: the mean of its voxels. A sphere fills half of its box.
    let rois = Rois3d::from_images(vec![boxes.clone()], BoxFormat3d::Xyxyzz);
    let scores = try_roi_align_3d(spheres + noise, &rois, RoiAlign3dConfig::new([1, 1, 1]))?.reshape([count]);

    let kept = try_nms_3d(boxes.clone(), scores.clone(), 0.05)?;
    let boxes: Vec<f32> = boxes.select(0, kept.clone()).into_data().iter::<f32>().collect();
    let scores: Vec<f32> = scores.select(0, kept).into_data().iter::<f32>().collect();
    let mut found = Vec::new();
    for (ends, score) in boxes.chunks(6).zip(scores).filter(|(_, score)| *score > 0.3) {
        let centre = [ends[4] + RADIUS, ends[1] + RADIUS, ends[0] + RADIUS];
        println!(
            "a sphere at slice {}, row {}, column {}: {score:.2}",
            centre[0], centre[1], centre[2]
        );
        found.push(centre);
    }
    found.sort_by(|left, right| left[0].total_cmp(&right[0]));
    assert_eq!(found, CENTRES);
    Ok(())
}
