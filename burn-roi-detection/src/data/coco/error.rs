//! What can be wrong with a COCO file.

use std::fmt::{Display, Formatter, Result};

use thiserror::Error;

use super::CocoFlaw;

/// A list of a COCO file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CocoList {
    /// `images`.
    Images,
    /// `categories`.
    Categories,
    /// `annotations`.
    Annotations,
}

impl Display for CocoList {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        formatter.write_str(match self {
            Self::Images => "image",
            Self::Categories => "category",
            Self::Annotations => "annotation",
        })
    }
}

/// A flaw of an entry of a COCO file. Its text names the entry and says what is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct CocoProblem {
    /// The list that the entry is in.
    pub list: CocoList,
    /// The index of the entry in its list, counted from 0.
    pub index: usize,
    /// The entry's id, if it has one.
    pub id: Option<i64>,
    /// The kind of flaw, which decides what becomes of the entry.
    pub flaw: CocoFlaw,
    /// What is wrong.
    pub message: String,
}

impl Display for CocoProblem {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        match self.id {
            Some(id) => write!(formatter, "{} {id}: {}", self.list, self.message),
            None => write!(formatter, "{} at index {}: {}", self.list, self.index, self.message),
        }
    }
}

/// Why a COCO file was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum CocoReadError {
    /// The file can't be read.
    #[error("`{path}` can't be read: {message}")]
    File {
        /// The path of the file.
        path: String,
        /// What the system says.
        message: String,
    },
    /// The text is not JSON, or not an object or a list of COCO's form.
    #[error("{} is no COCO file: {message}", named(path.as_deref()))]
    Json {
        /// The path of the file, unless the text came without one.
        path: Option<String>,
        /// What is wrong, with the line and the column.
        message: String,
    },
    /// Entries would have to be left out.
    #[error("{}", list_of(.0))]
    Broken(Vec<CocoProblem>),
}

fn named(path: Option<&str>) -> String {
    path.map_or_else(|| "this".to_string(), |path| format!("`{path}`"))
}

/// The number of problems that the message lists. A file may have as many as entries.
const MOST_TOLD: usize = 20;

fn list_of(problems: &[CocoProblem]) -> String {
    let told = problems.iter().take(MOST_TOLD).map(|problem| format!("\n{problem}"));
    let more = match problems.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        more => format!("\nand {more} more"),
    };
    format!("{} broken entries:{}{more}", problems.len(), told.collect::<String>())
}
