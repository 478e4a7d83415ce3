//! From pictures to their faces: three networks, and the package's steps between them.

use burn::tensor::{Device, Tensor, TensorData, Transaction, read_sync};
use burn_roi::{CropAndResizeConfig, Rois, try_crop_and_resize};
use burn_store::{ModuleSnapshot, SafetensorsStore};
use image::RgbImage;

use crate::batch::Batch;
use crate::candidates::{Candidate, Overlap, face_score, of_cell, suppress};
use crate::error::Error;
use crate::networks::{CELL, Mtcnn, OutputNetwork, ProposalNetwork, RefinementNetwork, STRIDE, output_size};
use crate::stages::{Stage, Stages};

/// The scores that candidates must be above.
const PROPOSAL_SCORE: f64 = 0.6;
const REFINEMENT_SCORE: f64 = 0.7;
const OUTPUT_SCORE: f64 = 0.8;
/// The overlaps above which the lower score is dropped.
const OVERLAP_IN_LEVEL: f64 = 0.5;
const OVERLAP: f64 = 0.7;

/// The proposal network runs on strips of a level with about so many pixels: a level of a large photograph would need
/// gigabytes, and a strip's features stay in the processor's cache.
const STRIP_PIXELS: usize = 1 << 16;
/// The other networks run on so many crops at once, for the same reasons.
const CROPS: usize = 64;

/// MTCNN on a device.
pub struct Detector {
    networks: Mtcnn,
    device: Device,
}

/// A face. All coordinates are in pixels of its picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Face {
    /// `[x1, y1, x2, y2]`, inside the picture.
    pub corners: [f32; 4],
    /// Above 0.8, and at most 1.
    pub score: f32,
    /// `[x, y]` of the left eye, the right eye, the nose, and the left and the right corner of the mouth. "Left" is as
    /// the picture shows it. A landmark can lie outside the picture.
    pub landmarks: [[f32; 2]; 5],
}

/// What was found in a batch of pictures, and on the way.
pub struct Found {
    /// The faces of each picture, by decreasing score.
    pub faces: Vec<Vec<Face>>,
    /// The candidates of the proposal network, in the padded pictures.
    pub proposals: Vec<Candidate>,
    /// The candidates that the refinement network left.
    pub refined: Vec<Candidate>,
    pub stages: Stages,
}

impl Detector {
    /// Loads the networks. `weights` are the bytes of `mtcnn.safetensors`.
    pub fn new(weights: Vec<u8>, device: &Device) -> Result<Self, Error> {
        let mut networks = Mtcnn::new(device);
        let result = networks
            .load_from(&mut SafetensorsStore::from_bytes(Some(weights)))
            .map_err(|error| Error::Weights(error.to_string()))?;
        // The store refuses a file without one of the tensors, but not one with others.
        if !result.unused.is_empty() {
            return Err(Error::Weights(format!("unknown tensors: {}", result.unused.join(", "))));
        }
        Ok(Self {
            networks,
            device: device.clone(),
        })
    }

    /// The faces in each picture, of `least_face` pixels or more.
    ///
    /// Pictures of different sizes are padded with black to one size, as in the package. A picture's faces can then
    /// depend on the others' sizes.
    ///
    /// # Errors
    ///
    /// - [`Error::EmptyPicture`]: a picture has no pixel.
    /// - [`Error::LeastFace`]: `least_face` is below 12 or not finite.
    /// - Errors of the device.
    pub fn find(&self, pictures: &[RgbImage], least_face: f64) -> Result<Found, Error> {
        read_sync(self.find_async(pictures, least_face))
    }

    /// [`find`](Detector::find) for a browser, which can't block on a GPU.
    pub async fn find_async(&self, pictures: &[RgbImage], least_face: f64) -> Result<Found, Error> {
        // Smaller faces would be enlarged to the cell.
        if !(least_face >= CELL as f64 && least_face.is_finite()) {
            return Err(Error::LeastFace(least_face));
        }
        if pictures.iter().any(|picture| picture.is_empty()) {
            return Err(Error::EmptyPicture);
        }
        let mut stages = Stages::default();
        let batch = Batch::new(pictures);
        let proposals = self.propose(&batch, least_face, &mut stages).await?;
        let mut found = Found {
            faces: vec![Vec::new(); pictures.len()],
            proposals,
            refined: Vec::new(),
            stages,
        };
        // The networks are not called without candidates: not every backend accepts empty tensors.
        if !found.proposals.is_empty() {
            let features = found.stages.time(Stage::Features, || batch.features(&self.device));
            found.refined = self
                .refine(&features, &batch, &found.proposals, &mut found.stages)
                .await?;
            if !found.refined.is_empty() {
                let last = self
                    .finish(&features, &batch, &found.refined, &mut found.stages)
                    .await?;
                for candidate in last {
                    found.faces[candidate.picture].push(face(&candidate, &batch));
                }
            }
        }
        Ok(found)
    }

