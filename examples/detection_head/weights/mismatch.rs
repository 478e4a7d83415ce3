//! The differences between a file's tensors and a model's.

use std::fmt;

/// How many names of each kind are listed. A file of another architecture has hundreds.
const LISTED: usize = 24;

/// The differences, by the names of torchvision's state dicts.
#[derive(Debug, Default)]
pub struct Mismatch {
    pub missing: Vec<String>,
    pub unused: Vec<String>,
    pub shapes: Vec<OtherShape>,
}

#[derive(Debug)]
pub struct OtherShape {
    pub name: String,
    pub stored: Vec<usize>,
    pub expected: Vec<usize>,
}

impl Mismatch {
    pub fn is_none(&self) -> bool {
        self.missing.is_empty() && self.unused.is_empty() && self.shapes.is_empty()
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(formatter, "missing from the file", &self.missing)?;
        list(formatter, "unknown to the model", &self.unused)?;
        list(formatter, "of another shape", &self.shapes)
    }
}

impl fmt::Display for OtherShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}: {:?} in the file, {:?} in the model",
            self.name, self.stored, self.expected
        )
    }
}

fn list<Entry: fmt::Display>(formatter: &mut fmt::Formatter<'_>, what: &str, entries: &[Entry]) -> fmt::Result {
    if entries.is_empty() {
        return Ok(());
    }
    let tensors = if entries.len() == 1 { "tensor" } else { "tensors" };
    write!(formatter, "\n  {} {tensors} {what}:", entries.len())?;
    for entry in entries.iter().take(LISTED) {
        write!(formatter, "\n    {entry}")?;
    }
    match entries.len().checked_sub(LISTED) {
        Some(more @ 1..) => write!(formatter, "\n    and {more} more"),
        _ => Ok(()),
    }
}
