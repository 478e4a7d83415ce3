//! The attributes of an operator's node, checked as they are read.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use burn_onnx::ext::CustomNode;
use onnx_ir::NodeProto;

use super::value::Value;
use crate::error::{Error, NodeId};

/// The largest height and width of an output. This limit and the next one are burn-roi's, which a test of `onnx_graphs`
/// checks. With burn-roi as a dependency, each build script with this crate would compile it a second time.
const MAXIMUM_OUTPUT_SIZE: i64 = 32_767;

/// The highest sampling ratio.
const MAXIMUM_FIXED_SAMPLES: i64 = 1024;

/// The attribute that keeps a node's name, since burn-onnx renames nodes.
pub(crate) const ORIGINAL_NAME: &str = "burn_roi_node";

/// Attributes for finding a plugin. They change nothing that it computes.
const OF_THE_LOADER: [&str; 2] = ["plugin_version", "plugin_namespace"];

/// The attributes of a node.
pub(crate) struct Attributes {
    pub node: NodeId,
    /// The version of the node's operator set.
    pub version: usize,
    values: Vec<(String, Value)>,
}

impl Attributes {
    /// Reads a node of a model.
    pub fn of(node: &NodeProto, version: usize) -> Self {
        let values = node
            .attribute
            .iter()
            .map(|attribute| (attribute.name.clone(), Value::of(attribute)));
        Self {
            node: NodeId::of(node),
            version,
            values: values.collect(),
        }
    }

    /// Reads a node of burn-onnx.
    pub fn of_custom(node: &CustomNode) -> Self {
        // burn-onnx numbers the nodes of each operator, so its own name says nothing.
        let name = node.attrs.get_string(ORIGINAL_NAME).unwrap_or_default().to_string();
        let names = node.attrs.names().filter(|&name| name != ORIGINAL_NAME);
        Self {
            node: NodeId {
                name,
                operator: node.op_type.clone(),
                domain: node.domain.clone(),
                output: node
                    .outputs
                    .first()
                    .map_or_else(String::new, |output| output.name.clone()),
            },
            version: node.opset,
            values: names
                .map(|name| (name.to_string(), Value::of_custom(node, name)))
                .collect(),
        }
    }

    /// An error if the version of the operator set is not an expected one.
    pub fn check_version(&self, expected: &RangeInclusive<usize>) -> Result<(), Error> {
        if expected.contains(&self.version) {
            return Ok(());
        }
        Err(Error::OperatorVersion {
            node: Box::new(self.node.clone()),
            version: self.version,
            expected: format!("{} to {}", expected.start(), expected.end()),
        })
    }

