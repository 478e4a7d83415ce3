//! Calls that compute with boxes: areas, clipping, box deltas and anchors.

use burn::tensor::{DType, Device, Tensor};
use burn_roi_detection::DetectionError;
use burn_roi_detection::*;

use super::bytes::{Bytes, Floats, Kind};
use super::{Call, all_finite, ensure, ensure_in_image, read, swapped};

/// The functions of boxes, one after the other.
#[derive(Debug)]
pub struct Boxes {
    left: Floats,
    right: Floats,
    /// Of three axes.
    deep: [Floats; 2],
    image_size: [usize; 2],
    min_size: f64,
}

impl Boxes {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let (count, others) = (bytes.int(0..=6), bytes.int(0..=6));
        let (left, right) = ([count, bytes.length(4)], [others, bytes.length(4)]);
        let deep = [[count, bytes.length(6)], [others, bytes.length(6)]];
        Self {
            left: bytes.floats(&left, dtype, Kind::Boxes),
            right: bytes.floats(&right, dtype, Kind::GroundTruth),
            deep: deep.map(|shape| bytes.floats(&shape, dtype, Kind::Volumes)),
            image_size: [bytes.int(0..=32), bytes.int(0..=32)],
            min_size: bytes.threshold(),
        }
    }

    fn call(&self, device: &Device, faultless: bool) -> Result<Result<(), String>, DetectionError> {
        let left = || self.left.tensor(device);
        let area = try_box_area(left())?;
        let iou = try_box_iou(left(), self.right.tensor(device))?;
        let clipped = try_clip_boxes_to_image(left(), self.image_size)?;
        let large = try_remove_small_boxes(left(), self.min_size)?;

        let [deep_left, deep_right] = self.deep.each_ref().map(|deep| deep.tensor(device));
        let volume = try_box_volume(deep_left.clone())?;
        let deep_iou = try_box_iou_3d(deep_left, deep_right)?;

        let [count, others] = [self.left.shape[0], self.right.shape[0]];
        let large: Vec<i64> = large.into_data().iter::<i64>().collect();
        let check = || {
            ensure(area.dims() == [count], || format!("{:?} areas", area.dims()))?;
            ensure(iou.dims() == [count, others], || format!("IoU of {:?}", iou.dims()))?;
            ensure(volume.dims() == [count], || format!("{:?} volumes", volume.dims()))?;
            ensure(deep_iou.dims() == [count, others], || {
                format!("IoU of {:?}", deep_iou.dims())
            })?;
            if self
                .deep
                .iter()
                .flat_map(Floats::stored)
                .all(|value| value.abs() < 100.0)
            {
                // 0 by 0 is NaN.
                let fits = read(&deep_iou)
                    .iter()
                    .all(|iou| iou.is_nan() || (0.0..=1.01).contains(iou));
                ensure(fits || !faultless, || format!("IoU of volumes of {deep_iou}"))?;
            }
            ensure(large.is_sorted_by(|left, right| left < right), || format!("{large:?}"))?;
            ensure(large.iter().all(|&row| (0..count as i64).contains(&row)), || {
                format!("{large:?}")
            })?;
            if self.left.is_finite() {
                ensure_in_image(&clipped, self.image_size)?;
                let ious = read(&iou);
                let moderate = self
                    .left
                    .stored()
                    .iter()
                    .chain(&self.right.stored())
                    .all(|value| value.abs() < 100.0);
                // Boxes of positive and of no area: no quotient of 0 by 0.
                let fits = ious.iter().all(|iou| (0.0..=1.01).contains(iou));
                let inverted = self
                    .left
                    .stored()
                    .chunks(4)
                    .any(|row| row[2] < row[0] || row[3] < row[1]);
                let inverted = inverted
                    || self
                        .right
                        .stored()
                        .chunks(4)
                        .any(|row| row[2] <= row[0] || row[3] <= row[1]);
                ensure(fits || inverted || !moderate, || format!("IoU of {ious:?}"))?;
            }
            Ok(())
        };
        Ok(check())
    }
}

