//! What is found in the end, beside what torchvision finds.

use super::Recording;
use super::table::farthest;
use crate::error::Error;
use crate::found::Found;
use crate::run_lengths::RunLengths;

const LARGEST_SCORE_DIFFERENCE: f64 = 1e-3;
const LARGEST_BOX_DIFFERENCE: f64 = 0.1;
const LEAST_MASK_OVERLAP: f64 = 0.99;

/// Whether other objects are found than the recorded ones; prints by how much they differ.
pub fn differ(found: &[Found], recording: &Recording) -> Result<bool, Error> {
    let recorded = read(recording)?;
    let mut left: Vec<&Found> = found.iter().collect();
    let (mut matched, mut score, mut corners, mut overlap) = (0, 0.0_f64, 0.0_f64, 1.0_f64);
    for other in &recorded {
        let nearest = left
            .iter()
            .enumerate()
            .filter(|(_, own)| own.class == other.class)
            .map(|(index, own)| (index, farthest(&own.corners, &other.corners)))
            .min_by(|(_, left), (_, right)| left.total_cmp(right));
        let Some((index, distance)) = nearest else {
            continue;
        };
        if distance > LARGEST_BOX_DIFFERENCE {
            continue;
        }
        let own = left.remove(index);
        matched += 1;
        corners = corners.max(distance);
        score = score.max(f64::from((own.score - other.score).abs()));
        overlap = overlap.min(own.mask.intersection_over_union(&other.mask));
    }
    println!(
        "\ndetections: {} found, {} recorded, {matched} of them the same; the largest difference of a \
         score is {score:.1e}, of a box {corners:.4} pixels; the least overlap of masks is {overlap:.4}",
        found.len(),
        recorded.len(),
    );
    let same = matched == recorded.len() && matched == found.len();
    let near = score <= LARGEST_SCORE_DIFFERENCE && overlap > LEAST_MASK_OVERLAP;
    Ok(!(same && near))
}

/// The recorded objects.
fn read(recording: &Recording) -> Result<Vec<Found>, Error> {
    let boxes = recording.boxes("detections.boxes")?;
    let scores = &recording.tensor("detections.scores")?.values;
    let labels = &recording.tensor("detections.labels")?.values;
    let masks = recording.tensor("detections.masks")?;
    let [count, height, width] = masks.shape[..] else {
        return Err(recording.wrong(format!("detections.masks are {:?}", masks.shape)));
    };
    if [scores.len(), labels.len(), count] != [boxes.len(); 3] {
        return Err(recording.wrong("its detections are not as many in each tensor".to_string()));
    }
    let detections = boxes.into_iter().enumerate().map(|(row, corners)| {
        let pixels = &masks.values[row * height * width..][..height * width];
        Found {
            class: labels[row] as usize,
            score: scores[row],
            corners,
            mask: RunLengths::of_window([height, width], [0, 0, width, height], |x, y| {
                pixels[y * width + x] > 0.5
            }),
        }
    });
    Ok(detections.collect())
}
