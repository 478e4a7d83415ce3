//! What the command prints.

use std::path::Path;
use std::time::Duration;

use burn_roi_detection::models::{DetectorConfig, Stage};
use serde_json::{Value, json};

use crate::found::Found;

/// Prints to stdout, or to stderr if stdout is for JSON.
pub struct Report {
    pub json: bool,
}

impl Report {
    pub fn line(&self, text: &str) {
        match self.json {
            true => eprintln!("{text}"),
            false => println!("{text}"),
        }
    }

    /// Prints the time of each stage, and the region operators' share.
    pub fn times(&self, times: &[(Stage, Duration)]) {
        let total: Duration = times.iter().map(|(_, time)| *time).sum();
        let operators = times.iter().filter(|(stage, _)| stage.is_region_operator());
        let operators: Duration = operators.map(|(_, time)| *time).sum();
        for (stage, time) in times {
            self.line(&format!("  {:<22} {:>10}", stage.name(), milliseconds(*time)));
        }
        self.line(&format!("  {:<22} {:>10}", "total", milliseconds(total)));
        self.line(&format!(
            "  region operators: {} of the total, {:.1} %",
            milliseconds(operators),
            100.0 * operators.as_secs_f64() / total.as_secs_f64()
        ));
    }

    /// Prints the detections, one line each.
    pub fn found(&self, found: &[Found], config: &DetectorConfig) {
        for found in found {
            let [x1, y1, x2, y2] = found.corners;
            self.line(&format!(
                "  {:<16} {:.3}  {x1:>7.1},{y1:>7.1} to {x2:>7.1},{y2:>7.1}  {} pixels",
                config.label(found.class),
                found.score,
                found.mask.area()
            ));
        }
    }
}

pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// A picture and its detections, as JSON.
pub fn to_json(path: &Path, [width, height]: [u32; 2], found: &[Found], config: &DetectorConfig) -> Value {
    let detections = found.iter().map(|found| {
        json!({
            "class": found.class,
            "label": config.label(found.class),
            "score": found.score,
            "box": found.corners,
            "mask": { "size": found.mask.size(), "counts": found.mask.counts() },
        })
    });
    json!({
        "image": path.display().to_string(),
        "width": width,
        "height": height,
        "detections": detections.collect::<Vec<_>>(),
    })
}

/// The path relative to the current folder, if it is inside it.
pub fn short(path: &Path) -> &Path {
    std::env::current_dir()
        .ok()
        .and_then(|folder| path.strip_prefix(folder).ok())
        .unwrap_or(path)
}
