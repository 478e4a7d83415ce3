//! The largest difference of each layer.

use burn::tensor::Tensor;

use super::Recording;
use crate::error::Error;

/// How large a layer's largest difference may be, relative to its largest value.
pub const LARGEST_DIFFERENCE: f64 = 1e-3;

pub struct Table<'a> {
    recording: &'a Recording,
    /// The layers that differ.
    differing: Vec<String>,
}

impl<'a> Table<'a> {
    pub fn new(recording: &'a Recording) -> Self {
        println!(
            "\n{:<18} {:<22} largest difference, relative to the largest value",
            "layer", "shape"
        );
        Self {
            recording,
            differing: Vec::new(),
        }
    }

    /// Compares a layer with the one of that name, which may have the first rows only.
    pub fn compare<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) -> Result<(), Error> {
        let recorded = self.recording.tensor(name)?;
        let mut shape = tensor.dims().to_vec();
        let rows = recorded.shape.first().copied().unwrap_or_default().min(shape[0]);
        shape[0] = rows;
        if recorded.shape != shape {
            let shapes = format!("{:?} and not {:?}", tensor.dims(), recorded.shape);
            self.row(name, &shapes, f64::INFINITY);
            return Ok(());
        }
        let values: Vec<f32> = tensor.slice_dim(0, 0..rows).into_data().try_to_vec()?;
        let pairs = values.iter().zip(&recorded.values);
        let difference = relative(pairs.map(|(own, other)| difference(*own, *other)), &recorded.values);
        self.row(name, &format!("{shape:?}"), difference);
        Ok(())
    }

    /// Compares boxes whose order is not compared: each recorded one with the nearest that is left.
    pub fn compare_sets(&mut self, name: &str, boxes: Tensor<2>) -> Result<(), Error> {
        let recorded = self.recording.boxes(name)?;
        let values: Vec<f32> = boxes.into_data().try_to_vec()?;
        let mut own: Vec<[f32; 4]> = values.as_chunks().0.to_vec();
        if own.len() != recorded.len() {
            let counts = format!("{} and not {}", own.len(), recorded.len());
            self.row(name, &counts, f64::INFINITY);
            return Ok(());
        }
        let differences = recorded.iter().map(|other| {
            let nearest = own
                .iter()
                .map(|own| farthest(own, other))
                .enumerate()
                .min_by(|(_, left), (_, right)| left.total_cmp(right));
            nearest.map_or(f64::INFINITY, |(index, difference)| {
                // In order, so that equal boxes meet in theirs.
                own.remove(index);
                difference
            })
        });
        let difference = relative(differences, recorded.as_flattened());
        self.row(name, &format!("[{}, 4], in any order", recorded.len()), difference);
        Ok(())
    }

    fn row(&mut self, name: &str, shape: &str, difference: f64) {
        let differs = difference > LARGEST_DIFFERENCE;
        let verdict = if differs { "  differs" } else { "" };
        println!("{name:<18} {shape:<22} {difference:.1e}{verdict}");
        if differs {
            self.differing.push(name.to_string());
        }
    }

    /// The layers that differ by more than they may.
    pub fn finish(self) -> Vec<String> {
        self.differing
    }
}

/// The largest of the differences between a box's sides.
pub fn farthest(own: &[f32; 4], other: &[f32; 4]) -> f64 {
    let sides = own.iter().zip(other);
    sides.map(|(own, other)| difference(*own, *other)).fold(0.0, f64::max)
}

/// Infinite where one of the two is not a number: it must not pass for small.
fn difference(own: f32, other: f32) -> f64 {
    let difference = (f64::from(own) - f64::from(other)).abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}

fn relative(differences: impl Iterator<Item = f64>, recorded: &[f32]) -> f64 {
    let largest = recorded
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(f64::from(value.abs())));
    match differences.fold(0.0, f64::max) {
        0.0 => 0.0,
        difference => difference / largest,
    }
}
