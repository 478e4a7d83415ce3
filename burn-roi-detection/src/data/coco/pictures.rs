//! [`CocoPictures`]: a COCO file with the folder of its pictures.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use image::{ImageError, RgbImage};
use rayon::prelude::*;
use thiserror::Error;

use super::{
    CocoAnnotation, CocoDataset, CocoEffect, CocoFlaw, CocoImage, CocoList, CocoProblem, CocoReadError, summary,
};
use crate::error::DetectionError;
use crate::models::DetectorConfig;
use crate::pictures::{self, DecodeConfig};

/// A COCO file with the folder of its pictures: what a detector learns from, or is measured on.
///
/// Annotations and pictures that can't be used are left out. [`problems`](Self::problems) names them, and the text of
/// this value is a table of them by reason, as `examples/train.rs` prints it.
///
/// ```no_run
/// use burn_roi_detection::data::coco::{CocoPictures, CocoPicturesConfig};
///
/// // Without a folder, the pictures are beside the annotations.
/// let pictures = CocoPictures::read("coins/left.json", &CocoPicturesConfig::new())?;
/// println!("{pictures}");
/// for image in pictures.dataset().images() {
///     println!("{:?} of {:?}", pictures.picture(image)?.dimensions(), image.file_name);
/// }
/// # Ok::<(), burn_roi_detection::data::coco::CocoPicturesError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CocoPictures {
    dataset: CocoDataset,
    problems: Vec<CocoProblem>,
    path: PathBuf,
    folder: PathBuf,
    config: CocoPicturesConfig,
}

/// Which pictures are read. Annotations may come from strangers, so the defaults are strict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CocoPicturesConfig {
    /// The folder of the pictures. `None`: the one that the annotations are in.
    pub folder: Option<PathBuf>,
    /// Whether a `file_name` may lead out of the folder.
    pub allow_outside: bool,
    /// How pictures are decoded.
    pub decoding: DecodeConfig,
}

