//! Finds objects in a picture with a Mask R-CNN, and draws them.
//!
//! A program of its own has this file as `src/main.rs`, and this `Cargo.toml`:
//!
//! ```toml
//! [package]
//! name = "detect"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [dependencies]
//! burn = { version = "0.22.1", default-features = false, features = ["std", "flex"] }
//! serde_json = "1"
//!
//! [dependencies.burn-roi-detection]
//! path = "../burn-roi/burn-roi-detection"
//! default-features = false
//! features = ["flex", "models", "pictures"]
//! ```
//!
//! In a clone of burn-roi, `cargo run --release -p burn-roi-detection --features pictures --example detect` finds coins
//! with the shipped detector. `-- picture.jpg config.json weights.safetensors found.png` names other files.

use std::path::{Path, PathBuf};
use std::{env, fs};

use burn::tensor::Device;
use burn_roi_detection::models::{Detector, Picture};
use burn_roi_detection::pictures::{self, DecodeConfig};
use burn_roi_detection::weights::{NameTable, StateDict};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let file = |number: usize, name: &str| {
        env::args()
            .nth(number)
            .map_or_else(|| examples.join(name), PathBuf::from)
    };
    let picture = pictures::read(file(1, "finetune/coins/right.png"), &DecodeConfig::new())?;

    // The classes, the layers and their widths. `DetectorConfig::named` has torchvision's models.
    let config = serde_json::from_str(&fs::read_to_string(file(2, "find_objects/coins.json"))?)?;
    let mut detector = Detector::try_new(config, &Device::flex())?;
    // torchvision's .pth files have the same names.
    StateDict::read(file(3, "find_objects/coins.safetensors"))?.load_into(&mut detector, NameTable::torchvision)?;

    let instances = &detector.try_detect(&[Picture::try_from_image(&picture)?])?[0];
    for (row, [x1, y1, x2, y2]) in instances.boxes.iter().enumerate() {
        let (label, score) = (detector.config().label(instances.labels[row]), instances.scores[row]);
        println!("{label:<16} {score:.3}  {x1:>7.1},{y1:>7.1} to {x2:>7.1},{y2:>7.1}");
    }
    // Those with a score of a half or more.
    let output = env::args()
        .nth(4)
        .map_or_else(|| "target/detect.png".into(), PathBuf::from);
    fs::create_dir_all(output.parent().unwrap_or(&output))?;
    pictures::draw(&picture, instances, detector.config(), 0.5).save(&output)?;
    println!("wrote {}", output.display());
    Ok(())
}
