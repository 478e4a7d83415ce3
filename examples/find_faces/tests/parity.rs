//! What the stages leave is what the Python package leaves; `package/record.py` recorded it.

use std::fs;

use burn::tensor::Device;
use find_faces::{Candidate, Detector, Face, Found, LEAST_FACE, PHOTOGRAPH};
use find_objects::pictures as files;
use safetensors::SafeTensors;

use crate::pictures::{cases, checksum, noise, plain, scaled};
use crate::{detector, find};

const PIXELS: f32 = 0.1;
const SCORE: f32 = 1e-4;

/// Picture, box, score and landmarks, of which only faces have some.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    picture: usize,
    positions: Vec<f32>,
    score: f32,
}

impl Row {
    fn recorded(values: &[f32]) -> Self {
        // After the score, the package has all x and then all y.
        let landmarks = (6..values.len().min(11)).flat_map(|x| [values[x], values[x + 5]]);
        Self {
            picture: values[0] as usize,
            positions: values[1..5].iter().copied().chain(landmarks).collect(),
            score: values[5],
        }
    }

    fn of_candidate(candidate: &Candidate) -> Self {
        Self {
            picture: candidate.picture,
            positions: candidate.corners.map(|end| end as f32).to_vec(),
            score: candidate.score,
        }
    }

    fn of_face(picture: usize, face: &Face) -> Self {
        Self {
            picture,
            positions: [&face.corners[..], face.landmarks.as_flattened()].concat(),
            score: face.score,
        }
    }

    fn is_close(&self, other: &Self, tolerance: [f32; 2]) -> bool {
        let mut positions = self.positions.iter().zip(&other.positions);
        self.picture == other.picture
            && self.positions.len() == other.positions.len()
            && positions.all(|(left, right)| (left - right).abs() <= tolerance[0])
            && (self.score - other.score).abs() <= tolerance[1]
    }
}

struct Recording(Vec<u8>);

impl Recording {
    fn read() -> Self {
        Self(fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/parity.safetensors")).unwrap())
    }

    fn rows(&self, case: &str, stage: &str) -> Vec<Row> {
        let tensors = SafeTensors::deserialize(&self.0).unwrap();
        let tensor = tensors.tensor(&format!("{case}/{stage}")).unwrap();
        let values: Vec<f32> = tensor
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|&bytes| f32::from_le_bytes(bytes))
            .collect();
        values.chunks_exact(tensor.shape()[1]).map(Row::recorded).collect()
    }

    fn checksums(&self, case: &str) -> Vec<i64> {
        let tensors = SafeTensors::deserialize(&self.0).unwrap();
        let checksums = tensors.tensor(&format!("{case}/checksums")).unwrap();
        checksums
            .data()
            .as_chunks()
            .0
            .iter()
            .map(|&bytes| i64::from_le_bytes(bytes))
            .collect()
    }

    /// Compares every stage. The order of a stage is by score, and two scores can be the same but for rounding.
    fn compare(&self, case: &str, found: &Found, tolerance: [f32; 2]) {
        let faces = found.faces.iter().enumerate();
        let faces = faces.flat_map(|(picture, faces)| faces.iter().map(move |face| Row::of_face(picture, face)));
        let stages = [
            ("proposals", found.proposals.iter().map(Row::of_candidate).collect()),
            ("refined", found.refined.iter().map(Row::of_candidate).collect()),
            ("faces", faces.collect::<Vec<Row>>()),
        ];
        for (stage, mut rows) in stages {
            for recorded in self.rows(case, stage) {
                let Some(index) = rows.iter().position(|row| row.is_close(&recorded, tolerance)) else {
                    panic!("{case}, {stage}: nothing is close to {recorded:?} among {rows:?}");
                };
                rows.remove(index);
            }
            assert_eq!(rows, [], "{case}, {stage}: not recorded");
        }
    }
}

fn every_stage_agrees(detector: &Detector, is_compared: impl Fn(&str) -> bool) {
    let recording = Recording::read();
    for (case, pictures) in cases().into_iter().filter(|(case, _)| is_compared(case)) {
        let checksums: Vec<i64> = pictures.iter().map(checksum).collect();
        assert_eq!(checksums, recording.checksums(case), "the pixels of {case}");
        let found = detector.find(&pictures, LEAST_FACE).unwrap();
        recording.compare(case, &found, [PIXELS, SCORE]);
    }
}

#[test]
fn every_stage_agrees_on_flex() {
    every_stage_agrees(&detector(&Device::flex()), |_| true);
}

#[cfg(feature = "ndarray")]
#[test]
fn every_stage_agrees_on_ndarray() {
    #[allow(deprecated)] // Burn deprecates NdArray.
    let detector = detector(&Device::ndarray());
    // In a debug build, NdArray takes seven times as long as Flex.
    every_stage_agrees(&detector, |case| ["turned", "noise", "batch"].contains(&case));
}

#[cfg(feature = "wgpu")]
#[test]
fn every_stage_agrees_on_wgpu() {
    every_stage_agrees(&detector(&Device::wgpu(Default::default())), |_| true);
}

/// The two decoders of JPEG differ by a few levels in some pixels. So only the face is compared, with a larger
/// tolerance.
#[test]
fn the_shipped_photograph_has_its_face() {
    let found = find(&[files::read(PHOTOGRAPH.as_ref()).unwrap()]);
    let [faces] = found.faces.try_into().unwrap();
    let recorded = Recording::read().rows("shipped", "faces");
    assert_eq!([faces.len(), recorded.len()], [1, 1]);
    let face = Row::of_face(0, &faces[0]);
    assert!(face.is_close(&recorded[0], [0.5, 1e-3]), "{face:?} is not {recorded:?}");
}

/// The package would subtract the padding of the first picture, which has no face, from the second one's.
#[test]
fn the_padding_is_that_of_the_picture() {
    let [small, noise] = [scaled(&plain(), 160, 160), noise(181, 170)];
    let last = find(&[small.clone(), noise.clone()]).faces;
    let first = find(&[noise, small]).faces;
    assert_eq!(last[0].len(), 1);
    assert_eq!([&first[0], &first[1]], [&last[1], &last[0]]);
}
