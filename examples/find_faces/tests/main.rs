//! Agreement with the Python package `mtcnn`, and pictures at the limits.

mod bad_input;
mod command;
mod parity;
mod pictures;

use std::fs;

use burn::tensor::Device;
use find_faces::{Detector, Face, Found, LEAST_FACE, WEIGHTS};
use image::RgbImage;

fn detector(device: &Device) -> Detector {
    Detector::new(fs::read(WEIGHTS).unwrap(), device).unwrap()
}

/// What Flex finds.
fn find(pictures: &[RgbImage]) -> Found {
    detector(&Device::flex()).find(pictures, LEAST_FACE).unwrap()
}

/// The only face in a picture.
fn only_face(picture: RgbImage) -> Face {
    let [faces] = find(&[picture]).faces.try_into().unwrap();
    let [face] = faces.try_into().unwrap();
    face
}
