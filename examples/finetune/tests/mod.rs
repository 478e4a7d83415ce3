//! Runs on coins, and input that is broken.

mod bad_input;
mod batches;
#[path = "../../../tests/support/detectron2_run.rs"]
mod detectron2_run;
mod keypoints;
#[path = "../../../tests/support/pickle.rs"]
mod pickle;
mod runs;
mod weights;

use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::{env, fs, process, thread};

use burn_roi_detection::data::coco::{CocoPictures, CocoPicturesConfig, CocoPicturesError};
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
        // A frozen body, which trains in half the time.
        let fixed = ["finetune", "--steps", "4", "--min-size", "64", "--frozen-stages", "5"];
        let command = [&fixed[..], &["--output", text(&output)]].concat();
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

/// Runs a test on a stack as large as the main thread's. Unoptimized, a detection needs nearly all of the 2 MiB that a
/// test's own thread has.
fn on_large_stack(test: fn()) {
    let thread = thread::Builder::new().stack_size(8 << 20).spawn(test).unwrap();
    thread.join().unwrap_or_else(|panic| resume_unwind(panic));
}

/// Annotations and pictures, read by the defaults.
fn read(annotations: &Path, folder: &Path) -> Result<CocoPictures, CocoPicturesError> {
    let config = CocoPicturesConfig {
        folder: Some(folder.to_owned()),
        ..CocoPicturesConfig::new()
    };
    CocoPictures::read(annotations, &config)
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