impl Call for Boxes {
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String> {
        swapped(self.call(device, faultless))
    }

    fn floats(&self) -> Vec<&Floats> {
        vec![&self.left, &self.right, &self.deep[0], &self.deep[1]]
    }
}

/// `BoxCoder`.
#[derive(Debug)]
pub struct Coder {
    coder: BoxCoder,
    deltas: Floats,
    boxes: Floats,
    reference: Floats,
}

impl Coder {
    pub fn read(bytes: &mut Bytes) -> Self {
        let dtype = bytes.dtype();
        let (count, classes) = (bytes.int(0..=5), bytes.int(1..=3));
        let boxes = [count, bytes.length(4)];
        let reference = [bytes.length(count), 4];
        let deltas = [bytes.length(count), 4 * classes];
        let weight = |bytes: &mut Bytes| bytes.option(&[1.0, 10.0, 5.0], &[0.0, f64::NAN, f64::INFINITY]);
        let weights = [weight(bytes), weight(bytes), weight(bytes), weight(bytes)];
        let mut coder = BoxCoder::new(weights);
        if bytes.rarely() {
            coder.bbox_xform_clip = bytes.option(&[0.0, 100.0, f64::INFINITY, -1.0], &[f64::NAN]);
        }
        Self {
            coder,
            deltas: bytes.floats(&deltas, dtype, Kind::Logits),
            boxes: bytes.floats(&boxes, dtype, Kind::GroundTruth),
            reference: bytes.floats(&reference, dtype, Kind::GroundTruth),
        }
    }
}

impl Call for Coder {
    fn run(&self, device: &Device, faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let call = || {
            let boxes = || self.boxes.tensor(device);
            let decoded = self.coder.try_decode(self.deltas.tensor(device), boxes())?;
            let encoded = self.coder.try_encode(self.reference.tensor(device), boxes())?;
            Ok((decoded, encoded))
        };
        let (decoded, encoded) = match call() {
            Ok(coded) => coded,
            Err(error) => return Ok(Err(error)),
        };
        let [count, columns] = [self.boxes.shape[0], self.deltas.shape[1]];
        ensure(decoded.dims() == [count, columns / 4, 4], || {
            format!("{:?}", decoded.dims())
        })?;
        ensure(encoded.dims() == [count, 4], || format!("{:?}", encoded.dims()))?;
        let finite = all_finite(&decoded) && all_finite(&encoded);
        ensure(!faultless || finite, || "a coded box is not finite".to_string())?;
        Ok(Ok(()))
    }

    fn floats(&self) -> Vec<&Floats> {
        vec![&self.deltas, &self.boxes, &self.reference]
    }
}

/// `AnchorGenerator`, or `AnchorGenerator3d` if there are depths: of two configs.
#[derive(Debug)]
pub struct Anchors {
    config: AnchorGeneratorConfig,
    depths: Option<Vec<Vec<f64>>>,
    /// `[depth, height, width]`.
    image_size: [usize; 3],
    map_sizes: Vec<[usize; 3]>,
    /// Whether sizes and aspect ratios are widths and heights.
    by_sides: bool,
}

