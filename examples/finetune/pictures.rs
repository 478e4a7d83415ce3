//! The pictures and annotations of a COCO file. Findings say what was mended and left out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use burn_roi_detection::data::coco::{CocoAnnotation, CocoDataset, CocoEffect, CocoFlaw, CocoImage, CocoList};
use burn_roi_detection::models::DetectorConfig;
use burn_roi_detection::train::Sample;
use find_objects::pictures;
use image::RgbImage;
use rayon::prelude::*;

use crate::error::Error;
use crate::findings::{Finding, Table};

/// The pictures and annotations of a COCO file that a detector can learn from or be measured on.
#[derive(Debug, Clone)]
pub struct Pictures {
    /// Each image has the size of its picture.
    pub dataset: CocoDataset,
    /// What was mended in `dataset`, and what is not in it.
    pub findings: Vec<Finding>,
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
    pub fn read(allowed: Allowed, [path, folder]: [&Path; 2]) -> Result<Self, Error> {
        let dataset = CocoDataset::read_without_broken(path)?;
        let mut pictures = Self {
            findings: dataset.problems().iter().map(Finding::from).collect(),
            dataset,
            path: path.to_owned(),
            folder: folder.to_owned(),
            allowed,
        };
        let images = pictures.dataset.images().par_iter().enumerate();
        let images = images.map(|(index, image)| (index, image.clone(), pictures.picture(image)));
        let images = images.map(|(index, image, picture)| (index, image, picture.map(|picture| size_of(&picture))));
        let mut readable = Vec::new();
        for (index, image, size) in images.collect::<Vec<_>>() {
            match size {
                Ok(size) => readable.push(CocoImage {
                    size: Some(size),
                    ..image
                }),
                Err(error) => pictures.findings.push(unreadable(index, &image, &error)),
            }
        }
        pictures.mend_sizes(&readable);
        let annotations = pictures.dataset.annotations().to_vec();
        pictures.with(readable, annotations)
    }

    /// An image without a size in the file has that of its picture.
    fn mend_sizes(&mut self, readable: &[CocoImage]) {
        let readable: HashSet<Option<i64>> = readable.iter().map(|image| Some(image.id)).collect();
        let is_sizeless = |finding: &&mut Finding| {
            (finding.list, finding.effect) == (CocoList::Images, CocoEffect::OnlyMasks)
                && readable.contains(&finding.id)
        };
        for finding in self.findings.iter_mut().filter(is_sizeless) {
            finding.effect = CocoEffect::Mended;
            finding.reason += ": that of the picture is taken";
        }
    }

    /// The annotations that have what the heads of a detector learn. Keypoints that are not there count as not visible.
    pub fn for_heads(mut self, config: &DetectorConfig) -> Result<Self, Error> {
        let mut fitting = Vec::new();
        let mut masks = self.take_refused_masks(config);
        for (index, annotation) in self.dataset.annotations().iter().enumerate() {
            let mut annotation = annotation.clone();
            match fit(&mut annotation, config) {
                Ok(()) => fitting.push(annotation),
                Err((reason, message)) => self.findings.push(Finding {
                    list: CocoList::Annotations,
                    index,
                    id: Some(annotation.id),
                    effect: CocoEffect::LeftOut,
                    reason: reason.to_string(),
                    message: masks.remove(&annotation.id).unwrap_or(message),
                }),
            }
        }
        let images = self.dataset.images().to_vec();
        self.with(images, fitting)
    }

    /// Takes the findings of masks, by the annotation's id, if there is a mask head: these annotations are left out,
    /// which is a finding of its own.
    fn take_refused_masks(&mut self, config: &DetectorConfig) -> HashMap<i64, String> {
        let is_refused =
            |finding: &Finding| (finding.list, finding.effect) == (CocoList::Annotations, CocoEffect::OnlyMasks);
        let findings = std::mem::take(&mut self.findings).into_iter();
        let (refused, findings): (Vec<_>, _) =
            findings.partition(|finding| config.mask_head.is_some() && is_refused(finding));
        self.findings = findings;
        let refused = refused
            .into_iter()
            .filter_map(|finding| Some((finding.id?, finding.message)));
        refused.collect()
    }

