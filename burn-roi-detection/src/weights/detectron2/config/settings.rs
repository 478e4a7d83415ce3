//! The settings of a config, by the names that detectron2's documentation has.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::ConfigError;
use super::node::{Content, Node};
use super::scalar::Scalar;
use super::yaml;

/// The most bytes of a config. detectron2's own have about 10,000.
const MAX_BYTES: usize = 1 << 20;
/// The most keys of a config. detectron2's own have about 250.
const MAX_KEYS: usize = 10_000;
/// The most characters of a key.
const MAX_KEY: usize = 200;
/// The most items of a list that is read.
const MAX_ITEMS: usize = 256;

/// The values of a config by keys such as `MODEL.RESNETS.DEPTH`. What is taken is no longer there, so that what is left
/// was not understood.
#[derive(Debug)]
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
        let mut settings = Self {
            values: BTreeMap::new(),
        };
        settings.insert("", &root, &mut 0)?;
        match settings.take("_BASE_") {
            Some(base) => Err(setting(
                "_BASE_",
                &base,
                "absent: a config must be whole, as detectron2's `cfg.dump()` writes it",
            )),
            None => Ok(settings),
        }
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

    fn take(&mut self, key: &str) -> Option<Rc<Node>> {
        self.values.remove(key)
    }
}

fn setting(key: &str, node: &Node, expected: &str) -> ConfigError {
    ConfigError::Setting {
        key: key.to_string(),
        value: node.describe(),
        expected: expected.to_string(),
    }
}
