//! Categories that can't be trained, or measured.

use std::collections::HashSet;
use std::path::Path;

use burn_roi_detection::data::coco::CocoDataset;

use crate::error::Error;

/// An error if two categories have one name: a detector would learn them as two classes.
pub fn check_names(path: &Path, dataset: &CocoDataset) -> Result<(), Error> {
    let mut names = HashSet::new();
    let mut categories = dataset.categories().iter();
    match categories.find(|category| !names.insert(&category.name)) {
        None => Ok(()),
        Some(category) => Err(Error::SameName {
            path: path.to_owned(),
            category: format!("{} ({})", category.id, category.name),
        }),
    }
}

/// The categories that no class has the name of. An error if they are all.
pub fn check_classes(path: &Path, dataset: &CocoDataset, classes: &[String]) -> Result<Vec<String>, Error> {
    let categories = dataset.categories();
    let unknown = categories.iter().filter(|category| !classes.contains(&category.name));
    let unknown: Vec<String> = unknown.map(|category| category.name.clone()).collect();
    match unknown.len() < categories.len() {
        true => Ok(unknown),
        false => Err(Error::NoClass {
            path: path.to_owned(),
            classes: classes.join(", "),
        }),
    }
}

/// An error if a category is not one of those that were trained.
pub fn check_trained(path: &Path, dataset: &CocoDataset, trained: &CocoDataset) -> Result<(), Error> {
    for category in dataset.categories() {
        let same = trained.category(category.id);
        if same.is_none_or(|same| same.name != category.name) {
            return Err(Error::Category {
                path: path.to_owned(),
                category: format!("{} ({})", category.id, category.name),
            });
        }
    }
    Ok(())
}
