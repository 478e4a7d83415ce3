//! What became of the entries of a COCO file: a table by reason, with the first names.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

use burn_roi_detection::data::coco::{CocoEffect, CocoList, CocoProblem};

/// The entries that are named for each reason, at most.
const NAMES: usize = 3;

/// A flaw of an entry, and what became of the entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub list: CocoList,
    pub index: usize,
    pub id: Option<i64>,
    pub effect: CocoEffect,
    /// The kind of flaw.
    pub reason: String,
    /// What exactly is wrong.
    pub message: String,
}

impl From<&CocoProblem> for Finding {
    fn from(problem: &CocoProblem) -> Self {
        Self {
            list: problem.list,
            index: problem.index,
            id: problem.id,
            effect: problem.flaw.effect(),
            reason: problem.flaw.to_string(),
            message: problem.message.clone(),
        }
    }
}

impl Display for Finding {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        match self.id {
            Some(id) => write!(formatter, "{} {id}: {}", self.list, self.message),
            None => write!(formatter, "{} at index {}: {}", self.list, self.index, self.message),
        }
    }
}

/// The table: the number of entries that were read, and those of each reason.
pub struct Table<'a> {
    /// The number of images, categories and annotations that are used.
    pub used: [(CocoList, usize); 3],
    pub findings: &'a [Finding],
}

impl Display for Table<'_> {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        for (list, used) in self.used {
            let left_out = |finding: &&Finding| finding.list == list && finding.effect == CocoEffect::LeftOut;
            let read = used + self.findings.iter().filter(left_out).count();
            writeln!(formatter, "  {:<18}{read:>8} {}", "read", plural(list))?;
        }
        let mut reasons: BTreeMap<(CocoEffect, CocoList, &str), Vec<&Finding>> = BTreeMap::new();
        for finding in self.findings {
            let reason = (finding.effect, finding.list, finding.reason.as_str());
            reasons.entry(reason).or_default().push(finding);
        }
        for ((effect, list, reason), findings) in reasons {
            let (effect, count) = (name(effect), findings.len());
            writeln!(formatter, "  {effect:<18}{count:>8} {}: {reason}", plural(list))?;
            for finding in findings.iter().take(NAMES) {
                writeln!(formatter, "{:>30}{finding}", "")?;
            }
            if count > NAMES {
                writeln!(formatter, "{:>30}and {} more", "", count - NAMES)?;
            }
        }
        Ok(())
    }
}

fn name(effect: CocoEffect) -> &'static str {
    match effect {
        CocoEffect::Mended => "mended",
        CocoEffect::OnlyMasks => "without mask",
        CocoEffect::OnlyKeypoints => "without keypoints",
        CocoEffect::OnlyTraining => "not trained",
        _ => "left out",
    }
}

fn plural(list: CocoList) -> &'static str {
    match list {
        CocoList::Images => "images",
        CocoList::Categories => "categories",
        CocoList::Annotations => "annotations",
    }
}
