//! Removes boxes that overlap a better one, as torchvision's `nms` and `batched_nms` do.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "nms"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex"] }
//! burn-roi = { path = "../burn-roi", default-features = false, features = ["flex"] }
//! burn-roi-detection = { path = "../burn-roi/burn-roi-detection", default-features = false, features = ["flex"] }
//! ```

use burn::tensor::{Device, Int, Tensor};
use burn_roi_detection::{try_batched_nms, try_box_iou, try_nms};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::flex();
    // [x1, y1, x2, y2]. The first two overlap, and the third is apart.
    let boxes = Tensor::<2>::from_floats(
        [[0.0, 0.0, 10.0, 10.0], [1.0, 0.0, 11.0, 10.0], [20.0, 20.0, 30.0, 30.0]],
        &device,
    );
    let scores = Tensor::<1>::from_floats([0.6, 0.9, 0.5], &device);

    let overlaps = try_box_iou(boxes.clone(), boxes.clone())?;
    println!("IoU of each pair:{overlaps}");

    // The indices that are kept, by falling score.
    let kept = try_nms(boxes.clone(), scores.clone(), 0.5)?;
    let kept: Vec<i64> = kept.into_data().iter::<i64>().collect();
    println!("kept: {kept:?}");
    assert_eq!(kept, [1, 2]);

    // Boxes of different classes do not remove each other.
    let classes = Tensor::<1, Int>::from_ints([0, 1, 0], &device);
    let kept = try_batched_nms(boxes, scores, classes, 0.5)?;
    let kept: Vec<i64> = kept.into_data().iter::<i64>().collect();
    println!("kept of each class: {kept:?}");
    assert_eq!(kept, [1, 0, 2]);
    Ok(())
}