    /// The candidates of the proposal network, as squares.
    async fn propose(&self, batch: &Batch<'_>, least_face: f64, stages: &mut Stages) -> Result<Vec<Candidate>, Error> {
        let scales = batch.scales(least_face);
        let mut outputs = Transaction::default();
        let mut strips = Vec::new();
        for (level, &scale) in scales.iter().enumerate() {
            let pictures = stages.time(Stage::Pyramid, || batch.level(scale, &self.device));
            for (first, strip) in strips_of(pictures) {
                let output = stages.time(Stage::Proposals, || self.networks.proposal.forward(strip));
                strips.push((level, first));
                outputs = outputs.register(output);
            }
        }
        let outputs = stages.wait(Stage::Proposals, outputs.execute_async()).await?;

        stages.time(Stage::ProposalBoxes, || {
            let mut levels = vec![Vec::new(); scales.len()];
            for ((level, first), output) in strips.into_iter().zip(outputs) {
                read_strip(&output, first, scales[level], &mut levels[level])?;
            }
            let levels = levels.into_iter();
            let kept = levels.flat_map(|level| suppress(level, OVERLAP_IN_LEVEL, Overlap::Union));
            let kept = suppress(kept.collect(), OVERLAP, Overlap::Union);
            Ok(kept.into_iter().map(Candidate::squared).collect())
        })
    }

    /// The candidates that the refinement network takes for faces, as squares.
    async fn refine(
        &self,
        features: &Tensor<4>,
        batch: &Batch<'_>,
        candidates: &[Candidate],
        stages: &mut Stages,
    ) -> Result<Vec<Candidate>, Error> {
        let side = RefinementNetwork::SIDE;
        let crops = stages.time(Stage::RefinementCrops, || crop(features, batch, candidates, side))?;
        let outputs = stages.time(Stage::Refinement, || {
            in_parts(crops, |crops| self.networks.refinement.forward(crops))
        });
        let outputs = stages.wait(Stage::Refinement, outputs.execute_async()).await?;
        let rows = rows::<6>(&outputs)?;
        let refined = candidates.iter().zip(rows).filter_map(|(candidate, row)| {
            let [x1, y1, x2, y2, no_face, face] = row;
            let score = face_score([no_face, face]);
            let moved = candidate.moved([x1, y1, x2, y2]);
            (f64::from(score) > REFINEMENT_SCORE).then_some(Candidate { score, ..moved })
        });
        let refined = suppress(refined.collect(), OVERLAP, Overlap::Union);
        Ok(refined.into_iter().map(Candidate::squared).collect())
    }

    /// The candidates that the output network takes for faces, with their landmarks.
    async fn finish(
        &self,
        features: &Tensor<4>,
        batch: &Batch<'_>,
        candidates: &[Candidate],
        stages: &mut Stages,
    ) -> Result<Vec<Candidate>, Error> {
        let crops = stages.time(Stage::OutputCrops, || {
            crop(features, batch, candidates, OutputNetwork::SIDE)
        })?;
        let outputs = stages.time(Stage::Output, || {
            in_parts(crops, |crops| self.networks.output.forward(crops))
        });
        let outputs = stages.wait(Stage::Output, outputs.execute_async()).await?;
        let rows = rows::<16>(&outputs)?;
        let found = candidates.iter().zip(rows).filter_map(|(candidate, row)| {
            let [x1, y1, x2, y2, positions @ .., no_face, face] = row;
            let score = face_score([no_face, face]);
            // The landmarks are relative to the box before it is moved.
            let moved = candidate.with_landmarks(positions).moved([x1, y1, x2, y2]);
            (f64::from(score) > OUTPUT_SCORE).then_some(Candidate { score, ..moved })
        });
        Ok(suppress(found.collect(), OVERLAP, Overlap::Smaller))
    }
}

