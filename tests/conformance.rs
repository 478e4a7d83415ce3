//! Runs every conformance case on every backend, and prints one line for each backend last.
//!
//! Cases are all files below `tests/cases`, and below each folder that the environment variable
//! `ROI_CASES` lists as `PATH` does. `ROI_BACKENDS=flex,ndarray,wgpu` chooses backends. `ROI_CHECKSUMS` names a file
//! for the checksums of what Flex computes, with which a browser's are compared.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use burn::tensor::TensorData;
use serde::Serialize;

#[path = "support/backends.rs"]
mod backends;
#[path = "support/case.rs"]
mod case;
#[path = "support/checkout.rs"]
mod checkout;
#[path = "support/operators.rs"]
mod operators;
#[path = "support/rotated_boxes.rs"]
mod rotated_boxes;

use backends::Backend;
use case::Case;

fn main() -> ExitCode {
    let files = match files() {
        Ok(files) => files,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let cases: Vec<(PathBuf, Result<Case, String>)> = files
        .into_iter()
        .map(|file| (file.clone(), Case::read(&file)))
        .collect();
    let mut summary = Vec::new();
    let mut failures = 0;
    let mut checksums = BTreeMap::new();
    for backend in backends::backends() {
        let (mut passed, mut failed) = (0, 0);
        for (file, case) in &cases {
            let outcome = match case {
                Ok(case) => check(case, &backend),
                Err(error) => Err(error.clone()),
            };
            match outcome {
                Ok(Some(checksum)) => {
                    passed += 1;
                    if backend.name == "flex" {
                        let name = file.file_name().unwrap_or_default().to_string_lossy();
                        // Those of this repository come first, and other folders may have files of the same names.
                        checksums.entry(name).or_insert(checksum);
                    }
                }
                Ok(None) => println!("{}: {} skipped: no such dtype", backend.name, file.display()),
                Err(error) => {
                    failed += 1;
                    println!("{}: {} failed: {error}", backend.name, file.display());
                }
            }
        }
        failures += failed;
        summary.push(format!("{}: {passed} passed, {failed} failed", backend.name));
    }
    if let Err(error) = write(&checksums) {
        eprintln!("error: ROI_CHECKSUMS: {error}");
        return ExitCode::FAILURE;
    }
    for line in summary {
        println!("{line}");
    }
    if failures > 0 || cases.is_empty() {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// The case files of this repository, and those below the folders of `ROI_CASES`.
fn files() -> Result<Vec<PathBuf>, String> {
    let mut files = case::files(&checkout::folder().join("tests/cases"))?;
    let folders = std::env::var_os("ROI_CASES").unwrap_or_default();
    for folder in std::env::split_paths(&folders).filter(|folder| folder != Path::new("")) {
        files.extend(case::files(&folder).map_err(|error| format!("ROI_CASES: {error}"))?);
    }
    Ok(files)
}

/// Writes the checksums of the cases where `ROI_CHECKSUMS` says.
fn write(checksums: &BTreeMap<impl Serialize + Ord, u32>) -> Result<(), Box<dyn Error>> {
    if let (Some(file), false) = (std::env::var_os("ROI_CHECKSUMS"), checksums.is_empty()) {
        std::fs::write(file, serde_json::to_vec(checksums)?)?;
    }
    Ok(())
}

/// The checksum of what was computed, nothing where the backend lacks the dtype, or why the case failed.
fn check(case: &Case, backend: &Backend) -> Result<Option<u32>, String> {
    if !backend.supports(case.dtype()?) {
        return Ok(None);
    }
    let mut sum = 0x811c_9dc5;
    for (name, output, expected) in outputs(case, backend)? {
        if output.shape() != expected.shape() {
            return Err(format!(
                "{name}: shape {:?}, expected {:?}",
                output.shape(),
                expected.shape()
            ));
        }
        let error = largest_error(&output, expected);
        if error > case.tolerance {
            return Err(format!(
                "{}: {name}: largest error {error:e}, tolerance {:e}",
                case.name, case.tolerance
            ));
        }
        sum = checksum(sum, &output.into_bytes());
    }
    Ok(Some(sum))
}

/// FNV-1a, of bytes that follow others.
fn checksum(before: u32, bytes: &[u8]) -> u32 {
    let next = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(before, next)
}

/// What a case gives, by name: its output, or the gradients that it expects.
fn outputs<'a>(case: &'a Case, backend: &Backend) -> Result<Vec<(&'static str, TensorData, &'a TensorData)>, String> {
    if let Some(output) = rotated_boxes::run(case, &backend.device)? {
        return Ok(vec![("output", output, case.data("expected")?)]);
    }
    if !operators::is_backward(case) {
        let output = operators::run(case, &backend.device)?.into_data();
        return Ok(vec![("output", output, case.data("expected")?)]);
    }
    let gradients = operators::run_backward(case, &backend.device)?;
    let offsets = gradients
        .offsets
        .map(|offsets| ("expected_grad_offsets", offsets.into_data()));
    let gradients = [
        ("expected_grad_input", gradients.features.into_data()),
        ("expected_grad_boxes", gradients.boxes.into_data()),
    ];
    let expected: Vec<_> = gradients
        .into_iter()
        .chain(offsets)
        .filter_map(|(name, found)| Some((name, found, case.data(name).ok()?)))
        .collect();
    match expected.is_empty() {
        true => Err("no gradient is expected".to_string()),
        false => Ok(expected),
    }
}

/// The largest of `|a - b| / max(1, |b|)`; infinite where only one is a number.
fn largest_error(output: &TensorData, expected: &TensorData) -> f64 {
    output
        .iter::<f64>()
        .zip(expected.iter::<f64>())
        .map(|(output, expected)| match output == expected {
            true => 0.0,
            false => (output - expected).abs() / expected.abs().max(1.0),
        })
        .map(|error| if error.is_nan() { f64::INFINITY } else { error })
        .fold(0.0, f64::max)
}