    /// An error if the node has too few or too many inputs or outputs.
    pub fn check_count(&self, what: &str, count: usize, expected: &RangeInclusive<usize>) -> Result<(), Error> {
        if expected.contains(&count) {
            return Ok(());
        }
        let expected = match (expected.start(), expected.end()) {
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        Err(self.refuse(format!("it has {count} {what}; it must have {expected}")))
    }

    /// An error if an attribute occurs twice or is not in `known`. An unknown one may change the operator's result.
    pub fn only(&self, known: &[&str]) -> Result<(), Error> {
        let mut seen = HashSet::new();
        if let Some((name, value)) = self.values.iter().find(|(name, _)| !seen.insert(name)) {
            return Err(self.wrong(name, value.to_string(), "there only once"));
        }
        let unknown = |name: &String| !known.contains(&name.as_str()) && !OF_THE_LOADER.contains(&name.as_str());
        match self.values.iter().find(|(name, _)| unknown(name)) {
            None => Ok(()),
            Some((name, value)) => Err(self.wrong(
                name,
                value.to_string(),
                format!("absent: the operator has only {known:?}"),
            )),
        }
    }

    /// The height or the width of an output.
    pub fn size(&self, name: &str, default: Option<i64>) -> Result<usize, Error> {
        let value = self.int(name, default)?;
        self.size_of(name, value)
    }

    /// The height and the width of an output, in an attribute each.
    pub fn output_size(&self, default: Option<i64>) -> Result<[usize; 2], Error> {
        Ok([
            self.size("output_height", default)?,
            self.size("output_width", default)?,
        ])
    }

    /// The height and the width of an output, in one attribute.
    pub fn sizes(&self, name: &str) -> Result<[usize; 2], Error> {
        let values = self.ints(name, None)?;
        match values[..] {
            [height, width] => Ok([self.size_of(name, height)?, self.size_of(name, width)?]),
            _ => Err(self.wrong(name, format!("{values:?}"), "a height and a width")),
        }
    }

    fn size_of(&self, name: &str, value: i64) -> Result<usize, Error> {
        self.within(name, value, 1..=MAXIMUM_OUTPUT_SIZE)
    }

    /// A sampling ratio. 0 is adaptive.
    pub fn samples(&self, name: &str, default: i64) -> Result<usize, Error> {
        let value = self.int(name, Some(default))?;
        self.within(name, value, 0..=MAXIMUM_FIXED_SAMPLES)
    }

    /// Checks that an integer is in a range.
    pub fn within(&self, name: &str, value: i64, range: RangeInclusive<i64>) -> Result<usize, Error> {
        let fits = range.contains(&value);
        let expected = || format!("{} to {}", range.start(), range.end());
        let size = fits.then(|| usize::try_from(value).ok()).flatten();
        size.ok_or_else(|| self.wrong(name, value.to_string(), expected()))
    }

    /// A spatial scale.
    pub fn scale(&self, name: &str, default: Option<f32>) -> Result<f32, Error> {
        let scale = self.float(name, default)?;
        if scale.is_finite() && scale > 0.0 {
            Ok(scale)
        } else {
            Err(self.wrong(name, scale.to_string(), "finite and above 0"))
        }
    }

    /// Floats above 0, one for each of `maps` feature maps.
    pub fn scales(&self, name: &str, maps: usize) -> Result<Vec<f32>, Error> {
        let expected = || format!("{maps} floats above 0, one for each feature map");
        match self.get(name) {
            Some(Value::Floats(scales)) if scales.len() == maps => {
                let fit = scales.iter().all(|scale| scale.is_finite() && *scale > 0.0);
                fit.then(|| scales.clone())
                    .ok_or_else(|| self.wrong(name, format!("{scales:?}"), expected()))
            }
            value => Err(self.missing(name, value, &expected())),
        }
    }

    /// A finite float.
    pub fn finite(&self, name: &str, default: impl Into<Option<f32>>) -> Result<f32, Error> {
        let value = self.float(name, default.into())?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.wrong(name, value.to_string(), "finite"))
        }
    }

    /// A boolean, as 0 or 1.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, Error> {
        Ok(self.within(name, self.int(name, Some(default.into()))?, 0..=1)? == 1)
    }

    /// One of several names.
    pub fn choice<T: Copy>(&self, name: &str, default: T, choices: &[(&str, T)]) -> Result<T, Error> {
        let text = match self.get(name) {
            None => return Ok(default),
            Some(Value::Text(text)) => text,
            Some(other) => return Err(self.wrong(name, other.to_string(), "a string")),
        };
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let chosen = choices.iter().find(|(name, _)| name == text);
        chosen
            .map(|&(_, choice)| choice)
            .ok_or_else(|| self.wrong(name, format!("{text:?}"), format!("one of {names:?}")))
    }

    /// An integer.
    pub fn int(&self, name: &str, default: Option<i64>) -> Result<i64, Error> {
        match (self.get(name), default) {
            (Some(&Value::Int(value)), _) | (None, Some(value)) => Ok(value),
            (value, _) => Err(self.missing(name, value, "an integer")),
        }
    }

    /// A list of integers.
    pub fn ints(&self, name: &str, default: Option<&[i64]>) -> Result<Vec<i64>, Error> {
        match (self.get(name), default) {
            (Some(Value::Ints(values)), _) => Ok(values.clone()),
            (None, Some(values)) => Ok(values.to_vec()),
            (value, _) => Err(self.missing(name, value, "a list of integers")),
        }
    }

    fn float(&self, name: &str, default: Option<f32>) -> Result<f32, Error> {
        match (self.get(name), default) {
            (Some(&Value::Float(value)), _) | (None, Some(value)) => Ok(value),
            (value, _) => Err(self.missing(name, value, "a float")),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.values.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    fn missing(&self, name: &str, value: Option<&Value>, expected: &str) -> Error {
        let value = value.map_or_else(|| "missing".to_string(), Value::to_string);
        self.wrong(name, value, expected)
    }

    /// The error for a node that cannot be imported.
    pub fn refuse(&self, reason: impl Into<String>) -> Error {
        Error::Node {
            node: Box::new(self.node.clone()),
            reason: reason.into(),
        }
    }

    /// The error for a wrong input.
    pub fn wrong_input(&self, input: &str, value: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Input {
            node: Box::new(self.node.clone()),
            input: input.to_string(),
            value: value.into(),
            expected: expected.into(),
        }
    }

    /// The error for a wrong attribute.
    pub fn wrong(&self, name: &str, value: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Attribute {
            node: Box::new(self.node.clone()),
            attribute: name.to_string(),
            value: value.into(),
            expected: expected.into(),
        }
    }
}

/// An axis of a tensor of rank `rank`, counted from the first. A negative one counts from the end.
pub(crate) fn from_first(axis: i64, rank: usize) -> i64 {
    if axis < 0 { axis + rank as i64 } else { axis }
}