impl Anchors {
    pub fn read(bytes: &mut Bytes) -> Self {
        const WRONG: [f64; 4] = [0.0, -1.0, f64::NAN, f64::INFINITY];

        let levels = bytes.int(0..=3);
        let lists = |bytes: &mut Bytes, count: usize, usual: &[f64]| -> Vec<Vec<f64>> {
            let list = |bytes: &mut Bytes| {
                let count = bytes.int(0..=3);
                (0..count).map(|_| bytes.option(usual, &WRONG)).collect()
            };
            (0..count).map(|_| list(bytes)).collect()
        };
        let sizes = lists(bytes, levels, &[32.0, 0.5, 8.0, 512.0, 45.3]);
        let ratio_lists = bytes.length(levels);
        let ratios = lists(bytes, ratio_lists, &[0.5, 1.0, 2.0, 1.0 / 3.0]);
        let strides = bytes.bool().then(|| {
            let count = bytes.length(levels);
            (0..count)
                .map(|_| bytes.option(&[4.0, 8.0, 7.0], &[0.0]) as usize)
                .collect()
        });
        let depths = bytes.bool().then(|| {
            let count = bytes.length(levels);
            lists(bytes, count, &[4.0, 0.5, 7.0])
        });
        let maps = bytes.length(levels);
        let base_anchors = [
            BaseAnchors::Torchvision,
            BaseAnchors::Detectron2,
            BaseAnchors::Mmdetection,
        ];
        let config = AnchorGeneratorConfig::new(sizes, ratios)
            .with_base_anchors(bytes.choose(&base_anchors))
            .with_offset(bytes.option(&[0.0, 0.5, 0.25, 1.0], &[f64::NAN, -0.5, 1.5, f64::INFINITY]))
            .with_strides(strides);
        Self {
            config,
            depths,
            image_size: [(); 3].map(|()| bytes.int(0..=64)),
            map_sizes: (0..maps).map(|_| [(); 3].map(|()| bytes.int(0..=5))).collect(),
            by_sides: bytes.bool(),
        }
    }

    /// For each feature map its number of anchors per cell, and its anchors.
    fn call(&self, device: &Device) -> Result<(Vec<usize>, Vec<Tensor<2>>), DetectionError> {
        let Some(depths) = &self.depths else {
            let in_plane = |&[_, height, width]: &[usize; 3]| [height, width];
            let map_sizes: Vec<_> = self.map_sizes.iter().map(in_plane).collect();
            let generator = self.config.try_init()?;
            let anchors = generator.try_forward(in_plane(&self.image_size), &map_sizes, device)?;
            return Ok((generator.num_anchors_per_location(), anchors));
        };
        let AnchorGeneratorConfig {
            sizes,
            aspect_ratios,
            base_anchors,
            offset,
            strides,
        } = self.config.clone();
        let depths = depths.clone();
        let strides = strides.map(|strides| strides.into_iter().map(|stride| [stride; 3]).collect());
        let generator = if self.by_sides {
            let config = AnchorGenerator3dSConfig::new(sizes, aspect_ratios, depths);
            config.with_offset(offset).with_strides(strides).try_init()?
        } else {
            let config = AnchorGenerator3dConfig::new(sizes, aspect_ratios, depths).with_base_anchors(base_anchors);
            config.with_offset(offset).with_strides(strides).try_init()?
        };
        let anchors = generator.try_forward(self.image_size, &self.map_sizes, device)?;
        Ok((generator.num_anchors_per_location(), anchors))
    }
}

impl Call for Anchors {
    fn run(&self, device: &Device, _faultless: bool) -> Result<Result<(), DetectionError>, String> {
        let (per_location, anchors) = match self.call(device) {
            Ok(anchors) => anchors,
            Err(error) => return Ok(Err(error)),
        };
        let levels = anchors.iter().zip(&self.map_sizes).zip(per_location);
        let (first, columns) = if self.depths.is_some() { (0, 6) } else { (1, 4) };
        for ((anchors, map_size), count) in levels {
            let cells: usize = map_size[first..].iter().product();
            ensure(anchors.dims() == [cells * count, columns], || {
                format!("{:?}", anchors.dims())
            })?;
            ensure(anchors.dtype() == DType::F32, || format!("{:?}", anchors.dtype()))?;
            let rows = read(anchors);
            let ends = &[[0, 2], [1, 3], [4, 5]][..columns / 2];
            let in_order = |row: &[f64]| ends.iter().all(|&[start, end]| row[start] <= row[end]);
            let fits = rows.chunks(columns).all(in_order);
            ensure(fits && all_finite(anchors), || format!("anchors {rows:?}"))?;
        }
        Ok(Ok(()))
    }

    fn floats(&self) -> Vec<&Floats> {
        Vec::new()
    }
}
