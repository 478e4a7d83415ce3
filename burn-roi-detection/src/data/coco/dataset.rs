//! [`CocoDataset`]: the images, categories and annotations of a COCO file.

use std::collections::HashMap;

use super::error::{CocoList, CocoProblem, CocoReadError};
use super::{CocoAnnotation, CocoCategory, CocoImage, CocoSegmentation, checks};
use crate::run_lengths::RunLengths;

/// The images, categories and annotations of a COCO file, each of them checked.
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
}

impl CocoDataset {
    /// The data set of these entries.
    ///
    /// The fields of [`CocoImage`], [`CocoCategory`] and [`CocoAnnotation`] say what must hold.
    ///
    /// # Errors
    ///
    /// [`CocoReadError::Broken`] lists the entries that are broken.
    pub fn from_entries(
        images: Vec<CocoImage>,
        categories: Vec<CocoCategory>,
        annotations: Vec<CocoAnnotation>,
    ) -> Result<Self, CocoReadError> {
        let (dataset, problems) = Self::from_entries_without_broken(images, categories, annotations);
        dataset.if_whole(problems)
    }

    /// The data set of these entries without the broken ones, and the problem of each broken entry.
    pub fn from_entries_without_broken(
        images: Vec<CocoImage>,
        categories: Vec<CocoCategory>,
        annotations: Vec<CocoAnnotation>,
    ) -> (Self, Vec<CocoProblem>) {
        let (images, categories) = (images.into_iter().enumerate(), categories.into_iter().enumerate());
        Self::of_indexed(images, categories, annotations.into_iter().enumerate(), Vec::new())
    }

    /// The data set of entries with their indices in a file, without the broken ones. Their problems are added, and are
    /// in the order of the file.
    pub(super) fn of_indexed(
        images: impl Iterator<Item = (usize, CocoImage)>,
        categories: impl Iterator<Item = (usize, CocoCategory)>,
        annotations: impl Iterator<Item = (usize, CocoAnnotation)>,
        mut problems: Vec<CocoProblem>,
    ) -> (Self, Vec<CocoProblem>) {
        let mut dataset = Self::default();
        images.for_each(|(index, image)| dataset.add_image(index, image, &mut problems));
        categories.for_each(|(index, category)| dataset.add_category(index, category, &mut problems));
        dataset.sort();
        annotations.for_each(|(index, annotation)| dataset.add_annotation(index, annotation, &mut problems));
        problems.sort_by_key(|problem| (problem.list, problem.index));
        (dataset, problems)
    }

    /// This data set, or the error of the problems that there were.
    pub(super) fn if_whole(self, problems: Vec<CocoProblem>) -> Result<Self, CocoReadError> {
        match problems.is_empty() {
            true => Ok(self),
            false => Err(CocoReadError::Broken(problems)),
        }
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

    /// The mask of an annotation, which need not belong to this data set: rasterised polygons or run lengths. `None` if
    /// the annotation has no mask, if the data set has no image of its `image_id`, or if [`RunLengths::from_polygons`]
    /// refuses its polygons.
    pub fn mask_of(&self, annotation: &CocoAnnotation) -> Option<RunLengths> {
        let image = self.image(annotation.image_id)?;
        match annotation.segmentation.as_ref()? {
            CocoSegmentation::Polygons(polygons) => RunLengths::try_from_polygons(polygons, image.size()).ok(),
            CocoSegmentation::RunLengths(run_lengths) => Some(run_lengths.clone()),
        }
    }

    /// The index of an image in [`images`](Self::images).
    pub(crate) fn image_index(&self, id: i64) -> Option<usize> {
        self.image_indices.get(&id).copied()
    }

    /// The index of a category in [`categories`](Self::categories).
    pub(crate) fn category_index(&self, id: i64) -> Option<usize> {
        self.category_indices.get(&id).copied()
    }

    fn add_image(&mut self, index: usize, image: CocoImage, problems: &mut Vec<CocoProblem>) {
        let id = image.id;
        let checked = unused(id, &self.image_indices).and_then(|()| checks::image(&image));
        if is_whole(CocoList::Images, index, id, checked, problems) {
            self.image_indices.insert(id, self.images.len());
            self.images.push(image);
        }
    }

    fn add_category(&mut self, index: usize, category: CocoCategory, problems: &mut Vec<CocoProblem>) {
        let id = category.id;
        let checked = unused(id, &self.category_indices).and_then(|()| checks::category(&category));
        if is_whole(CocoList::Categories, index, id, checked, problems) {
            self.category_indices.insert(id, self.categories.len());
            self.categories.push(category);
        }
    }

    fn add_annotation(&mut self, index: usize, annotation: CocoAnnotation, problems: &mut Vec<CocoProblem>) {
        let id = annotation.id;
        let (image, category) = (self.image(annotation.image_id), self.category(annotation.category_id));
        let checked = unused(id, &self.annotation_indices);
        let checked = checked.and_then(|()| checks::annotation(&annotation, image, category));
        if is_whole(CocoList::Annotations, index, id, checked, problems) {
            self.annotation_indices.insert(id, self.annotations.len());
            let image = self.image_indices[&annotation.image_id];
            self.annotations_of_images[image].push(self.annotations.len());
            self.annotations.push(annotation);
        }
    }

    /// Puts images and categories in the order of their ids.
    fn sort(&mut self) {
        self.images.sort_by_key(|image| image.id);
        self.categories.sort_by_key(|category| category.id);
        self.image_indices = self
            .images
            .iter()
            .enumerate()
            .map(|(index, image)| (image.id, index))
            .collect();
        let categories = self.categories.iter().enumerate();
        self.category_indices = categories.map(|(index, category)| (category.id, index)).collect();
        self.annotations_of_images = vec![Vec::new(); self.images.len()];
    }
}

fn unused(id: i64, indices: &HashMap<i64, usize>) -> Result<(), String> {
    match indices.contains_key(&id) {
        true => Err("an entry before it has the same id".to_string()),
        false => Ok(()),
    }
}

/// Whether an entry passed its checks. If not, it is added to the problems.
fn is_whole(
    list: CocoList,
    index: usize,
    id: i64,
    checked: Result<(), String>,
    problems: &mut Vec<CocoProblem>,
) -> bool {
    let Err(message) = checked else {
        return true;
    };
    let id = Some(id);
    problems.push(CocoProblem {
        list,
        index,
        id,
        message,
    });
    false
}
