//! Cuts regions out of a photograph with four operators, and draws the results side by side in one PNG file.
//!
//! ```text
//! cargo run --release -p crop_regions
//! cargo run --release -p crop_regions --features ndarray -- --backend ndarray
//! cargo run --release -p crop_regions --features wgpu,fusion -- --backend wgpu
//! ```
//!
//! `photograph.jpg` is NASA's portrait of the astronaut Eileen Collins, which is in the public domain.

#[path = "../support/backend_name.rs"]
mod backend_name;
#[path = "../support/picture_files.rs"]
mod picture_files;
mod sheet;

use std::error::Error;
use std::path::PathBuf;

use backend_name::BackendName;
use burn::tensor::{Device, Tensor, TensorData};
use burn_roi::{
    AngleConvention, CropAndResizeConfig, RoiAlignConfig, RoiAlignRotatedConfig, RoiPoolConfig, Rois, RotatedRois,
    try_crop_and_resize, try_roi_align, try_roi_align_rotated, try_roi_pool,
};
use burn_roi_detection::pictures::{self, DecodeConfig};
use clap::Parser;
use image::codecs::png::CompressionType;

/// A face, a flag, a space shuttle, a mission patch and a helmet: `[x1, y1, x2, y2]` in shares of the photograph.
const BOXES: [[f32; 4]; 5] = [
    [0.285, 0.051, 0.598, 0.363],
    [0.0, 0.07, 0.164, 0.293],
    [0.672, 0.125, 0.914, 0.555],
    [0.246, 0.664, 0.422, 0.84],
    [0.535, 0.66, 0.992, 0.992],
];
/// The shuttle on the mission patch: `[center x, center y, width, height]`, turned so that its nose points up.
const TURNED: [f32; 4] = [0.334, 0.779, 0.078, 0.109];
const DEGREES: f32 = -77.0;

/// Pools regions of a photograph with crop_and_resize, roi_align, roi_pool and roi_align_rotated.
#[derive(Parser)]
struct Arguments {
    /// The backend that runs the operators
    #[arg(long, value_enum, default_value_t = BackendName::Flex)]
    backend: BackendName,
    /// A picture file: JPEG, PNG, WebP, BMP, GIF or TIFF
    #[arg(long, value_name = "FILE", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/photograph.jpg"))]
    image: PathBuf,
    /// The PNG file to write
    #[arg(long, value_name = "FILE", default_value = "target/crop_regions.png")]
    output: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let device = device(arguments.backend)?;
    let photograph = pictures::read(&arguments.image, &DecodeConfig::new());
    let photograph = photograph.map_err(|error| format!("{}: {error}", arguments.image.display()))?;
    let (width, height) = photograph.dimensions();

    // Pixels [H, W, 3] of bytes become features [1, 3, H, W] from 0 to 1.
    let bytes = TensorData::new(photograph.as_raw().clone(), [1, height as usize, width as usize, 3]);
    let features = Tensor::<4>::from_data(bytes.convert::<f32>(), &device)
        .permute([0, 3, 1, 2])
        .div_scalar(255.0);

    let [w, h] = [width as f32, height as f32];
    let boxes = BOXES.map(|[x1, y1, x2, y2]| [x1 * w, y1 * h, x2 * w, y2 * h]);
    let [x, y, across, down] = TURNED;
    let turned = [x * w, y * h, across * w.min(h), down * w.min(h), DEGREES];
    let rois = Rois::from_images(vec![Tensor::<2>::from_floats(boxes, &device)]);
    let normalized = rois.to_normalized([height as usize, width as usize]);
    let turned_rois = RotatedRois::from_images(vec![Tensor::<2>::from_floats([turned], &device)]);

    let size = [32, 32];
    let rotated = RoiAlignRotatedConfig::new(size).with_angle(AngleConvention::DEGREES_COUNTER_CLOCKWISE);
    let columns = [
        try_crop_and_resize(features.clone(), &normalized, CropAndResizeConfig::new(size))?,
        try_roi_align(features.clone(), &rois, RoiAlignConfig::new(size).with_aligned(true))?,
        try_roi_pool(features.clone(), &rois, RoiPoolConfig::new(size))?,
        try_roi_align_rotated(features, &turned_rois, rotated)?,
    ];

    let upright = boxes.map(|[x1, y1, x2, y2]| [(x1 + x2) / 2.0, (y1 + y2) / 2.0, x2 - x1, y2 - y1, 0.0]);
    let sheet = sheet::draw(&photograph, &upright, turned, columns)?;
    picture_files::encode(&sheet, &arguments.output, CompressionType::Best)?;
    println!("columns: crop_and_resize, roi_align, roi_pool, roi_align_rotated");
    println!("wrote {}", arguments.output.display());
    Ok(())
}

fn device(backend: BackendName) -> Result<Device, String> {
    match backend {
        #[cfg(feature = "flex")]
        BackendName::Flex => Ok(Device::flex()),
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)] // Burn deprecates NdArray.
        BackendName::Ndarray => Ok(Device::ndarray()),
        #[cfg(feature = "wgpu")]
        BackendName::Wgpu => Ok(Device::wgpu(Default::default())),
        #[cfg(feature = "cuda")]
        BackendName::Cuda => Ok(Device::cuda(0)),
        #[cfg(feature = "vulkan")]
        BackendName::Vulkan => Ok(Device::vulkan(Default::default())),
        #[cfg(feature = "cpu")]
        BackendName::Cpu => Ok(Device::cpu()),
        #[allow(unreachable_patterns)] // Reachable in builds without some of the features.
        other => Err(format!("backend {other} is not compiled in: add --features {other}")),
    }
}
