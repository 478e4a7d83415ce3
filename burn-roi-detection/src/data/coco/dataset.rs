//! [`CocoDataset`]: the images, categories and annotations of a COCO file.

use std::collections::HashMap;

use super::drafts::{AnnotationDraft, CategoryDraft, ImageDraft, Unreadable};
use super::mending::{self, Found};
use super::{CocoAnnotation, CocoCategory, CocoEffect, CocoFlaw, CocoImage, CocoList, CocoProblem, CocoReadError};
use crate::run_lengths::RunLengths;

/// The images, categories and annotations of a COCO file, each of them checked, and mended if it was necessary.
#[derive(Debug, Clone, Default)]
pub struct CocoDataset {
    images: Vec<CocoImage>,
    categories: Vec<CocoCategory>,
    annotations: Vec<CocoAnnotation>,
    /// The index of each image, category and annotation by its id.
    image_indices: HashMap<i64, usize>,
    category_indices: HashMap<i64, usize>,
    annotation_indices: HashMap<i64, usize>,
    /// The indices of each image's annotations, in their order in the file.
    annotations_of_images: Vec<Vec<usize>>,
    problems: Vec<CocoProblem>,
}

impl CocoDataset {
    /// The data set of these entries. Entries are mended if they can be; [`problems`](Self::problems) says how.
    ///
    /// # Errors
    ///
    /// [`CocoReadError::Broken`] lists the entries that would have to be left out.
    pub fn from_entries(
        images: Vec<CocoImage>,
        categories: Vec<CocoCategory>,
        annotations: Vec<CocoAnnotation>,
    ) -> Result<Self, CocoReadError> {
        Self::from_entries_without_broken(images, categories, annotations).if_whole()
    }

    /// The data set of these entries without the broken ones, which [`problems`](Self::problems) lists.
    pub fn from_entries_without_broken(
        images: Vec<CocoImage>,
        categories: Vec<CocoCategory>,
        annotations: Vec<CocoAnnotation>,
    ) -> Self {
        Self::of_drafts(
            images.into_iter().map(|image| Ok(image.into())),
            categories.into_iter().map(|category| Ok(category.into())),
            annotations.into_iter().map(|annotation| Ok(annotation.into())),
        )
    }

    pub(super) fn of_drafts(
        images: impl Iterator<Item = Result<ImageDraft, Unreadable>>,
        categories: impl Iterator<Item = Result<CategoryDraft, Unreadable>>,
        annotations: impl Iterator<Item = Result<AnnotationDraft, Unreadable>>,
    ) -> Self {
        let mut dataset = Self::default();
        for (index, image) in images.enumerate() {
            dataset.add(CocoList::Images, index, image, Self::add_image);
        }
        for (index, category) in categories.enumerate() {
            dataset.add(CocoList::Categories, index, category, Self::add_category);
        }
        dataset.sort();
        for (index, annotation) in annotations.enumerate() {
            dataset.add(CocoList::Annotations, index, annotation, Self::add_annotation);
        }
        dataset
    }

    /// This data set, or the error of the entries that were left out.
    pub(super) fn if_whole(self) -> Result<Self, CocoReadError> {
        let is_left_out = |problem: &&CocoProblem| problem.flaw.effect() == CocoEffect::LeftOut;
        let left_out: Vec<_> = self.problems.iter().filter(is_left_out).cloned().collect();
        match left_out.is_empty() {
            true => Ok(self),
            false => Err(CocoReadError::Broken(left_out)),
        }
    }

    /// The flaws of the entries: what was left out, what was mended, and what masks, keypoints or a training lack. In
    /// the order of the file: images, categories, annotations. An entry may have several.
    pub fn problems(&self) -> &[CocoProblem] {
        &self.problems
    }

    /// All images, by ascending id.
    pub fn images(&self) -> &[CocoImage] {
        &self.images
    }

    /// All categories, by ascending id.
    pub fn categories(&self) -> &[CocoCategory] {
        &self.categories
    }

    /// All annotations, in their order in the file.
    pub fn annotations(&self) -> &[CocoAnnotation] {
        &self.annotations
    }

    /// The image of this id.
    pub fn image(&self, id: i64) -> Option<&CocoImage> {
        self.image_index(id).map(|index| &self.images[index])
    }

    /// The category of this id.
    pub fn category(&self, id: i64) -> Option<&CocoCategory> {
        self.category_index(id).map(|index| &self.categories[index])
    }

    /// The annotation of this id.
    pub fn annotation(&self, id: i64) -> Option<&CocoAnnotation> {
        self.annotation_indices.get(&id).map(|&index| &self.annotations[index])
    }

    /// The annotations of the image of this id, in their order in the file. Empty for an unknown id.
    pub fn annotations_of(&self, image_id: i64) -> impl Iterator<Item = &CocoAnnotation> {
        let indices = self
            .image_index(image_id)
            .map(|index| &self.annotations_of_images[index]);
        indices.into_iter().flatten().map(|&index| &self.annotations[index])
    }

    /// The label of a category for a detector: 1 for the lowest id, then 2, up to the number of categories. Label 0 is
    /// the background.
    pub fn label_of(&self, category_id: i64) -> Option<usize> {
        self.category_index(category_id).map(|index| index + 1)
    }

