//! Reads and writes picture files.

use std::path::Path;
use std::{fs, io, process};

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
    Ok(write_whole(path, &file)?)
}

/// Writes a file under another name and renames it, so that there is no half of a file under its name.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", process::id()));
    let partial = path.with_file_name(name);
    let written = fs::write(&partial, bytes).and_then(|()| fs::rename(&partial, path));
    // The first error is the one to report.
    written.inspect_err(|_| _ = fs::remove_file(&partial))
}