    /// These pictures with other images and annotations, of which there must be one to train on.
    fn with(mut self, images: Vec<CocoImage>, annotations: Vec<CocoAnnotation>) -> Result<Self, Error> {
        let categories = self.dataset.categories().to_vec();
        self.dataset = CocoDataset::from_entries_without_broken(images, categories, annotations);
        // A flaw that was not mended is found again.
        let key = |finding: &Finding| (finding.list, finding.id, finding.reason.clone());
        let known: BTreeSet<_> = self.findings.iter().map(key).collect();
        let found = self.dataset.problems().iter().map(Finding::from);
        self.findings
            .extend(found.filter(|finding| !known.contains(&key(finding))));
        let problems = self.dataset.problems().iter();
        let empty = problems.filter(|problem| problem.flaw == CocoFlaw::EmptyBox).count();
        if self.dataset.annotations().len() == empty {
            return Err(Error::NoAnnotation {
                reason: match self.findings.is_empty() {
                    true => "there is none".to_string(),
                    false => self.table().to_string(),
                },
                path: self.path,
            });
        }
        Ok(self)
    }

    /// Prints what was read, mended and left out.
    pub fn report(&self) {
        println!("{}:\n{}", self.path.display(), self.table());
    }

    pub fn table(&self) -> Table<'_> {
        Table {
            used: [
                (CocoList::Images, self.dataset.images().len()),
                (CocoList::Categories, self.dataset.categories().len()),
                (CocoList::Annotations, self.dataset.annotations().len()),
            ],
            findings: &self.findings,
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

    /// The categories that no class has the name of. An error if they are all.
    pub fn check_classes(&self, classes: &[String]) -> Result<Vec<String>, Error> {
        let categories = self.dataset.categories();
        let unknown = categories.iter().filter(|category| !classes.contains(&category.name));
        let unknown: Vec<String> = unknown.map(|category| category.name.clone()).collect();
        match unknown.len() < categories.len() {
            true => Ok(unknown),
            false => Err(Error::NoClass {
                path: self.path.clone(),
                classes: classes.join(", "),
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

    /// The picture of an image, which has the size that the annotations say, if they say one.
    pub fn picture(&self, image: &CocoImage) -> Result<RgbImage, Error> {
        let name = image.file_name.as_ref().ok_or(Error::NoFileName)?;
        let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if !self.allowed.outside && !Path::new(name).components().all(is_inside) {
            return Err(Error::Outside(name.clone()));
        }
        let path = self.folder.join(name);
        let picture = pictures::read_any(&path, self.allowed.truncated)?;
        let size = size_of(&picture);
        match image.size.filter(|&expected| expected != size) {
            None => Ok(picture),
            Some(expected) => Err(Error::PictureSize { path, size, expected }),
        }
    }

    pub fn sample(&self, image: &CocoImage) -> Result<Sample, Error> {
        let picture = self.picture(image)?;
        let size = size_of(&picture);
        Ok(Sample::try_from_coco(
            &self.dataset,
            image.id,
            size,
            picture.into_raw(),
        )?)
    }
}

/// `[height, width]` in pixels.
fn size_of(picture: &RgbImage) -> [usize; 2] {
    [picture.height(), picture.width()].map(|side| side as usize)
}

/// Why the picture of an image can't be used.
fn unreadable(index: usize, image: &CocoImage, error: &Error) -> Finding {
    let reason = match error {
        Error::NoFileName => "no `file_name`",
        Error::Outside(_) => "a `file_name` outside of the folder of the pictures",
        Error::PictureSize { .. } => "a picture of another size than the annotations say",
        _ => "a picture that can't be read",
    };
    Finding {
        list: CocoList::Images,
        index,
        id: Some(image.id),
        effect: CocoEffect::LeftOut,
        reason: reason.to_string(),
        message: error.to_string(),
    }
}

/// Makes an annotation one that the heads of a detector can learn, or says what it lacks: the kind, and what exactly.
fn fit(annotation: &mut CocoAnnotation, config: &DetectorConfig) -> Result<(), (&'static str, String)> {
    if config.mask_head.is_some() && annotation.segmentation.is_none() {
        let message = "it has no `segmentation`, which the mask head learns".to_string();
        return Err(("no mask, which the mask head learns", message));
    }
    let mut values = annotation.keypoints.iter().flatten().flatten();
    if let Some(value) = values.find(|value| !(**value as f32).is_finite()) {
        let message = format!("it has {value} in `keypoints`, which is not finite in f32");
        return Err(("keypoints that are not finite in f32", message));
    }
    if let Some(head) = &config.keypoint_head {
        let expected = head.keypoints.len();
        let found = annotation
            .keypoints
            .get_or_insert_with(|| vec![[0.0; 3]; expected])
            .len();
        if found != expected {
            let message = format!("it has {found} `keypoints`, but the keypoint head learns {expected}");
            return Err(("keypoints of another number than the keypoint head learns", message));
        }
    }
    Ok(())
}
