//! The losses and the measures of a run by step, and its options: `history.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use burn_roi_detection::train::TrainingStep;
use find_objects::pictures::write_whole;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Each loss under its name: torchvision's, or detectron2's for the stages of a cascade.
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
    pub fn new(arguments: &Arguments) -> Result<Self, Error> {
        Ok(Self {
            options: options(arguments)?,
            steps: Vec::new(),
            measures: Vec::new(),
        })
    }

    /// The history of an interrupted run, which must have the same options.
    pub fn read(arguments: &Arguments) -> Result<Self, Error> {
        let bytes = fs::read(path(arguments)).map_err(|error| broken(arguments, error.to_string()))?;
        let history: Self = serde_json::from_slice(&bytes).map_err(|error| broken(arguments, error.to_string()))?;
        let differing = options(arguments)?.into_iter().filter_map(|(name, value)| {
            let before = history.options.get(&name).map_or("missing", String::as_str);
            (before != value).then(|| format!("--{} was {before}, not {value}", name.replace('_', "-")))
        });
        let differing: Vec<String> = differing.collect();
        if !differing.is_empty() {
            return Err(Error::OtherOptions(differing));
        }
        let names = |step: &Step| step.losses.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match history.steps.windows(2).all(|pair| names(&pair[0]) == names(&pair[1])) {
            true => Ok(history),
            false => Err(broken(arguments, "its steps have different losses".to_string())),
        }
    }

    /// The first steps, up to a checkpoint.
    pub fn until(mut self, steps: usize, arguments: &Arguments) -> Result<Self, Error> {
        if self.steps.len() < steps {
            let reason = format!("it has {} steps, but the checkpoint has {steps}", self.steps.len());
            return Err(broken(arguments, reason));
        }
        self.steps.truncate(steps);
        self.measures.retain(|(step, _)| *step <= steps);
        Ok(self)
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

fn broken(arguments: &Arguments, reason: String) -> Error {
    Error::History {
        path: path(arguments),
        reason,
    }
}

/// The options as text. A path that is no UTF-8 is an error.
fn options(arguments: &Arguments) -> Result<BTreeMap<String, String>, Error> {
    let options = serde_json::to_value(arguments).map_err(|error| broken(arguments, error.to_string()))?;
    let options = options.as_object().into_iter().flatten();
    let text = |value: &Value| match value {
        Value::Null => "the default".to_string(),
        value => value.to_string(),
    };
    Ok(options.map(|(name, value)| (name.clone(), text(value))).collect())
}
