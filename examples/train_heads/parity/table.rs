//! One line for each loss and for each trained tensor: its largest difference from the recording.

use std::collections::BTreeMap;

use burn::tensor::TensorData;
use detection_head::{Recording, largest_difference};

use crate::error::Error;

/// The largest difference of a loss relative to it, and of a tensor's weights relative to their largest change.
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
        let (step, difference) = (1..)
            .zip(differences)
            .fold((0, 0.0), |worst, step| match step.1 > worst.1 {
                true => step,
                false => worst,
            });
        let steps = format!("{} steps, the most in step {step}", own.len());
        self.row(name, &steps, difference, own.len() == recorded.len());
    }

    /// Compares the weights after the last step, and their change since the first one.
    pub fn weights(&mut self, start: &Weights, end: &Weights, recording: &Recording) -> Result<(), Error> {
        for (name, end) in end {
            let recorded = recording.tensor(name)?;
            let [start, values] = [&start[name], end].map(|data| data.clone().try_to_vec::<f32>());
            let (start, values) = (start?, values?);
            let of_weights = largest_difference(&values, &recorded.values);
            let changed = largest_difference(&start, &recorded.values);
            let about = format!(
                "{:?}, changed by {changed:.1e}, differ by {of_weights:.1e}",
                recorded.shape
            );
            // The weights hardly change in 20 steps: a difference in their change is harder to hide.
            let fits = recorded.shape[..] == end.shape()[..];
            self.row(name, &about, of_weights / changed, fits);
        }
        Ok(())
    }

    fn row(&mut self, name: &str, about: &str, difference: f64, fits: bool) {
        let same = fits && difference <= TOLERANCE;
        let verdict = if same { "" } else { "  differs" };
        println!("{name:<48} {about:<52} {difference:.1e}{verdict}");
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
