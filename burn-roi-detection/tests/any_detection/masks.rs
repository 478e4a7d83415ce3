//! Calls with masks and heatmaps of detections.

use burn::tensor::Device;
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use super::bytes::{Bytes, Floats, Ints, Kind};
use super::{Call, all_finite, ensure, read};

/// Pasting, as floats, as booleans and as run lengths.
#[derive(Debug)]
pub struct Pasting {
    masks: Floats,
    boxes: Floats,
    image_size: [usize; 2],
    padding: usize,
    threshold: f64,
}

impl Pasting {
    pub fn read(bytes: &mut Bytes) -> Self {
        let (dtype, box_dtype) = (bytes.dtype(), bytes.dtype());
        let (count, side) = (bytes.int(0..=3), bytes.int(1..=6));
        let masks = [bytes.length(count), bytes.length(1), side, bytes.length(side)];
        let boxes = [count, bytes.length(4)];
        let mut image_size = [bytes.int(0..=30), bytes.int(0..=30)];
        let mut padding = bytes.int(0..=2);
        if bytes.rarely() {
            padding = bytes.choose(&[1 << 40, usize::MAX]);
        }
        if bytes.rarely() {
            bytes.wrong = true;
            image_size = bytes.choose(&[[1 << 32, 1 << 32], [1 << 16, 1 << 16], [usize::MAX, 3]]);
        }
        Self {
            masks: bytes.floats(&masks, dtype, Kind::Unit),
            boxes: bytes.floats(&boxes, box_dtype, Kind::Boxes),
            image_size,
            padding,
            threshold: bytes.threshold(),
        }
    }
}

impl Call for Pasting {
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let (masks, boxes) = (|| self.masks.tensor(device), || self.boxes.tensor(device));
        let (size, padding, threshold) = (self.image_size, self.padding, self.threshold);
        let binary = try_paste_binary_masks_in_image(masks(), boxes(), size, padding, threshold);
        let encoded = try_paste_masks_as_run_lengths(masks(), boxes(), size, padding, threshold);
        let (binary, encoded) = match (binary, encoded) {
            (Ok(binary), Ok(encoded)) => (binary, encoded),
            // Values in an error may be NaN.
            (Err(left), Err(right)) if left.to_string() == right.to_string() => {
                // Not images of 2^16 x 2^16: they may fit into memory, and take 16 GiB each.
                let refused = size[0].max(size[1]) < 1 << 32
                    || try_paste_masks_in_image(masks(), boxes(), size, padding).is_err();
                ensure(refused, || format!("{size:?} is not refused"))?;
                return Ok(Err(left));
            }
            (binary, encoded) => return Err(format!("{:?} and {:?}", binary.err(), encoded.err())),
        };
        let [height, width] = size;
        let pasted = try_paste_masks_in_image(masks(), boxes(), size, padding)
            .map_err(|error| format!("only pasted floats are refused: {error}"))?;
        ensure(pasted.dims() == [self.boxes.shape[0], 1, height, width], || {
            format!("{:?}", pasted.dims())
        })?;
        let values = read(&pasted);
        let in_range = values.iter().all(|value| (0.0..=1.01).contains(value));
        ensure(!faultless || in_range, || format!("pasted {values:?}"))?;

        let bools = |data: burn::tensor::TensorData| -> Vec<bool> { data.iter::<bool>().collect() };
        let expected = bools(pasted.greater_elem(threshold).into_data());
        ensure(bools(binary.into_data()) == expected, || {
            "binary masks differ".to_string()
        })?;
        let decoded: Vec<bool> = encoded.iter().flat_map(RunLengths::decode).collect();
        ensure(decoded == expected, || format!("run lengths differ: {encoded:?}"))?;
        let area: usize = encoded.iter().map(|encoded| encoded.area() as usize).sum();
        ensure(area == expected.iter().filter(|&&pixel| pixel).count(), || {
            format!("an area of {area}")
        })?;
        Ok(Ok(()))
    }

    fn floats(&self) -> Vec<&Floats> {
        vec![&self.masks, &self.boxes]
    }
}

/// The masks of the detections' classes, and keypoints of heatmaps.
#[derive(Debug)]
pub struct Heatmaps {
    maps: Floats,
    boxes: Floats,
    labels: Ints,
}

impl Heatmaps {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let count = bytes.int(0..=3);
        let side = |bytes: &mut Bytes| if bytes.rarely() { 0 } else { bytes.int(1..=5) };
        let channels = side(bytes);
        let maps = [count, channels, side(bytes), side(bytes)];
        let (labels, rows) = (bytes.length(count), bytes.length(count));
        let mut boxes = bytes.floats(&[rows, 4], dtype, Kind::Boxes);
        // Each heatmap is resized to its box: 10,000 pixels along both axes would take seconds.
        for value in boxes
            .values
            .iter_mut()
            .filter(|value| (100.0..40_000.0).contains(&value.abs()))
        {
            *value = 50.0;
        }
        Self {
            maps: bytes.floats(&maps, dtype, Kind::Logits),
            boxes,
            labels: bytes.ints(labels, 0..=channels.saturating_sub(1) as i64),
        }
    }
}

impl Call for Heatmaps {
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let maps = || self.maps.tensor(device);
        let call = || {
            let masks = try_maskrcnn_inference(maps(), self.labels.tensor(device))?;
            let (keypoints, scores) = try_heatmaps_to_keypoints(maps(), self.boxes.tensor(device))?;
            Ok((masks, keypoints, scores))
        };
        let (masks, keypoints, scores) = match call() {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        let [count, points, height, width] = maps().dims();
        ensure(masks.dims() == [count, 1, height, width], || {
            format!("{:?}", masks.dims())
        })?;
        ensure(keypoints.dims() == [count, points, 3], || {
            format!("{:?}", keypoints.dims())
        })?;
        ensure(scores.dims() == [count, points], || format!("{:?}", scores.dims()))?;
        let finite = all_finite(&masks) && all_finite(&keypoints) && all_finite(&scores);
        ensure(!faultless || finite, || "a result is not finite".to_string())?;
        Ok(Ok(()))
    }

    fn floats(&self) -> Vec<&Floats> {
        vec![&self.maps, &self.boxes]
    }
}
