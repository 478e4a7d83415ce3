//! Runs on coins, and input that is broken.

mod bad_input;
mod batches;
mod keypoints;
mod labels;
mod runs;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use clap::Parser;
use serde_json::Value;

use crate::arguments::Arguments;

/// The arguments of a short run on small pictures, which writes into a folder that is removed with this value.
struct Short {
    folder: PathBuf,
    arguments: Arguments,
}

impl Short {
    fn new(name: &str, options: &[&str]) -> Self {
        let folder = env::temp_dir().join(format!("burn-roi-{}-{name}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let output = folder.join("output");
        let command = [
            "finetune",
            "--steps",
            "4",
            "--min-size",
            "64",
            "--output",
            text(&output),
        ];
        let arguments = Arguments::parse_from(command.iter().chain(options));
        Self { folder, arguments }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The names of the files that were written, sorted.
    fn written(&self) -> Vec<String> {
        let files = fs::read_dir(&self.arguments.output).into_iter().flatten();
        let mut names: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.folder);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn coins(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("coins").join(name)
}

/// The annotations of a half of the coins.
fn annotations(name: &str) -> Value {
    serde_json::from_slice(&fs::read(coins(name)).unwrap()).unwrap()
}
