//! One line for each loss and for each trained tensor: its largest difference from the recording.

use std::collections::BTreeMap;

use burn::tensor::TensorData;
use detection_head::{Recording, largest_difference};

use crate::error::Error;

/// The largest difference of a loss relative to it, and of a weight relative to the largest of its tensor.
const TOLERANCE: f64 = 1e-3;

pub type Weights = BTreeMap<String, TensorData>;

#[derive(Default)]
pub struct Table {
    /// What differs by more than it may.
    differing: Vec<String>,
}

impl Table {
    /// Compares a loss of each step.
    pub fn loss(&mut self, name: &str, own: &[f32], recorded: &[f32]) {
        let pairs = own.iter().zip(recorded);
        let differences = pairs.map(|(own, recorded)| largest_difference(&[*own], &[*recorded]));
        let (step, difference) = (1..).zip(differences).fold((0, 0.0), |worst, step| match step.1 > worst.1 {
            true => step,
            false => worst,
        });
        let steps = format!("{} steps, the most in step {step}", own.len());
        self.row(name, &steps, difference, own.len() == recorded.len());
    }

    /// Compares the weights after the last step, and says by how much they have moved.
    pub fn weights(&mut self, start: &Weights, end: &Weights, recording: &Recording) -> Result<(), Error> {
        for (name, end) in end {
            let recorded = recording.tensor(name)?;
            let values: Vec<f32> = end.clone().try_to_vec()?;
            let start: Vec<f32> = start[name].clone().try_to_vec()?;
            let moved = format!("{:?}, moved by {:.1e}", recorded.shape, largest_difference(&start, &recorded.values));
            let difference = largest_difference(&values, &recorded.values);
            self.row(name, &moved, difference, recorded.shape == end.shape().to_vec());
        }
        Ok(())
    }

    fn row(&mut self, name: &str, about: &str, difference: f64, fits: bool) {
        let same = fits && difference <= TOLERANCE;
        let verdict = if same { "" } else { "  differs" };
        println!("{name:<50} {about:<40} {difference:.1e}{verdict}");
        if !same {
            self.differing.push(name.to_string());
        }
    }

    pub fn finish(self) -> Result<(), Error> {
        match self.differing.is_empty() {
            true => Ok(()),
            false => Err(Error::Differs {
                tolerance: TOLERANCE,
                names: self.differing,
            }),
        }
    }
}
