//! The pictures and annotations of a COCO file. Broken ones are named and left out.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use burn_roi_detection::data::coco::{CocoAnnotation, CocoDataset, CocoImage, CocoList, CocoProblem, CocoReadError};
use burn_roi_detection::models::DetectorConfig;
use burn_roi_detection::train::Sample;
use detection_head::pictures;
use image::RgbImage;
use rayon::prelude::*;

use crate::error::Error;

/// The pictures and annotations of a COCO file that a detector can learn from or be measured on.
#[derive(Debug, Clone)]
pub struct Pictures {
    pub dataset: CocoDataset,
    /// What is broken, and is not in `dataset`.
    pub problems: Vec<CocoProblem>,
    path: PathBuf,
    folder: PathBuf,
    allowed: Allowed,
}

/// What is read only if the command says so.
#[derive(Debug, Clone, Copy, Default)]
pub struct Allowed {
    /// Pictures outside of the folder of the pictures.
    pub outside: bool,
    /// JPEG files that end before their picture.
    pub truncated: bool,
}

impl Pictures {
    /// Reads the annotations, and each picture once, so that a broken one shows before a long run and not in it.
    pub fn read(paths: [&Path; 2]) -> Result<Self, Error> {
        Self::read_allowing(Allowed::default(), paths)
    }

    pub fn read_allowing(allowed: Allowed, [path, folder]: [&Path; 2]) -> Result<Self, Error> {
        let read = CocoDataset::read_without_broken(path);
        let (dataset, problems) = read.map_err(|source| Error::Coco {
            path: path.to_owned(),
            source,
        })?;
        let mut pictures = Self {
            dataset,
            problems,
            path: path.to_owned(),
            folder: folder.to_owned(),
            allowed,
        };
        let images = pictures.dataset.images().par_iter().enumerate();
        let unreadable = images.filter_map(|(index, image)| pictures.problem(index, image));
        let unreadable: Vec<CocoProblem> = unreadable.collect();
        pictures.problems.extend(unreadable.iter().cloned());
        let is_whole = |image: &CocoImage| !unreadable.iter().any(|problem| problem.id == Some(image.id));
        let images = pictures
            .dataset
            .images()
            .iter()
            .filter(|image| is_whole(image))
            .cloned();
        let (images, annotations) = (images.collect(), pictures.dataset.annotations().to_vec());
        pictures.with(images, annotations)
    }

    /// The annotations that have what the heads of a detector learn. Keypoints that are not there count as not visible.
    pub fn for_heads(mut self, config: &DetectorConfig) -> Result<Self, Error> {
        let mut fitting = Vec::new();
        for (index, annotation) in self.dataset.annotations().iter().enumerate() {
            let mut annotation = annotation.clone();
            match fit(&mut annotation, config) {
                Ok(()) => fitting.push(annotation),
                Err(message) => self.problems.push(CocoProblem {
                    list: CocoList::Annotations,
                    index,
                    id: Some(annotation.id),
                    message,
                }),
            }
        }
        let images = self.dataset.images().to_vec();
        self.with(images, fitting)
    }

    /// These pictures with other images and annotations, of which there must be one.
    fn with(mut self, images: Vec<CocoImage>, annotations: Vec<CocoAnnotation>) -> Result<Self, Error> {
        let categories = self.dataset.categories().to_vec();
        let (dataset, without_image) = CocoDataset::from_entries_without_broken(images, categories, annotations);
        self.problems.extend(without_image);
        if dataset.annotations().is_empty() {
            return Err(Error::NoAnnotation {
                path: self.path,
                reason: match self.problems.is_empty() {
                    true => "there is none".to_string(),
                    false => CocoReadError::Broken(self.problems).to_string(),
                },
            });
        }
        self.dataset = dataset;
        Ok(self)
    }

    /// Names on stderr what is broken.
    pub fn report(&self) {
        if !self.problems.is_empty() {
            let problems = CocoReadError::Broken(self.problems.clone());
            eprintln!("left out of {}: {problems}", self.path.display());
        }
    }

    /// An error if two categories have one name: a detector would learn them as two classes.
    pub fn check_names(&self) -> Result<(), Error> {
        let mut names = HashSet::new();
        match self
            .dataset
            .categories()
            .iter()
            .find(|category| !names.insert(&category.name))
        {
            None => Ok(()),
            Some(category) => Err(Error::SameName {
                path: self.path.clone(),
                category: format!("{} ({})", category.id, category.name),
            }),
        }
    }

    /// An error if a category is not one of those that were trained.
    pub fn check_categories(&self, trained: &CocoDataset) -> Result<(), Error> {
        for category in self.dataset.categories() {
            let same = trained.category(category.id);
            if same.is_none_or(|same| same.name != category.name) {
                return Err(Error::Category {
                    path: self.path.clone(),
                    category: format!("{} ({})", category.id, category.name),
                });
            }
        }
        Ok(())
    }

    /// The picture of an image, which has the size that the annotations say.
    pub fn picture(&self, image: &CocoImage) -> Result<RgbImage, Error> {
        let name = image.file_name.as_ref().ok_or(Error::NoFileName)?;
        let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if !self.allowed.outside && !Path::new(name).components().all(is_inside) {
            return Err(Error::Outside(name.clone()));
        }
        let path = self.folder.join(name);
        let picture = pictures::read_any(&path, self.allowed.truncated)?;
        let size = [picture.height(), picture.width()].map(|side| side as usize);
        match size == image.size() {
            true => Ok(picture),
            false => Err(Error::PictureSize {
                path,
                size,
                expected: image.size(),
            }),
        }
    }

    pub fn sample(&self, image: &CocoImage) -> Result<Sample, Error> {
        let pixels = self.picture(image)?.into_raw();
        Ok(Sample::try_from_coco(&self.dataset, image.id, image.size(), pixels)?)
    }

    fn problem(&self, index: usize, image: &CocoImage) -> Option<CocoProblem> {
        let error = self.picture(image).err()?;
        Some(CocoProblem {
            list: CocoList::Images,
            index,
            id: Some(image.id),
            message: error.to_string(),
        })
    }
}

/// Makes an annotation one that the heads of a detector can learn, or says what it lacks.
fn fit(annotation: &mut CocoAnnotation, config: &DetectorConfig) -> Result<(), String> {
    if config.mask_head.is_some() && annotation.segmentation.is_none() {
        return Err("it has no `segmentation`, which the mask head learns".to_string());
    }
    let mut values = annotation.keypoints.iter().flatten().flatten();
    if let Some(value) = values.find(|value| !(**value as f32).is_finite()) {
        return Err(format!("it has {value} in `keypoints`, which is not finite in f32"));
    }
    if let Some(head) = &config.keypoint_head {
        let expected = head.keypoints.len();
        let found = annotation
            .keypoints
            .get_or_insert_with(|| vec![[0.0; 3]; expected])
            .len();
        if found != expected {
            return Err(format!(
                "it has {found} `keypoints`, but the keypoint head learns {expected}"
            ));
        }
    }
    Ok(())
}