    /// The category of a label, from 1 to the number of categories. The reverse of [`label_of`](Self::label_of). If
    /// the last class of a detector is the background, the labels of its detections count from 0, and
    /// `Background::training_label` converts them.
    pub fn category_of_label(&self, label: usize) -> Option<&CocoCategory> {
        self.categories.get(label.checked_sub(1)?)
    }

    /// The id of the category with the name of each class, or `None` for a class without one, such as the background.
    /// Detections have classes as labels, and COCO's evaluation wants ids of categories.
    ///
    /// - `classes`: the names of a detector's classes, in the order of its labels.
    pub fn categories_of(&self, classes: &[String]) -> Vec<Option<i64>> {
        let by_name = |name: &String| self.categories.iter().find(|category| category.name == *name);
        classes.iter().map(|name| Some(by_name(name)?.id)).collect()
    }

    /// The names of a detector's classes for these categories: the background, and the categories by ascending id.
    #[cfg(feature = "models")]
    pub fn classes(&self, background: crate::models::Background) -> Vec<String> {
        let names = self.categories.iter().map(|category| category.name.clone());
        let mut names: Vec<String> = names.collect();
        let position = match background {
            crate::models::Background::First => 0,
            crate::models::Background::Last => names.len(),
        };
        names.insert(position, "__background__".to_string());
        names
    }

    /// The mask of an annotation, which need not belong to this data set: rasterised polygons or run lengths. `None` if
    /// the annotation has no mask, if the data set has no image of its `image_id`, if it has polygons and the image no
    /// size, or if [`RunLengths::from_polygons`] refuses its polygons.
    pub fn mask_of(&self, annotation: &CocoAnnotation) -> Option<RunLengths> {
        let size = self.image(annotation.image_id)?.size;
        annotation.segmentation.as_ref()?.drawn(size)
    }

    /// The index of an image in [`images`](Self::images).
    pub(crate) fn image_index(&self, id: i64) -> Option<usize> {
        self.image_indices.get(&id).copied()
    }

    /// The index of a category in [`categories`](Self::categories).
    pub(crate) fn category_index(&self, id: i64) -> Option<usize> {
        self.category_indices.get(&id).copied()
    }

    /// Adds an entry of a list, or else the problem why it is left out.
    fn add<T>(
        &mut self,
        list: CocoList,
        index: usize,
        entry: Result<T, Unreadable>,
        add: impl FnOnce(&mut Self, T, &mut Vec<Found>) -> Result<i64, (i64, Found)>,
    ) {
        let mut found = Vec::new();
        let id = match entry.map(|entry| add(self, entry, &mut found)) {
            Ok(Ok(id)) => Some(id),
            Ok(Err((id, broken))) => {
                found = vec![broken];
                Some(id)
            }
            Err(unreadable) => {
                found = vec![(CocoFlaw::Unreadable, unreadable.message)];
                unreadable.id
            }
        };
        let problem = |(flaw, message)| CocoProblem {
            list,
            index,
            id,
            flaw,
            message,
        };
        self.problems.extend(found.into_iter().map(problem));
    }

    fn add_image(&mut self, draft: ImageDraft, found: &mut Vec<Found>) -> Result<i64, (i64, Found)> {
        let id = draft.id;
        unused(id, &self.image_indices)?;
        self.image_indices.insert(id, self.images.len());
        self.images.push(mending::image(draft, found));
        Ok(id)
    }

    fn add_category(&mut self, draft: CategoryDraft, found: &mut Vec<Found>) -> Result<i64, (i64, Found)> {
        let id = draft.id;
        unused(id, &self.category_indices)?;
        self.category_indices.insert(id, self.categories.len());
        self.categories.push(mending::category(draft, found));
        Ok(id)
    }

    fn add_annotation(&mut self, draft: AnnotationDraft, found: &mut Vec<Found>) -> Result<i64, (i64, Found)> {
        let id = draft.id;
        unused(id, &self.annotation_indices)?;
        let (image, category) = (self.image(draft.image_id), self.category(draft.category_id));
        let annotation = mending::annotation(draft, image, category, found).map_err(|broken| (id, broken))?;
        self.annotation_indices.insert(id, self.annotations.len());
        let image = self.image_indices[&annotation.image_id];
        self.annotations_of_images[image].push(self.annotations.len());
        self.annotations.push(annotation);
        Ok(id)
    }

    /// Puts images and categories in the order of their ids.
    fn sort(&mut self) {
        self.images.sort_by_key(|image| image.id);
        self.categories.sort_by_key(|category| category.id);
        self.image_indices = self.images.iter().map(|image| image.id).zip(0..).collect();
        self.category_indices = self.categories.iter().map(|category| category.id).zip(0..).collect();
        self.annotations_of_images = vec![Vec::new(); self.images.len()];
    }
}

fn unused(id: i64, indices: &HashMap<i64, usize>) -> Result<(), (i64, Found)> {
    match indices.contains_key(&id) {
        true => Err((id, (CocoFlaw::SameId, "an entry before it has the same id".to_string()))),
        false => Ok(()),
    }
}