impl CocoPicturesConfig {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Why a COCO file or a picture of it can't be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CocoPicturesError {
    /// The COCO file can't be read.
    #[error(transparent)]
    Coco(#[from] CocoReadError),
    /// A picture can't be read.
    #[error("cannot read the image {}: {source}", path.display())]
    Picture {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ImageError,
    },
    /// An image has no `file_name`.
    #[error("it has no `file_name`")]
    NoFileName,
    /// A `file_name` leads out of the folder.
    #[error("`file_name` is {0:?}, which is outside of the folder of the pictures: `allow_outside` reads it")]
    Outside(String),
    /// A picture has another size than its image.
    #[error("{} has {size:?} pixels (height, width), but the annotations say {expected:?}", path.display())]
    Size {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: [usize; 2],
        /// The size of the image in the COCO file.
        expected: [usize; 2],
    },
    /// No annotation is left to train on.
    #[error("no annotation of {} can be used: {reason}", path.display())]
    NoAnnotation {
        /// The COCO file.
        path: PathBuf,
        /// What is wrong with its entries.
        reason: String,
    },
    /// Samples, batches or detections refused their arguments.
    #[error(transparent)]
    Detection(#[from] DetectionError),
}

impl CocoPictures {
    /// Reads a COCO file, and each picture once, on rayon's threads: a broken one shows before a long training, and not
    /// in it. An image without a size has that of its picture.
    ///
    /// # Errors
    ///
    /// - [`CocoPicturesError::Coco`]: the file can't be read, or does not have COCO's form.
    /// - [`CocoPicturesError::NoAnnotation`]: no annotation is left whose box has an area.
    pub fn read(annotations: impl AsRef<Path>, config: &CocoPicturesConfig) -> Result<Self, CocoPicturesError> {
        let path = annotations.as_ref();
        let beside = || path.parent().unwrap_or(Path::new("")).to_owned();
        let dataset = CocoDataset::read_without_broken(path)?;
        let mut pictures = Self {
            problems: dataset.problems().to_vec(),
            dataset,
            path: path.to_owned(),
            folder: config.folder.clone().unwrap_or_else(beside),
            config: config.clone(),
        };
        let images = pictures.dataset.images().par_iter();
        let sizes: Vec<_> = images.map(|image| Ok(size_of(&pictures.picture(image)?))).collect();
        let mut readable = Vec::new();
        for (index, (image, size)) in pictures.dataset.images().iter().zip(sizes).enumerate() {
            match size {
                Ok(size) => readable.push(CocoImage {
                    size: Some(size),
                    ..image.clone()
                }),
                Err(error) => pictures.problems.push(unreadable(index, image, &error)),
            }
        }
        pictures.mend_sizes(&readable);
        let annotations = pictures.dataset.annotations().to_vec();
        pictures.with(readable, annotations)
    }

    /// The images, of which each has the size of its picture, the categories and the annotations.
    pub fn dataset(&self) -> &CocoDataset {
        &self.dataset
    }

    /// What was mended in the data set, and what is not in it.
    pub fn problems(&self) -> &[CocoProblem] {
        &self.problems
    }

    /// These pictures without the problems of a kind. An evaluation counts what a training leaves out
    /// ([`CocoEffect::OnlyTraining`]), for example.
    pub fn without_problems(mut self, effect: CocoEffect) -> Self {
        self.problems.retain(|problem| problem.flaw.effect() != effect);
        self
    }

    /// The annotations that have what the heads of a detector learn. Keypoints that are not there count as not visible.
    ///
    /// # Errors
    ///
    /// [`CocoPicturesError::NoAnnotation`]: none is left whose box has an area.
    pub fn for_heads(mut self, config: &DetectorConfig) -> Result<Self, CocoPicturesError> {
        let mut fitting = Vec::new();
        let mut masks = self.take_refused_masks(config);
        for (index, annotation) in self.dataset.annotations().iter().enumerate() {
            let mut annotation = annotation.clone();
            match fit(&mut annotation, config) {
                Ok(()) => fitting.push(annotation),
                Err((flaw, message)) => self.problems.push(CocoProblem {
                    list: CocoList::Annotations,
                    index,
                    id: Some(annotation.id),
                    flaw,
                    message: masks.remove(&annotation.id).unwrap_or(message),
                }),
            }
        }
        let images = self.dataset.images().to_vec();
        self.with(images, fitting)
    }

    /// Reads the picture of an image, turned as its EXIF data say.
    ///
    /// # Errors
    ///
    /// - [`CocoPicturesError::NoFileName`], or [`CocoPicturesError::Outside`] for a `file_name` outside of the folder.
    /// - [`CocoPicturesError::Picture`]: the file can't be read.
    /// - [`CocoPicturesError::Size`]: it has another size than the image, if that has one.
    pub fn picture(&self, image: &CocoImage) -> Result<RgbImage, CocoPicturesError> {
        let name = image.file_name.as_ref().ok_or(CocoPicturesError::NoFileName)?;
        let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        if !self.config.allow_outside && !Path::new(name).components().all(is_inside) {
            return Err(CocoPicturesError::Outside(name.clone()));
        }
        let path = self.folder.join(name);
        let picture = match pictures::read(&path, &self.config.decoding) {
            Ok(picture) => picture,
            Err(source) => return Err(CocoPicturesError::Picture { path, source }),
        };
        let size = size_of(&picture);
        match image.size.filter(|&expected| expected != size) {
            None => Ok(picture),
            Some(expected) => Err(CocoPicturesError::Size { path, size, expected }),
        }
    }

    /// Reads the picture of an image, with its objects.
    ///
    /// # Errors
    ///
    /// All errors of [`picture`](Self::picture) and of
    /// [`Sample::try_from_coco`](crate::train::Sample::try_from_coco).
    #[cfg(feature = "train")]
    pub fn sample(&self, image: &CocoImage) -> Result<crate::train::Sample, CocoPicturesError> {
        let picture = self.picture(image)?;
        let (size, pixels) = (size_of(&picture), picture.into_raw());
        let sample = crate::train::Sample::try_from_coco(&self.dataset, image.id, size, pixels);
        Ok(sample?)
    }

    /// An image without a size in the file has that of its picture.
    fn mend_sizes(&mut self, readable: &[CocoImage]) {
        let readable: HashSet<Option<i64>> = readable.iter().map(|image| Some(image.id)).collect();
        let is_sizeless =
            |problem: &&mut CocoProblem| problem.flaw == CocoFlaw::ImageSize && readable.contains(&problem.id);
        for problem in self.problems.iter_mut().filter(is_sizeless) {
            problem.flaw = CocoFlaw::PictureSize;
        }
    }

    /// Takes the problems of masks, by the annotation's id, if there is a mask head: these annotations are left out,
    /// which is a problem of its own.
    fn take_refused_masks(&mut self, config: &DetectorConfig) -> HashMap<i64, String> {
        let is_refused = |problem: &mut CocoProblem| config.mask_head.is_some() && problem.flaw == CocoFlaw::Mask;
        let refused = self.problems.extract_if(.., is_refused);
        refused
            .filter_map(|problem| Some((problem.id?, problem.message)))
            .collect()
    }

    /// These pictures with other images and annotations, of which there must be one to train on.
    fn with(mut self, images: Vec<CocoImage>, annotations: Vec<CocoAnnotation>) -> Result<Self, CocoPicturesError> {
        let categories = self.dataset.categories().to_vec();
        self.dataset = CocoDataset::from_entries_without_broken(images, categories, annotations);
        // A flaw that was not mended is found again.
        let key = |problem: &CocoProblem| (problem.list, problem.id, problem.flaw);
        let known: BTreeSet<_> = self.problems.iter().map(key).collect();
        let found = self.dataset.problems().iter();
        self.problems
            .extend(found.filter(|problem| !known.contains(&key(problem))).cloned());
        let problems = self.dataset.problems().iter();
        let empty = problems.filter(|problem| problem.flaw == CocoFlaw::EmptyBox).count();
        if self.dataset.annotations().len() == empty {
            return Err(CocoPicturesError::NoAnnotation {
                reason: match self.problems.is_empty() {
                    true => "there is none".to_string(),
                    false => self.to_string(),
                },
                path: self.path,
            });
        }
        Ok(self)
    }
}

impl std::fmt::Display for CocoPictures {
    /// The number of entries that were read, and those with a flaw by reason, with the first three of each.
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        summary::write(formatter, &self.dataset, &self.problems)
    }
}

/// `[height, width]` in pixels.
fn size_of(picture: &RgbImage) -> [usize; 2] {
    [picture.height(), picture.width()].map(|side| side as usize)
}

/// Why the picture of an image can't be used.
fn unreadable(index: usize, image: &CocoImage, error: &CocoPicturesError) -> CocoProblem {
    CocoProblem {
        list: CocoList::Images,
        index,
        id: Some(image.id),
        flaw: match error {
            CocoPicturesError::NoFileName => CocoFlaw::NoFileName,
            CocoPicturesError::Outside(_) => CocoFlaw::Outside,
            CocoPicturesError::Size { .. } => CocoFlaw::OtherSize,
            _ => CocoFlaw::NoPicture,
        },
        message: error.to_string(),
    }
}

/// Makes an annotation one that the heads of a detector can learn, or says what it lacks.
fn fit(annotation: &mut CocoAnnotation, config: &DetectorConfig) -> Result<(), (CocoFlaw, String)> {
    if config.mask_head.is_some() && annotation.segmentation.is_none() {
        let message = "it has no `segmentation`, which the mask head learns".to_string();
        return Err((CocoFlaw::NoMask, message));
    }
    let mut values = annotation.keypoints.iter().flatten().flatten();
    if let Some(value) = values.find(|value| !(**value as f32).is_finite()) {
        let message = format!("it has {value} in `keypoints`, which is not finite in f32");
        return Err((CocoFlaw::InfiniteKeypoints, message));
    }
    if let Some(head) = &config.keypoint_head {
        let expected = head.keypoints.len();
        let keypoints = annotation.keypoints.get_or_insert_with(|| vec![[0.0; 3]; expected]);
        if keypoints.len() != expected {
            let found = keypoints.len();
            let message = format!("it has {found} `keypoints`, but the keypoint head learns {expected}");
            return Err((CocoFlaw::OtherKeypoints, message));
        }
    }
    Ok(())
}
