//! What the command prints.

use std::path::Path;

use crate::backend_name::BackendName;
use crate::operators::{Job, Pooled, TIMED_CALLS};

/// Prints a line for each operator.
pub fn print(backend: BackendName, job: &Job, results: &[Pooled], reference: Option<&[Pooled]>) {
    let [_, _, height, width] = job.features.shape().dims();
    println!(
        "{backend}: a photograph of {width} x {height}; times are medians of {TIMED_CALLS} calls \
         after a warm-up, with the result read back\n"
    );
    println!(
        "{:<16} {:<16} {:>10}  largest difference from ndarray",
        "operator", "output", "time"
    );
    for (index, pooled) in results.iter().enumerate() {
        println!(
            "{:<16} {:<16} {:>7.3} ms  {}",
            pooled.operator.name(),
            format!("{:?}", pooled.shape),
            pooled.time.as_secs_f64() * 1e3,
            match reference {
                Some(reference) => format!("{:.1e}", largest_difference(pooled, &reference[index])),
                None => "not compiled in".to_string(),
            }
        );
    }
}

fn largest_difference(left: &Pooled, right: &Pooled) -> f32 {
    let pairs = left.values.iter().zip(&right.values);
    pairs.map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
}

/// The path relative to the current folder, if it is inside it.
pub fn short(path: &Path) -> &Path {
    std::env::current_dir()
        .ok()
        .and_then(|folder| path.strip_prefix(folder).ok())
        .unwrap_or(path)
}
