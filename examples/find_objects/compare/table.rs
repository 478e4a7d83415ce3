//! One line for each layer: its largest difference from the recording.

use burn::tensor::Tensor;

use super::Recording;
use super::boxes::{BoxMatches, difference};
use crate::error::Error;

/// The largest difference that a layer may have, relative to its largest value.
const LARGEST_DIFFERENCE: f64 = 1e-3;

pub struct Table<'a> {
    recording: &'a Recording,
    /// The layers that differ by more than they may.
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

    /// Compares a layer with the recorded tensor of that name, which may have only the layer's first rows.
    pub fn compare<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) -> Result<(), Error> {
        let recorded = self.recording.tensor(name)?;
        let mut shape = tensor.dims().to_vec();
        let rows = recorded.shape.first().copied().unwrap_or_default().min(shape[0]);
        shape[0] = rows;
        if recorded.shape != shape {
            let shapes = format!("{:?} and not {:?}", tensor.dims(), recorded.shape);
            self.row(name, &shapes, f64::INFINITY, false);
            return Ok(());
        }
        let values: Vec<f32> = tensor.slice_dim(0, 0..rows).into_data().try_to_vec()?;
        let difference = largest_difference(&values, &recorded.values);
        self.row(
            name,
            &format!("{shape:?}"),
            difference,
            difference <= LARGEST_DIFFERENCE,
        );
        Ok(())
    }

    /// Compares the proposals, in any order.
    pub fn compare_proposals(&mut self, proposals: Tensor<2>) -> Result<(), Error> {
        let recorded = self.recording.boxes("proposals")?;
        let values: Vec<f32> = proposals.into_data().try_to_vec()?;
        let matches = BoxMatches::new(values.as_chunks().0, &recorded);
        let shape = format!("{} of {} match", matches.matched, matches.total);
        self.row("proposals", &shape, matches.largest_difference, matches.are_enough());
        if matches.matched < matches.total {
            println!(
                "  A candidate whose score ties with another's, or whose overlap is within rounding of the NMS \
                 threshold,\n  may be chosen differently: 99 % of the proposals must match, and every detection."
            );
        }
        Ok(())
    }

    fn row(&mut self, name: &str, shape: &str, difference: f64, same: bool) {
        let verdict = if same { "" } else { "  differs" };
        println!("{name:<18} {shape:<22} {difference:.1e}{verdict}");
        if !same {
            self.differing.push(name.to_string());
        }
    }

    /// The layers that differ by more than they may.
    pub fn finish(self) -> Vec<String> {
        self.differing
    }
}

/// The largest difference of two tensors, relative to the largest recorded value; infinite where it has no value.
pub fn largest_difference(own: &[f32], recorded: &[f32]) -> f64 {
    let pairs = own.iter().zip(recorded);
    let differences = pairs.map(|(own, recorded)| difference(*own, *recorded));
    let values = recorded.iter().map(|value| f64::from(value.abs()));
    match (differences.fold(0.0, f64::max), values.fold(0.0, f64::max)) {
        (0.0, _) => 0.0,
        (difference, largest) if largest.is_finite() => difference / largest,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_relative_to_the_largest_value() {
        assert_eq!(largest_difference(&[], &[]), 0.0);
        assert_eq!(largest_difference(&[0.0, 7.0], &[0.0, 8.0]), 0.125);
        assert_eq!(largest_difference(&[0.0], &[0.0]), 0.0);
        assert_eq!(largest_difference(&[1.0], &[0.0]), f64::INFINITY);
    }

    #[test]
    fn values_that_are_not_finite_differ() {
        let infinity = f32::INFINITY;
        for (own, recorded) in [(f32::NAN, 1.0), (1.0, f32::NAN), (infinity, infinity), (1.0, infinity)] {
            assert_eq!(largest_difference(&[own, 3.0], &[recorded, 3.0]), f64::INFINITY);
        }
    }
}
