//! A text of YAML, turned into nodes.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::error::ConfigError;
use super::node::{Content, Node};
use super::scalar::Scalar;

/// The most levels of a config. detectron2's own have 4, and twice as many with the tags of Python.
const MAX_DEPTH: usize = 32;

/// The only document of a text.
pub(super) fn parse(text: &str) -> Result<Rc<Node>, ConfigError> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error: ScanError| ConfigError::Yaml {
            line: error.marker().line(),
            reason: error.info().to_string(),
        })?;
        builder.accept(event).map_err(|reason| ConfigError::Yaml {
            line: span.start.line(),
            reason,
        })?;
    }
    builder.root.ok_or_else(|| ConfigError::Yaml {
        line: 1,
        reason: "the file is empty".to_string(),
    })
}

#[derive(Default)]
struct Builder {
    /// The sequences and mappings that the next event is in, the innermost last.
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

struct Open {
    anchor: usize,
    /// True if a tag says that this mapping describes an object of Python.
    is_object: bool,
    items: Items,
}

enum Items {
    Sequence(Vec<Rc<Node>>),
    /// The entries, and the key of the next.
    Mapping(BTreeMap<String, Rc<Node>>, Option<String>),
}

impl Builder {
    fn accept(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor);
                let node = node.ok_or("an alias is inside the value that it names")?;
                self.add(node.clone())
            }
            Event::Scalar(text, style, anchor, tag) => self.scalar(&text, style, anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) => self.open(anchor, tag.as_deref(), Items::Sequence(Vec::new())),
            Event::MappingStart(anchor, tag) => {
                self.open(anchor, tag.as_deref(), Items::Mapping(BTreeMap::new(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::DocumentStart(_) if self.root.is_some() => Err("a config is one document".to_string()),
            Event::DocumentStart(_) | Event::DocumentEnd | Event::StreamStart | Event::StreamEnd | Event::Nothing => {
                Ok(())
            }
        }
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, anchor: usize, is_tagged: bool) -> Result<(), String> {
        // What a tag makes of a text is Python's: here it stays text.
        let is_plain = style == ScalarStyle::Plain && !is_tagged;
        if let Some(Open {
            items: Items::Mapping(entries, key @ None),
            ..
        }) = self.open.last_mut()
        {
            if text == "<<" && is_plain {
                return Err("merge keys, `<<`, are not read".to_string());
            }
            if entries.contains_key(text) {
                return Err(format!("key {:?} is in a mapping twice", start(text)));
            }
            *key = Some(text.to_string());
            return Ok(());
        }
        let scalar = match is_plain {
            true => Scalar::of_plain(text),
            false => Scalar::Text(text.to_string()),
        };
        self.finish(Content::Scalar(scalar), anchor)
    }

    fn open(&mut self, anchor: usize, tag: Option<&Tag>, items: Items) -> Result<(), String> {
        if self.open.len() == MAX_DEPTH {
            return Err(format!("it is deeper than {MAX_DEPTH} levels"));
        }
        if let Some(Items::Mapping(_, None)) = self.open.last().map(|open| &open.items) {
            return Err("a key is a sequence or a mapping".to_string());
        }
        let is_object = tag.is_some_and(|tag| tag.suffix.starts_with("python/object"));
        self.open.push(Open {
            anchor,
            is_object,
            items,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        let open = self.open.pop().ok_or("a value ends that did not begin")?;
        let content = match open.items {
            Items::Sequence(items) => Content::Sequence(items),
            Items::Mapping(mut entries, _) if open.is_object => match entries.remove("dictitems") {
                Some(items) => return self.add_anchored(items, open.anchor),
                None => Content::Mapping(BTreeMap::new()),
            },
            Items::Mapping(entries, _) => Content::Mapping(entries),
        };
        self.finish(content, open.anchor)
    }

    fn finish(&mut self, content: Content, anchor: usize) -> Result<(), String> {
        self.add_anchored(Rc::new(Node::new(content)), anchor)
    }

    fn add_anchored(&mut self, node: Rc<Node>, anchor: usize) -> Result<(), String> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.add(node)
    }

    fn add(&mut self, node: Rc<Node>) -> Result<(), String> {
        // Aliases of aliases are deeper than the text.
        if node.height >= MAX_DEPTH {
            return Err(format!("it is deeper than {MAX_DEPTH} levels"));
        }
        match self.open.last_mut().map(|open| &mut open.items) {
            None => self.root = Some(node),
            Some(Items::Sequence(items)) => items.push(node),
            Some(Items::Mapping(entries, key)) => {
                let key = key.take().ok_or("a key is an alias")?;
                entries.insert(key, node);
            }
        }
        Ok(())
    }
}

fn start(text: &str) -> String {
    text.chars().take(80).collect()
}
