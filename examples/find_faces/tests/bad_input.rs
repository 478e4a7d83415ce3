//! Pictures and arguments at the limits.

use burn::tensor::Device;
use find_faces::{Detector, Error, LEAST_FACE, WEIGHTS};
use image::RgbImage;
use image::imageops::crop_imm;

use crate::pictures::plain;
use crate::{detector, find, only_face};

#[test]
fn empty_pictures_are_refused() {
    for [width, height] in [[0, 0], [5, 0], [0, 5]] {
        let found = detector(&Device::flex()).find(&[plain(), RgbImage::new(width, height)], LEAST_FACE);
        assert!(matches!(found, Err(Error::EmptyPicture)), "of {width} x {height}");
    }
    assert!(find(&[]).faces.is_empty());
}

#[test]
fn pictures_without_room_for_a_face_have_none() {
    for [width, height] in [[1, 1], [1, 300], [300, 1], [12, 12], [19, 19], [20, 400]] {
        let found = find(&[RgbImage::new(width, height)]);
        assert_eq!(found.faces, [[]], "of {width} x {height}");
    }
    // Beside a larger one they are padded.
    let found = find(&[RgbImage::new(1, 1), plain()]);
    assert_eq!([found.faces[0].len(), found.faces[1].len()], [0, 1]);
}

/// The box ends with the picture.
#[test]
fn a_face_at_the_edge_has_its_box_inside() {
    let face = only_face(plain());
    let left = face.corners[0] as u32 + 6;
    let cut = only_face(crop_imm(&plain(), left, 0, 256 - left, 256).to_image());
    assert_eq!(cut.corners[0], 0.0);
    assert!(
        (cut.corners[2] + left as f32 - face.corners[2]).abs() < 8.0,
        "{cut:?} of {face:?}"
    );
}

#[test]
fn the_least_face_is_checked() {
    let detector = detector(&Device::flex());
    for least_face in [11.9, 0.0, -20.0, f64::NAN, f64::INFINITY] {
        let error = detector.find(&[plain()], least_face).err().unwrap();
        assert!(matches!(error, Error::LeastFace(_)), "{error}");
    }
    // The package finds none for more than 22 pixels.
    for (least_face, faces) in [(30.0, 1), (40.0, 1), (120.0, 0), (f64::MAX, 0)] {
        let found = detector.find(&[plain()], least_face).unwrap();
        assert_eq!(found.faces[0].len(), faces, "of {least_face} pixels or more");
    }
}

#[test]
fn fifty_megapixels_are_looked_at() {
    let detector = detector(&Device::flex());
    let mut picture = RgbImage::new(10_000, 5_000);
    image::imageops::replace(&mut picture, &plain(), 9_000, 4_000);
    // Faces of 2000 pixels need a small pyramid: this test is about memory and sizes.
    let found = detector.find(&[picture], 2_000.0).unwrap();
    assert!(found.faces[0].is_empty());
}

#[test]
fn other_files_are_no_weights() {
    let bytes = std::fs::read(WEIGHTS).unwrap();
    let parity = include_bytes!("../parity.safetensors").to_vec();
    for weights in [Vec::new(), vec![255; 100], bytes[..bytes.len() / 2].to_vec(), parity] {
        let error = Detector::new(weights, &Device::flex()).err().unwrap();
        assert!(matches!(error, Error::Weights(_)), "{error}");
    }
}
