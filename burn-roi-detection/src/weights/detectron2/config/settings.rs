//! The settings of a config, by the names that detectron2's documentation has.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::ConfigError;
use super::node::{Content, Node};
use super::scalar::Scalar;
use super::yaml;
use crate::NormKind;

/// The most bytes of a config. detectron2's own have about 10,000.
const MAX_BYTES: usize = 1 << 20;
/// The most keys of a config. detectron2's own have about 250.
const MAX_KEYS: usize = 10_000;
/// The most characters of a key.
const MAX_KEY: usize = 200;
/// The most items of a list that is read.
const MAX_ITEMS: usize = 256;

/// The key that names the file whose settings a config changes.
const BASE: &str = "_BASE_";

/// The values of a config by keys such as `MODEL.RESNETS.DEPTH`. What is taken is no longer there, so that what is left
/// was not understood.
#[derive(Debug, Default)]
pub(super) struct Settings {
    values: BTreeMap<String, Rc<Node>>,
}

impl Settings {
    pub(super) fn read(text: &str) -> Result<Self, ConfigError> {
        if text.len() > MAX_BYTES {
            return Err(ConfigError::Length {
                bytes: text.len(),
                limit: MAX_BYTES,
            });
        }
        let root = yaml::parse(text)?;
        if !matches!(root.content, Content::Mapping(_)) {
            return Err(ConfigError::Yaml {
                line: 1,
                reason: "a config must be a mapping".to_string(),
            });
        }
        let mut settings = Self::default();
        settings.insert("", &root, &mut 0)?;
        Ok(settings)
    }

    /// Takes the path of the file whose settings these change.
    pub(super) fn take_base(&mut self, expected: &str) -> Result<Option<String>, ConfigError> {
        self.read_as(BASE, None, expected, |node| {
            text(node).filter(|path| path.ends_with(".yaml")).map(Some)
        })
    }

    /// Adds what is below a node. `visits` counts nodes: aliases can make few bytes into a tree of many.
    fn insert(&mut self, key: &str, node: &Rc<Node>, visits: &mut usize) -> Result<(), ConfigError> {
        *visits += 1;
        if *visits > MAX_KEYS || key.len() > MAX_KEY {
            return Err(ConfigError::Keys { limit: MAX_KEYS });
        }
        match &node.content {
            Content::Mapping(entries) => {
                for (name, node) in entries {
                    match key {
                        "" => self.insert(name, node, visits)?,
                        _ => self.insert(&format!("{key}.{name}"), node, visits)?,
                    }
                }
            }
            _ => _ = self.values.insert(key.to_string(), node.clone()),
        }
        Ok(())
    }

    /// Puts the settings of another config in place of these.
    pub(super) fn replace(&mut self, other: Self) {
        self.values.extend(other.values);
    }

    /// The value of a key, which is no longer there after it.
    pub(super) fn take(&mut self, key: &str) -> Option<Rc<Node>> {
        self.values.remove(key)
    }

    /// Takes all values whose keys begin as one of these.
    pub(super) fn ignore(&mut self, starts: &[&str]) {
        self.values
            .retain(|key, _| !starts.iter().any(|start| key.starts_with(start)));
    }

    /// Refuses settings that need those of another file.
    pub(super) fn must_be_whole(mut self) -> Result<Self, ConfigError> {
        match self.take(BASE) {
            Some(base) => {
                let expected = "absent in a text: `read_config` of a file follows it";
                Err(setting(BASE, base.describe(), expected))
            }
            None => Ok(self),
        }
    }

    /// Refuses what was not taken of a section.
    pub(super) fn refuse_others(&self, section: &str) -> Result<(), ConfigError> {
        match self.values.iter().find(|(key, _)| key.starts_with(section)) {
            None => Ok(()),
            Some((key, node)) => Err(ConfigError::Unknown {
                key: key.clone(),
                value: node.describe(),
            }),
        }
    }

    /// A value that a function reads, or a default.
    fn read_as<Value>(
        &mut self,
        key: &str,
        default: Value,
        expected: &str,
        read: impl Fn(&Node) -> Option<Value>,
    ) -> Result<Value, ConfigError> {
        match self.take(key) {
            None => Ok(default),
            Some(node) => read(&node).ok_or_else(|| setting(key, node.describe(), expected)),
        }
    }

    pub(super) fn bool(&mut self, key: &str, default: bool) -> Result<bool, ConfigError> {
        self.read_as(key, default, "true or false", |node| match node.content {
            Content::Scalar(Scalar::Bool(value)) => Some(value),
            _ => None,
        })
    }

    pub(super) fn size(&mut self, key: &str, default: usize) -> Result<usize, ConfigError> {
        self.read_as(key, default, "an integer, at least 0 and at most 1,000,000", size)
    }

    /// How many layers or keypoints there are.
    pub(super) fn count(&mut self, key: &str, default: usize) -> Result<usize, ConfigError> {
        self.read_as(key, default, "an integer, at least 0 and at most 256", |node| {
            size(node).filter(|&count| count <= MAX_ITEMS)
        })
    }

