//! What the command prints.

use std::path::Path;
use std::time::Duration;

use find_objects::{Report, milliseconds, short};
use image::RgbImage;
use serde_json::{Value, json};

use crate::detector::Face;
use crate::stages::{Stage, Stages};

/// Prints the faces of a picture, one line each, and their JSON if it was asked for.
pub fn faces(report: &Report, file: &Path, picture: &RgbImage, faces: &[Face]) {
    let (width, height) = picture.dimensions();
    let count = match faces.len() {
        1 => "1 face".to_string(),
        count => format!("{count} faces"),
    };
    report.line(&format!("\n{}, {width} x {height}: {count}", short(file).display()));
    for face in faces {
        let [x1, y1, x2, y2] = face.corners;
        let [[left_x, left_y], [right_x, right_y], ..] = face.landmarks;
        report.line(&format!(
            "  {:.4}  {x1:>6.1},{y1:>6.1} to {x2:>6.1},{y2:>6.1}  eyes at {left_x:.1},{left_y:.1} and \
             {right_x:.1},{right_y:.1}",
            face.score
        ));
    }
    if report.json {
        println!("{}", to_json(file, [width, height], faces));
    }
}

/// Prints the median time of each stage.
pub fn times(report: &Report, runs: &[Stages]) {
    let line = |name: &str, time: &dyn Fn(&Stages) -> Duration| {
        report.line(&format!("  {name:<22} {:>9}", milliseconds(median(runs, time))));
    };
    for stage in Stage::ALL {
        line(stage.name(), &|run| run.of(stage));
    }
    line("total", &Stages::total);
}

fn median(runs: &[Stages], time: &dyn Fn(&Stages) -> Duration) -> Duration {
    let mut times: Vec<Duration> = runs.iter().map(time).collect();
    times.sort();
    times[times.len() / 2]
}

/// A picture and its faces, as JSON.
pub fn to_json(file: &Path, [width, height]: [u32; 2], faces: &[Face]) -> Value {
    let faces = faces.iter().map(|face| {
        let [left_eye, right_eye, nose, mouth_left, mouth_right] = face.landmarks;
        json!({
            "box": face.corners,
            "score": face.score,
            "landmarks": {
                "left_eye": left_eye,
                "right_eye": right_eye,
                "nose": nose,
                "mouth_left": mouth_left,
                "mouth_right": mouth_right,
            },
        })
    });
    json!({
        "image": file.display().to_string(),
        "width": width,
        "height": height,
        "faces": faces.collect::<Vec<_>>(),
    })
}
