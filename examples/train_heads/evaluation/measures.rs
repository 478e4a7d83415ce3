//! The box AP50 of each class.

use burn_roi_detection::models::Detector;
use detection_head::{Found, progress_bar};

use super::average_precision::{Findings, average_precision};
use crate::drawing::{self, Picture, SHAPES, SIZES};
use crate::error::Error;

/// For each shape its AP50; none if no picture shows it.
pub struct Measures(Vec<Option<f64>>);

impl Measures {
    /// The mean of the shapes that the shipped model knows: all but the last.
    pub fn old_mean(&self) -> f64 {
        let old = self.0[..SHAPES.len() - 1].iter().flatten();
        old.clone().sum::<f64>() / old.count() as f64
    }

    /// Of the shape that is new.
    pub fn of_new(&self) -> f64 {
        self.0.last().copied().flatten().unwrap_or(0.0)
    }

    /// Prints the AP50 of each shape before and after training.
    pub fn print(before: &Self, after: &Self, pictures: usize) {
        println!("\nbox AP50 on {pictures} pictures that were not trained on");
        println!("{:<20} {:>8} {:>8}", "", "before", "after");
        let row = |name: &str, before: f64, after: f64| println!("{name:<20} {before:>8.3} {after:>8.3}");
        for (shape, values) in SHAPES.iter().zip(before.0.iter().zip(&after.0)) {
            if let (Some(before), Some(after)) = values {
                row(shape.name(), *before, *after);
            }
        }
        row("mean of the old", before.old_mean(), after.old_mean());
    }
}

/// Measures a detector on this number of pictures. A detector that does not know the new shape does not find it.
pub fn measure(detector: &Detector, seed: u64, pictures: usize) -> Result<Measures, Error> {
    let mut findings = vec![Vec::new(); SHAPES.len()];
    let bar = progress_bar(pictures as u64);
    bar.set_message("evaluation");
    for index in 0..pictures {
        let picture = drawing::draw(seed, index as u64, SIZES[index % SIZES.len()]);
        let found = detect(detector, &picture)?;
        for (place, findings) in findings.iter_mut().enumerate() {
            findings.push(of_class(place + 1, &found, &picture));
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Measures(
        findings.iter().map(|pictures| average_precision(pictures)).collect(),
    ))
}

/// All detections of a picture.
pub fn detect(detector: &Detector, picture: &Picture) -> Result<Vec<Found>, Error> {
    Ok(detection_head::detect(detector, &picture.pixels, &mut ())?)
}

fn of_class(class: usize, found: &[Found], picture: &Picture) -> Findings {
    let width = picture.pixels.width() as usize;
    let found = found.iter().filter(|found| found.class == class);
    let shapes = picture.shapes.iter().filter(|shape| shape.class == class);
    Findings {
        found: found.map(|found| (found.score, found.corners)).collect(),
        truth: shapes.map(|shape| shape.corners(width)).collect(),
    }
}
