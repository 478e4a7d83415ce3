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
    let row = |operator: &str, output: &str, time: &str, difference: &str| {
        let row = format!("{operator:<18} {output:<16} {time:>10}  {difference}");
        println!("{}", row.trim_end());
    };
    let title = reference.map_or("", |_| "largest difference from ndarray");
    row("operator", "output", "time", title);
    for (index, pooled) in results.iter().enumerate() {
        let output = format!("{:?}", pooled.shape);
        let time = format!("{:.3} ms", pooled.time.as_secs_f64() * 1e3);
        let difference = reference.map(|reference| format!("{:.1e}", largest_difference(pooled, &reference[index])));
        row(pooled.operator, &output, &time, &difference.unwrap_or_default());
    }
    if reference.is_none() {
        println!("\nto compare with NdArray, add --features ndarray");
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
