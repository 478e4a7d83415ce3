//! Reads and writes picture files.

use std::fs;
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, ImageResult, RgbImage};

/// Reads a picture, turned as its EXIF data say. The content decides the format, not the file's name.
pub fn decode(path: &Path) -> ImageResult<RgbImage> {
    let mut decoder = ImageReader::open(path)?.with_guessed_format()?.into_decoder()?;
    // Data that can't be read turn nothing.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image.into_rgb8())
}

/// Writes a picture as PNG, and creates its folder if there is none.
pub fn encode(picture: &RgbImage, path: &Path, compression: CompressionType) -> ImageResult<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, compression, FilterType::Adaptive);
    picture.write_with_encoder(encoder)?;
    Ok(fs::write(path, file)?)
}
