//! Renames every value so that its name is unique in the whole model and a Rust identifier.
//!
//! burn-onnx makes identifiers by dropping characters, so `a.b` and `a_b` would become one variable. A value without a
//! producer, or with two, is an error.

use std::collections::{HashMap, HashSet};

use onnx_ir::GraphProto;

use crate::error::{Error, NodeId};
use crate::read::node::graphs_mut;
use crate::read::opset::is_default;

/// Rust's keywords.
const RESERVED: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "union",
];

/// Renames the values of a model's graph.
pub(super) fn make_unique(graph: &mut GraphProto) -> Result<(), Error> {
    let mut names = Names {
        taken: RESERVED.iter().map(|word| word.to_string()).collect(),
        scopes: Vec::new(),
        numbers: HashMap::new(),
        initializers: HashSet::new(),
    };
    names.graph(graph)
}

struct Names {
    taken: HashSet<String>,
    /// The new names of the values of the graph and of each body around the current node, innermost last.
    scopes: Vec<HashMap<String, String>>,
    /// The last suffix of each plain name.
    numbers: HashMap<String, usize>,
    /// The new names of initializers.
    initializers: HashSet<String>,
}

impl Names {
    fn graph(&mut self, graph: &mut GraphProto) -> Result<(), Error> {
        self.scopes.push(HashMap::new());
        for input in &mut graph.input {
            input.name = self.declare(&input.name).ok_or_else(|| twice(&input.name))?;
        }
        for tensor in &mut graph.initializer {
            // An initializer with the name of an input is the input's default.
            let name = self.innermost(&tensor.name).or_else(|| self.declare(&tensor.name));
            tensor.name = name
                .filter(|name| self.initializers.insert(name.clone()))
                .ok_or_else(|| twice(&tensor.name))?;
        }
        for node in &mut graph.node {
            let id = NodeId::of(node);
            if is_default(&node.domain) {
                node.domain.clear();
            }
            for name in node.input.iter_mut().filter(|name| !name.is_empty()) {
                *name = self.find(name).ok_or_else(|| Error::Node {
                    node: Box::new(id.clone()),
                    reason: format!("it reads the value {name:?}, which nothing before it gives"),
                })?;
            }
            for body in graphs_mut(node) {
                self.graph(body)?;
            }
            for name in node.output.iter_mut().filter(|name| !name.is_empty()) {
                *name = self.declare(name).ok_or_else(|| Error::Node {
                    node: Box::new(id.clone()),
                    reason: format!("it gives the value {name:?}, which is given before it"),
                })?;
            }
        }
        for output in &mut graph.output {
            let name = self.find(&output.name);
            output.name =
                name.ok_or_else(|| Error::Graph(format!("has the output {:?}, which nothing gives", output.name)))?;
        }
        let info = std::mem::take(&mut graph.value_info);
        let renamed = info.into_iter().filter_map(|mut info| {
            info.name = self.innermost(&info.name)?;
            Some(info)
        });
        graph.value_info = renamed.collect();
        self.scopes.pop();
        Ok(())
    }

    /// Declares a value in the innermost graph. `None` if it is declared there already.
    fn declare(&mut self, name: &str) -> Option<String> {
        let new = self.unused(name);
        let scope = self.scopes.last_mut()?;
        if scope.contains_key(name) {
            return None;
        }
        scope.insert(name.to_string(), new.clone());
        Some(new)
    }

    fn unused(&mut self, name: &str) -> String {
        let plain = plain(name);
        if self.taken.insert(plain.clone()) {
            return plain;
        }
        let number = self.numbers.entry(plain.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{plain}_n{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// The new name of a value of the innermost graph.
    fn innermost(&self, name: &str) -> Option<String> {
        self.scopes.last()?.get(name).cloned()
    }

    /// The new name of a value of any surrounding graph.
    fn find(&self, name: &str) -> Option<String> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).cloned())
    }
}

fn twice(name: &str) -> Error {
    Error::Graph(format!("gives the value {name:?} twice"))
}

/// A name that burn-onnx does not change: lower-case letters, digits and single underscores, a letter first.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 6);
    for letter in name.chars() {
        match letter.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => plain.push(letter),
            _ if plain.is_empty() || plain.ends_with('_') => {}
            _ => plain.push('_'),
        }
    }
    let end = plain.trim_end_matches('_').len();
    plain.truncate(end);
    if plain.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        plain
    } else {
        format!("value_{plain}").trim_end_matches('_').to_string()
    }
}
