//! Picture files: good ones, and those that were made to harm.

use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};

/// A picture of one colour.
pub fn picture(colour: [u8; 3], format: ImageFormat) -> Vec<u8> {
    encoded(&RgbImage::from_pixel(16, 12, Rgb(colour)), format)
}

pub fn encoded(picture: &RgbImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).expect("a picture file");
    file.into_inner()
}

/// A PNG file of some hundred bytes whose header promises 30,000 x 30,000 pixels.
pub fn huge() -> Vec<u8> {
    let sides = [30_000_u32.to_be_bytes(), 30_000_u32.to_be_bytes()].concat();
    let header = chunk(b"IHDR", &[&sides, [8, 2, 0, 0, 0].as_slice()].concat());
    let data = chunk(b"IDAT", &[0; 100]);
    [b"\x89PNG\r\n\x1a\n", header.as_slice(), &data, &chunk(b"IEND", &[])].concat()
}

/// A chunk of a PNG file, with its checksum.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let bytes = [kind.as_slice(), data].concat();
    let checksum = bytes.iter().fold(!0_u32, |checksum, &byte| {
        (0..8).fold(checksum ^ u32::from(byte), |checksum, _| {
            checksum >> 1 ^ if checksum & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    let length = (data.len() as u32).to_be_bytes();
    [&length, bytes.as_slice(), &(!checksum).to_be_bytes()].concat()
}
