//! The pictures of the recording, made from `parity.png` in integers, as `package/pictures.py` makes them.

use image::imageops::{crop_imm, flip_horizontal, replace};
use image::{Rgb, RgbImage};

/// Cosine and sine of 15 degrees, times 65536.
const COSINE: i64 = 63303;
const SINE: i64 = 16962;

/// Half of the shipped photograph's size.
pub fn plain() -> RgbImage {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/parity.png");
    image::open(file).unwrap().into_rgb8()
}

/// Another size, of the nearest pixels.
pub fn scaled(picture: &RgbImage, width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        *picture.get_pixel(x * picture.width() / width, y * picture.height() / height)
    })
}

/// Turned by 15 degrees about its centre, with black corners; of the nearest pixels.
fn turned(picture: &RgbImage) -> RgbImage {
    let [width, height] = [picture.width(), picture.height()].map(i64::from);
    RgbImage::from_fn(picture.width(), picture.height(), |x, y| {
        // Twice the distance from the centre, which can lie between two pixels.
        let [x, y] = [2 * i64::from(x) - (width - 1), 2 * i64::from(y) - (height - 1)];
        let from_x = (COSINE * x + SINE * y + width * 65536) >> 17;
        let from_y = (COSINE * y - SINE * x + height * 65536) >> 17;
        let from = u32::try_from(from_x).ok().zip(u32::try_from(from_y).ok());
        let pixel = from.and_then(|(x, y)| picture.get_pixel_checked(x, y));
        *pixel.unwrap_or(&Rgb([0; 3]))
    })
}

/// Bytes of a linear congruential generator.
pub fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 1u32;
    let bytes = (0..width * height * 3).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    RgbImage::from_raw(width, height, bytes.collect()).unwrap()
}

fn mosaic(pictures: [&RgbImage; 4]) -> RgbImage {
    let (width, height) = pictures[0].dimensions();
    let mut mosaic = RgbImage::new(2 * width, 2 * height);
    for (picture, [column, row]) in pictures.into_iter().zip([[0, 0], [1, 0], [0, 1], [1, 1]]) {
        replace(&mut mosaic, picture, column * i64::from(width), row * i64::from(height));
    }
    mosaic
}

/// Differs if a pixel differs, or two change places.
pub fn checksum(picture: &RgbImage) -> i64 {
    let bytes = picture.as_raw().iter().zip((1..=251).cycle());
    bytes.map(|(&byte, factor)| i64::from(byte) * factor).sum()
}

/// Batches of pictures, by name.
pub fn cases() -> Vec<(&'static str, Vec<RgbImage>)> {
    let plain = plain();
    let small = scaled(&plain, 160, 160);
    let mirrored = flip_horizontal(&small);
    let tilted = turned(&small);
    let upper_left = crop_imm(&plain, 40, 0, 161, 160).to_image();
    let narrow = crop_imm(&mirrored, 30, 0, 130, 160).to_image();
    vec![
        ("batch", vec![small.clone(), upper_left, narrow, noise(161, 120)]),
        ("mosaic", vec![mosaic([&small, &mirrored, &tilted, &small])]),
        ("plain", vec![plain]),
        ("smaller", vec![small]),
        ("mirrored", vec![mirrored]),
        ("turned", vec![tilted]),
        ("noise", vec![noise(161, 120)]),
    ]
}
