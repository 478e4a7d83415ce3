//! Writes picture files.

use std::io::Write;
use std::path::Path;
use std::{fs, io, process};

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ImageResult, RgbImage};

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
