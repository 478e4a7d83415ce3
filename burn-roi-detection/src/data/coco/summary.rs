//! What became of the entries of a COCO file: a table by reason, with the first names.

use std::collections::BTreeMap;
use std::fmt::{Formatter, Result};

use super::{CocoDataset, CocoEffect, CocoFlaw, CocoList, CocoProblem};

/// The entries that are named for each reason, at most.
const NAMES: usize = 3;

/// Writes the number of entries that were read, and those of each reason.
pub fn write(formatter: &mut Formatter, dataset: &CocoDataset, problems: &[CocoProblem]) -> Result {
    let used = [
        (CocoList::Images, dataset.images().len()),
        (CocoList::Categories, dataset.categories().len()),
        (CocoList::Annotations, dataset.annotations().len()),
    ];
    for (list, used) in used {
        let is_left_out = |problem: &&CocoProblem| problem.list == list && problem.flaw.effect() == CocoEffect::LeftOut;
        let read = used + problems.iter().filter(is_left_out).count();
        writeln!(formatter, "  {:<18}{read:>8} {}", "read", plural(list))?;
    }
    let mut reasons: BTreeMap<(CocoEffect, CocoList, CocoFlaw), Vec<&CocoProblem>> = BTreeMap::new();
    for problem in problems {
        let reason = (problem.flaw.effect(), problem.list, problem.flaw);
        reasons.entry(reason).or_default().push(problem);
    }
    for ((effect, list, flaw), problems) in reasons {
        let (effect, count) = (name(effect), problems.len());
        writeln!(formatter, "  {effect:<18}{count:>8} {}: {flaw}", plural(list))?;
        for problem in problems.iter().take(NAMES) {
            writeln!(formatter, "{:>30}{problem}", "")?;
        }
        if count > NAMES {
            writeln!(formatter, "{:>30}and {} more", "", count - NAMES)?;
        }
    }
    Ok(())
}

fn name(effect: CocoEffect) -> &'static str {
    match effect {
        CocoEffect::Mended => "mended",
        CocoEffect::OnlyMasks => "without mask",
        CocoEffect::OnlyKeypoints => "without keypoints",
        CocoEffect::OnlyTraining => "not trained",
        CocoEffect::LeftOut => "left out",
    }
}

fn plural(list: CocoList) -> &'static str {
    match list {
        CocoList::Images => "images",
        CocoList::Categories => "categories",
        CocoList::Annotations => "annotations",
    }
}
