//! What became of the entries of a COCO file: a table by reason, with the first names.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

use burn_roi_detection::data::coco::{CocoEffect, CocoList, CocoProblem};

/// The names that are told for each reason, at most.
const NAMES: usize = 3;

/// An entry that was mended, lacks something or was left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    pub list: CocoList,
    pub index: usize,
    pub id: Option<i64>,
    pub effect: CocoEffect,
    /// The kind of flaw.
    pub reason: String,
    /// What exactly is wrong.
    pub message: String,
}

impl From<&CocoProblem> for Told {
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

impl Display for Told {
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
    pub told: &'a [Told],
}

impl Display for Table<'_> {
    fn fmt(&self, formatter: &mut Formatter) -> Result {
        for (list, used) in self.used {
            let left_out = |told: &&Told| told.list == list && told.effect == CocoEffect::LeftOut;
            let read = used + self.told.iter().filter(left_out).count();
            writeln!(formatter, "  {:<18}{read:>8} {}", "read", plural(list))?;
        }
        let mut reasons: BTreeMap<(CocoEffect, CocoList, &str), Vec<&Told>> = BTreeMap::new();
        for told in self.told {
            let reason = (told.effect, told.list, told.reason.as_str());
            reasons.entry(reason).or_default().push(told);
        }
        for ((effect, list, reason), told) in reasons {
            let (effect, count) = (name(effect), told.len());
            writeln!(formatter, "  {effect:<18}{count:>8} {}: {reason}", plural(list))?;
            for told in told.iter().take(NAMES) {
                writeln!(formatter, "{:>30}{told}", "")?;
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
