//! Pictures as files.

use std::fs;
use std::path::{Path, PathBuf};

use burn_roi_detection::pictures::DecodeConfig;
use image::RgbImage;
use image::codecs::png::CompressionType;

use crate::error::Error;
use crate::picture_files;
pub use crate::picture_files::write_whole;

/// The ends of the names of pictures in a folder. A file that is named is read whatever its name.
const ENDINGS: [&str; 8] = ["png", "jpg", "jpeg", "webp", "bmp", "gif", "tif", "tiff"];

/// The picture files; a folder stands for its pictures, sorted by name.
pub fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(in_folder(path)?),
            false => files.push(path.clone()),
        }
    }
    Ok(files)
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|source| Error::ReadFolder {
        path: folder.to_owned(),
        source,
    })?;
    let mut files: Vec<PathBuf> = entries
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| path.is_file() && has_ending(path))
        .collect();
    if files.is_empty() {
        return Err(Error::EmptyFolder(folder.to_owned()));
    }
    files.sort();
    Ok(files)
}

fn has_ending(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

pub fn read(path: &Path) -> Result<RgbImage, Error> {
    burn_roi_detection::pictures::read(path, &DecodeConfig::new()).map_err(|source| Error::ReadImage {
        path: path.to_owned(),
        source,
    })
}

pub fn write(picture: &RgbImage, path: &Path) -> Result<(), Error> {
    picture_files::encode(picture, path, CompressionType::Fast).map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}

/// The file to write for a picture; with several pictures, its number is added to the name.
pub fn numbered(output: &Path, number: usize, of: usize) -> PathBuf {
    if of == 1 {
        return output.to_owned();
    }
    let mut name = output.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("-{number}"));
    if let Some(ending) = output.extension() {
        name.push(".");
        name.push(ending);
    }
    output.with_file_name(name)
}
