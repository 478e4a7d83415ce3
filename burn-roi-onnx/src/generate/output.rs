//! Writes the rewritten model into the build script's output folder.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use onnx_ir::ModelProto;

use super::import::try_import;
use crate::error::Error;
use crate::prepare::{Settings, encode, rewrite};
use crate::read;

/// The folder of `OUT_DIR` with the rewritten models.
pub(super) const FOLDER: &str = "burn_roi_onnx";

/// The model in a file, and the files that its external data is in.
fn read_file(path: &Path) -> Result<(ModelProto, Vec<PathBuf>), Error> {
    let bytes = fs::read(path).map_err(|error| Error::Read {
        path: path.to_path_buf(),
        error,
    })?;
    let source = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    read::read(&bytes, Some(source.unwrap_or(Path::new("."))))
}

/// The rewritten model of a file.
pub(crate) fn to_bytes(path: &Path, settings: &Settings) -> Result<Vec<u8>, Error> {
    let (mut model, _) = read_file(path)?;
    rewrite(&mut model, settings)?;
    encode(&model)
}

/// Rewrites the model in a file. Returns the path of the rewritten model, whose name is `name` or the file's.
pub(crate) fn to_build_folder(path: &Path, name: Option<&str>, settings: &Settings) -> Result<String, Error> {
    let folder = env::var_os("OUT_DIR").ok_or(Error::NoBuildScript)?;
    let refuse = |reason| Error::Path {
        path: path.to_path_buf(),
        reason,
    };
    let own = path.file_name().ok_or_else(|| refuse("names no file"))?;
    let name = match name {
        Some(name) if name.contains(['/', '\\']) => return Err(refuse("has a name for its code that is a path")),
        Some(name) => OsString::from(format!("{name}.onnx")),
        None => own.to_os_string(),
    };
    let (mut model, files) = read_file(path)?;
    for file in files.iter().map(PathBuf::as_path).chain([path]) {
        println!("cargo:rerun-if-changed={}", file.display());
    }
    rewrite(&mut model, settings)?;

    let folder = Path::new(&folder).join(FOLDER);
    let prepared = folder.join(name);
    let write = |error| Error::Write {
        path: prepared.clone(),
        error,
    };
    fs::create_dir_all(&folder).map_err(write)?;
    fs::write(&prepared, encode(&model)?).map_err(write)?;
    try_import(&model, &prepared)?;
    let text = prepared
        .to_str()
        .ok_or_else(|| refuse("leads to a folder whose name is not UTF-8"))?;
    Ok(text.to_string())
}