/// Strips of a level that overlap by what a row of the output sees, each with its first row of the output.
fn strips_of(pictures: Tensor<4>) -> Vec<(usize, Tensor<4>)> {
    let [count, _, height, width] = pictures.dims();
    let rows = output_size(height);
    if output_size(width) == 0 || rows == 0 {
        return Vec::new();
    }
    let seen = CELL - STRIDE;
    let in_strip = (STRIP_PIXELS / (count * width)).saturating_sub(seen) / STRIDE;
    let in_strip = in_strip.max(2 * seen);
    let starts = (0..rows).step_by(in_strip);
    let strips = starts.map(|first| {
        let last = first + in_strip;
        let end = if last >= rows { height } else { STRIDE * last + seen };
        (first, pictures.clone().slice_dim(2, STRIDE * first..end))
    });
    strips.collect()
}

/// The candidates in an output `[N, 6, rows, columns]` of the proposal network, whose first row is row `first`.
fn read_strip(output: &TensorData, first: usize, scale: f64, candidates: &mut Vec<Candidate>) -> Result<(), Error> {
    let values = output.as_slice::<f32>()?;
    let [rows, columns] = [output.shape()[2], output.shape()[3]];
    let plane = rows * columns;
    for (picture, values) in values.chunks_exact(ProposalNetwork::OUTPUTS * plane).enumerate() {
        let (no_face, face) = values[4 * plane..].split_at(plane);
        for (index, logits) in no_face.iter().zip(face).enumerate() {
            // A score of 0.6 is a difference of 0.405, and most cells are far below.
            if logits.1 - logits.0 < 0.4 {
                continue;
            }
            let score = face_score([*logits.0, *logits.1]);
            if f64::from(score) > PROPOSAL_SCORE {
                let place = [index % columns, first + index / columns];
                let offsets = [0, 1, 2, 3].map(|end| values[end * plane + index]);
                candidates.push(of_cell(picture, place, offsets, score, scale));
            }
        }
    }
    Ok(())
}

/// The crops `[K, 3, side, side]` of all candidates of all pictures.
fn crop(features: &Tensor<4>, batch: &Batch<'_>, candidates: &[Candidate], side: usize) -> Result<Tensor<4>, Error> {
    let device = features.device();
    // The package divides by the sides, although 1 means the centre of the last pixel. So a crop lies up to a pixel
    // further to the left and to the top than its box.
    let [height, width] = batch.size.map(|side| side as f64);
    let boxes = candidates.iter().flat_map(|candidate| {
        let [x1, y1, x2, y2] = candidate.corners;
        [y1 / height, x1 / width, y2 / height, x2 / width].map(|end| end as f32)
    });
    let boxes = TensorData::new(boxes.collect::<Vec<f32>>(), [candidates.len(), 4]);
    let pictures = candidates.iter().map(|candidate| candidate.picture as i32);
    let pictures = TensorData::new(pictures.collect::<Vec<i32>>(), [candidates.len()]);
    let boxes = Tensor::<2>::from_data(boxes, &device);
    let rois = Rois::try_new(boxes, Tensor::<1, burn::tensor::Int>::from_data(pictures, &device))?;
    let config = CropAndResizeConfig::new([side, side]);
    Ok(try_crop_and_resize(features.clone(), &rois, config)?)
}

/// Runs a network on a part of the crops after the other.
fn in_parts(crops: Tensor<4>, network: impl Fn(Tensor<4>) -> Tensor<2>) -> Transaction {
    let parts = crops.split(CROPS, 0).into_iter();
    parts.fold(Transaction::default(), |outputs, crops| {
        outputs.register(network(crops))
    })
}

/// The rows of a network's outputs.
fn rows<const VALUES: usize>(outputs: &[TensorData]) -> Result<Vec<[f32; VALUES]>, Error> {
    let mut rows = Vec::new();
    for output in outputs {
        rows.extend_from_slice(output.as_slice::<f32>()?.as_chunks().0);
    }
    Ok(rows)
}

/// A face in its picture without the padding, its box limited to the picture. The package takes `width - 1` as the
/// right end, a pixel less than the picture has, and so does this.
///
/// The package subtracts another picture's padding if a picture of the batch before has no face. Here it is the
/// picture's own.
fn face(candidate: &Candidate, batch: &Batch<'_>) -> Face {
    let [top, left] = batch.padding_of(candidate.picture).map(|side| side as f64);
    let [height, width] = batch.size_of(candidate.picture).map(|side| (side - 1) as f64);
    let [x1, y1, x2, y2] = candidate.corners;
    let [x1, x2] = [x1, x2].map(|x| (x - left).clamp(0.0, width) as f32);
    let [y1, y2] = [y1, y2].map(|y| (y - top).clamp(0.0, height) as f32);
    Face {
        corners: [x1, y1, x2, y2],
        score: candidate.score,
        landmarks: candidate.landmarks.map(|[x, y]| [x - left as f32, y - top as f32]),
    }
}
