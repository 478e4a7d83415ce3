//! Decodes picture files that may be damaged, or made to harm.

use std::fs;
use std::io::{self, Cursor};
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult, RgbImage};

use super::jpeg_end;

/// Which picture files are decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeConfig {
    /// The most bytes of a picture's pixels. A short file can ask for much memory. By default 512 MiB: 178 million
    /// pixels of red, green and blue.
    pub most_bytes: u64,
    /// Whether a JPEG file that ends before its picture is decoded. The missing pixels are gray. False by default.
    pub allow_truncated: bool,
}

impl DecodeConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            most_bytes: 512 << 20,
            allow_truncated: false,
        }
    }
}

impl Default for DecodeConfig {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads and decodes a picture file, as [`decode`] does.
///
/// # Errors
///
/// The path is not of a file, or the file can't be read. All errors of [`decode`].
pub fn read(path: impl AsRef<Path>, config: &DecodeConfig) -> ImageResult<RgbImage> {
    // Before it is opened: opening a pipe waits for who writes into it.
    if !fs::metadata(&path)?.is_file() {
        return Err(refused("it is no file".to_string()));
    }
    decode(&fs::read(path)?, config)
}

/// Decodes the bytes of a picture file, and turns the picture as its EXIF data say.
///
/// The bytes decide the format, not a file's name. JPEG and PNG are always known. A program that turns on a feature of
/// the crate `image`, such as `webp`, adds that format.
///
/// # Errors
///
/// The format is not known, the file is damaged, its pixels have more bytes than the config allows, or it is a
/// truncated JPEG file and the config does not allow these.
pub fn decode(file: &[u8], config: &DecodeConfig) -> ImageResult<RgbImage> {
    let (mut decoder, _) = open(file, config)?;
    // EXIF data that can't be read turn nothing.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok(image.into_rgb8())
}

/// The bytes of the pixels that [`decode`] would decode, from the file's header alone.
///
/// # Errors
///
/// Those that [`decode`] finds before it decodes a pixel.
pub fn decoded_bytes(file: &[u8], config: &DecodeConfig) -> ImageResult<u64> {
    Ok(open(file, config)?.1)
}

/// The decoder of a file, and the bytes of its pixels.
fn open<'a>(file: &'a [u8], config: &DecodeConfig) -> ImageResult<(impl ImageDecoder + 'a, u64)> {
    let reader = ImageReader::new(Cursor::new(file)).with_guessed_format()?;
    if reader.format() == Some(ImageFormat::Jpeg) && !config.allow_truncated && jpeg_end::is_missing(file) {
        return Err(refused(
            "the JPEG file is truncated: it ends before its picture".to_string(),
        ));
    }
    let decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    // Those of the file's colors, or of the three that they become.
    let bytes = decoder.total_bytes().max(3 * u64::from(width) * u64::from(height));
    let most = config.most_bytes;
    if bytes > most {
        return Err(refused(format!(
            "its {width} x {height} pixels have {bytes} bytes, but must have {most} at most"
        )));
    }
    Ok((decoder, bytes))
}

fn refused(reason: String) -> ImageError {
    ImageError::IoError(io::Error::other(reason))
}
