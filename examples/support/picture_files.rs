//! Reads and writes picture files.

use std::io::{Cursor, Write};
use std::path::Path;
use std::{fs, io, process};

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, RgbImage};

#[path = "jpeg_end.rs"]
mod jpeg_end;

/// The most bytes of a picture's pixels, which a short file can ask for: 178 million pixels of red, green and blue.
const MOST_BYTES: u64 = 512 << 20;

/// Reads a picture, turned as its EXIF data say. The content decides the format, not the file's name.
///
/// - `allow_truncated`: whether a JPEG file that ends before its picture is read. What is missing is gray.
pub fn decode(path: &Path, allow_truncated: bool) -> ImageResult<RgbImage> {
    // Before it is opened: opening a pipe waits for who writes into it.
    if !fs::metadata(path)?.is_file() {
        return Err(refused("it is no file".to_string()));
    }
    let file = fs::read(path)?;
    let reader = ImageReader::new(Cursor::new(&file)).with_guessed_format()?;
    if reader.format() == Some(ImageFormat::Jpeg) && !allow_truncated && jpeg_end::is_missing(&file) {
        return Err(refused(
            "the JPEG file is truncated: it ends before its picture".to_string(),
        ));
    }
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    // Those of the file's colors, or of the three that they become.
    let bytes = decoder.total_bytes().max(3 * u64::from(width) * u64::from(height));
    if bytes > MOST_BYTES {
        return Err(refused(format!(
            "its {width} x {height} pixels have {bytes} bytes, but must have {MOST_BYTES} at most"
        )));
    }
    // Data that can't be read turn nothing.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image.into_rgb8())
}

fn refused(reason: String) -> ImageError {
    ImageError::IoError(io::Error::other(reason))
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

/// Writes a file under another name and renames it, so that there is no half of a file under its name. The bytes are on
/// the disk before.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", process::id()));
    let partial = path.with_file_name(name);
    let write = || {
        let mut file = fs::File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    let written = write().and_then(|()| fs::rename(&partial, path));
    // The first error is the one to report.
    written.inspect_err(|_| _ = fs::remove_file(&partial))
}
