//! Pictures as a page has them.

use image::RgbImage;
use wasm_bindgen::JsError;

use crate::engine::words;

/// A picture from the red, green, blue and alpha of each pixel. Alpha is dropped.
pub fn picture(pixels: &[u8], width: u32, height: u32) -> Result<RgbImage, JsError> {
    if width == 0 || height == 0 || pixels.len() as u64 != 4 * u64::from(width) * u64::from(height) {
        return Err(words(format!(
            "`pixels` has {} bytes: a picture of {width} x {height} pixels has 4 for each, and at least one pixel",
            pixels.len()
        )));
    }
    let mut colours = Vec::with_capacity(pixels.len() / 4 * 3);
    for pixel in pixels.as_chunks::<4>().0 {
        colours.extend_from_slice(&pixel[..3]);
    }
    RgbImage::from_raw(width, height, colours).ok_or_else(|| words("the picture is too large"))
}
