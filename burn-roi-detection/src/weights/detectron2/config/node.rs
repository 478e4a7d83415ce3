//! The values of a config.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::scalar::Scalar;
use crate::weights::shortened::{LONGEST, shortened};

/// A value. An alias shares it, so a text of many aliases makes no large tree.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    /// How many levels are below it.
    pub(super) height: usize,
}

#[derive(Debug)]
pub(super) enum Content {
    Scalar(Scalar),
    Sequence(Vec<Rc<Node>>),
    Mapping(BTreeMap<String, Rc<Node>>),
}

impl Node {
    pub(super) fn new(content: Content) -> Self {
        let highest = match &content {
            Content::Scalar(_) => None,
            Content::Sequence(items) => items.iter().map(|item| item.height + 1).max(),
            Content::Mapping(entries) => entries.values().map(|item| item.height + 1).max(),
        };
        Self {
            content,
            height: highest.unwrap_or_default(),
        }
    }

    /// The value as an error repeats it, its start if it is long.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        shortened(&text)
    }

    fn write(&self, text: &mut String) {
        if text.len() > LONGEST {
            return;
        }
        match &self.content {
            Content::Scalar(scalar) => text.push_str(&scalar.describe()),
            Content::Sequence(items) => {
                text.push('[');
                for (index, item) in items.iter().take(LONGEST).enumerate() {
                    text.push_str(if index == 0 { "" } else { ", " });
                    item.write(text);
                }
                text.push(']');
            }
            Content::Mapping(_) => text.push_str("a mapping"),
        }
    }
}