    /// The norm that a setting names. All kinds of batch normalization are one here.
    pub(super) fn norm(&mut self, key: &str) -> Result<Option<NormKind>, ConfigError> {
        let name = self.one_of(key, &["", "BN", "SyncBN", "nnSyncBN", "naiveSyncBN", "GN", "LN"])?;
        Ok((!name.is_empty()).then(|| norm_kind(name)))
    }

    pub(super) fn float(&mut self, key: &str, default: f64) -> Result<f64, ConfigError> {
        self.read_as(key, default, "a number", float)
    }

    pub(super) fn floats<const N: usize>(&mut self, key: &str, default: [f64; N]) -> Result<[f64; N], ConfigError> {
        let expected = format!("{N} numbers");
        self.read_as(key, default, &expected, |node| floats(node)?.try_into().ok())
    }

    pub(super) fn sizes(&mut self, key: &str, default: &[usize]) -> Result<Vec<usize>, ConfigError> {
        let expected = "a list of integers, each at least 0 and at most 1,000,000";
        self.read_as(key, default.to_vec(), expected, |node| list(node, size))
    }

    pub(super) fn ints(&mut self, key: &str, default: &[i64]) -> Result<Vec<i64>, ConfigError> {
        let int = |node: &Node| match node.content {
            Content::Scalar(Scalar::Int(value)) => Some(value),
            _ => None,
        };
        self.read_as(key, default.to_vec(), "a list of integers", |node| list(node, int))
    }

    /// Lists of numbers in a list.
    pub(super) fn float_lists(&mut self, key: &str, default: &[&[f64]]) -> Result<Vec<Vec<f64>>, ConfigError> {
        let default = default.iter().map(|list| list.to_vec()).collect();
        self.read_as(key, default, "a list of lists of numbers", |node| list(node, floats))
    }

    pub(super) fn texts(&mut self, key: &str, default: &[&str]) -> Result<Vec<String>, ConfigError> {
        let default = default.iter().map(ToString::to_string).collect();
        self.read_as(key, default, "a list of texts", |node| list(node, text))
    }

    /// One of the texts that are allowed, the first of which is the default.
    pub(super) fn one_of(&mut self, key: &str, allowed: &[&'static str]) -> Result<&'static str, ConfigError> {
        let expected = format!("one of {allowed:?}");
        let default = allowed.first().copied().unwrap_or_default();
        self.read_as(key, default, &expected, |node| {
            let text = text(node)?;
            allowed.iter().find(|allowed| **allowed == text).copied()
        })
    }

    /// Refuses a bool that is not the one that the models here have.
    pub(super) fn must_be(&mut self, key: &str, expected: bool) -> Result<(), ConfigError> {
        match self.take(key) {
            Some(node) if !matches!(node.content, Content::Scalar(Scalar::Bool(value)) if value == expected) => {
                Err(setting(key, node.describe(), expected))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a list of texts that is not the one that the models here have.
    pub(super) fn must_list(&mut self, key: &str, default: &[&str], expected: &[&str]) -> Result<(), ConfigError> {
        let texts = self.texts(key, default)?;
        match texts == expected {
            true => Ok(()),
            false => {
                let expected = format_args!("{expected:?} in this model");
                Err(setting(key, format_args!("{texts:?}"), expected))
            }
        }
    }
}

/// The error that a setting has a value that it must not have.
pub(super) fn setting(key: &str, value: impl ToString, expected: impl ToString) -> ConfigError {
    ConfigError::Setting {
        key: key.to_string(),
        value: value.to_string(),
        expected: expected.to_string(),
    }
}

fn list<Item>(node: &Node, item: impl Fn(&Node) -> Option<Item>) -> Option<Vec<Item>> {
    match &node.content {
        Content::Sequence(nodes) if nodes.len() <= MAX_ITEMS => nodes.iter().map(|node| item(node)).collect(),
        _ => None,
    }
}

fn text(node: &Node) -> Option<String> {
    match &node.content {
        Content::Scalar(Scalar::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

fn size(node: &Node) -> Option<usize> {
    match node.content {
        Content::Scalar(Scalar::Int(value @ 0..=1_000_000)) => Some(value as usize),
        _ => None,
    }
}

fn float(node: &Node) -> Option<f64> {
    match node.content {
        Content::Scalar(Scalar::Float(value)) => Some(value),
        Content::Scalar(Scalar::Int(value)) => Some(value as f64),
        _ => None,
    }
}

fn floats(node: &Node) -> Option<Vec<f64>> {
    list(node, float)
}

/// The kind of a norm of detectron2. `GN` always has 32 groups.
pub(super) fn norm_kind(name: &str) -> NormKind {
    match name {
        "GN" => NormKind::Group(32),
        "LN" => NormKind::Layer,
        _ => NormKind::Batch,
    }
}
