//! The losses and the measures of a run by step, and its options: `history.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use burn_roi_detection::train::TrainingStep;
use detection_head::pictures::write_whole;
use serde::{Deserialize, Serialize};

use crate::arguments::Arguments;
use crate::error::Error;
use crate::evaluation::Measures;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The options that decide the result, as text: JSON's numbers may differ in the last bit once they are read.
    options: BTreeMap<String, String>,
    pub steps: Vec<Step>,
    /// The measures after so many steps.
    pub measures: Vec<(usize, Measures)>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub learning_rate: f64,
    /// Each loss under torchvision's name.
    pub losses: Vec<(String, f32)>,
}

impl From<TrainingStep> for Step {
    fn from(step: TrainingStep) -> Self {
        let losses = step.losses.into_iter().map(|(name, loss)| (name.to_string(), loss));
        Self {
            learning_rate: step.learning_rate,
            losses: losses.collect(),
        }
    }
}

impl History {
    pub fn new(arguments: &Arguments) -> Self {
        Self {
            options: options(arguments),
            steps: Vec::new(),
            measures: Vec::new(),
        }
    }

    /// The first steps of an interrupted run, which must have the same options.
    pub fn read(arguments: &Arguments, steps: usize) -> Result<Self, Error> {
        let path = path(arguments);
        let failed = |reason: String| Error::History {
            path: path.clone(),
            reason,
        };
        let bytes = fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let mut history: Self = serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
        let differing = options(arguments).into_iter().filter_map(|(name, value)| {
            let before = history.options.get(&name).map_or("missing", String::as_str);
            (before != value).then(|| format!("--{} was {before}, not {value}", name.replace('_', "-")))
        });
        let differing: Vec<String> = differing.collect();
        if !differing.is_empty() {
            return Err(Error::OtherOptions(differing));
        }
        if history.steps.len() < steps {
            return Err(failed(format!("it has fewer than the {steps} steps of the checkpoint")));
        }
        history.steps.truncate(steps);
        history.measures.retain(|(step, _)| *step <= steps);
        Ok(history)
    }

    pub fn write(&self, arguments: &Arguments) -> Result<(), Error> {
        let json = serde_json::to_vec(self).expect("numbers and text are JSON");
        write_file(&path(arguments), &json)
    }
}

/// Writes a whole file or none.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_whole(path, bytes).map_err(|source| Error::File {
        action: "write",
        path: path.to_owned(),
        source,
    })
}

fn path(arguments: &Arguments) -> PathBuf {
    arguments.output.join("history.json")
}

fn options(arguments: &Arguments) -> BTreeMap<String, String> {
    let options = serde_json::to_value(arguments).expect("options are JSON");
    let options = options.as_object().into_iter().flatten();
    options.map(|(name, value)| (name.clone(), value.to_string())).collect()
}
