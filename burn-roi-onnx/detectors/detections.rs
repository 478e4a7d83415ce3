//! Detections, and the search for one list's detections in another.

use std::error::Error;

use safetensors::SafeTensors;
use safetensors::tensor::TensorView;

/// The tolerance of box coordinates, in pixels.
pub const BOX_TOLERANCE: f32 = 0.05;
/// The tolerance of scores.
const SCORE_TOLERANCE: f32 = 1e-3;

/// The detections of Burn, of ONNX Runtime or of torch.
pub struct Detections {
    pub boxes: Vec<f32>,
    pub labels: Vec<i64>,
    pub scores: Vec<f32>,
}

/// The detection that is nearest to another.
pub struct Nearest {
    pub row: usize,
    /// The largest difference of a coordinate, in pixels.
    pub distance: f32,
    pub score: f32,
}

impl Detections {
    /// The detections of a recording; `source` is `output` for ONNX Runtime's.
    pub fn recorded(recording: &SafeTensors, source: &str) -> Result<Self, Box<dyn Error>> {
        let tensor = |name: &str| recording.tensor(&format!("{source}.{name}"));
        Ok(Self {
            boxes: floats(&tensor("boxes")?),
            labels: integers(&tensor("labels")?),
            scores: floats(&tensor("scores")?),
        })
    }

    fn corners(&self, row: usize) -> &[f32] {
        &self.boxes[4 * row..4 * (row + 1)]
    }

    /// The nearest one with the same label.
    pub fn nearest(&self, others: &Self, row: usize) -> Option<Nearest> {
        let label = others.labels[row];
        let distance = |at: usize| {
            let pairs = self.corners(at).iter().zip(others.corners(row));
            pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
        };
        let same = (0..self.labels.len()).filter(|&at| self.labels[at] == label);
        let nearest = same.map(|at| (at, distance(at)));
        let (row, distance) = nearest.min_by(|left, right| left.1.total_cmp(&right.1))?;
        Some(Nearest {
            row,
            distance,
            score: self.scores[row],
        })
    }

    /// The row of a detection that is also one of these.
    pub fn same(&self, others: &Self, row: usize) -> Option<usize> {
        let nearest = self.nearest(others, row)?;
        let near = nearest.distance <= BOX_TOLERANCE && (nearest.score - others.scores[row]).abs() <= SCORE_TOLERANCE;
        near.then_some(nearest.row)
    }
}

pub fn floats(tensor: &TensorView) -> Vec<f32> {
    let (numbers, _) = tensor.data().as_chunks();
    numbers.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn integers(tensor: &TensorView) -> Vec<i64> {
    let (numbers, _) = tensor.data().as_chunks();
    numbers.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()
}
