//! Adds a class to trained heads.

use burn::module::Param;
use burn::tensor::{Device, Tensor, TensorData};
use burn_roi_detection::models::RoiHeads;

use crate::random::Random;

/// The standard deviation of the new class's weights for its score, as in Detectron's initial box predictors.
const DEVIATION: f32 = 0.01;
/// Box deltas `[dx, dy, dw, dh]`.
const DELTAS: usize = 4;

/// Adds a class after the last one. The outputs of the old classes stay as they are.
///
/// The new class begins with a score near 0 and with the mean of the other classes' box deltas and masks: where an
/// edge of an object is has little to do with its class.
pub fn grown(mut heads: RoiHeads, seed: u64) -> RoiHeads {
    let predictor = &mut heads.box_predictor;
    let [features, classes] = predictor.cls_score.weight.dims();
    let device = predictor.cls_score.weight.device();
    let scores = normal([features, 1], seed, &device);
    append(&mut predictor.cls_score.weight, scores, 1);
    if let Some(bias) = &mut predictor.cls_score.bias {
        append(bias, Tensor::zeros([1], &device), 0);
    }

    let layer = &mut predictor.bbox_pred;
    let deltas = layer.weight.val().reshape([features, classes, DELTAS]);
    let mean = deltas.slice_dim(1, 1..classes).mean_dim(1).reshape([features, DELTAS]);
    append(&mut layer.weight, mean, 1);
    if let Some(bias) = &mut layer.bias {
        let deltas = bias.val().reshape([classes, DELTAS]);
        append(bias, deltas.slice_dim(0, 1..classes).mean_dim(0).reshape([DELTAS]), 0);
    }

    let Some(mask) = &mut heads.mask else {
        return heads;
    };
    let layer = &mut mask.mask_predictor.mask_fcn_logits;
    let mean = layer.weight.val().slice_dim(0, 1..classes).mean_dim(0);
    append(&mut layer.weight, mean, 0);
    if let Some(bias) = &mut layer.bias {
        let mean = bias.val().slice_dim(0, 1..classes).mean_dim(0);
        append(bias, mean, 0);
    }
    heads
}

fn append<const D: usize>(weights: &mut Param<Tensor<D>>, more: Tensor<D>, dimension: usize) {
    *weights = weights
        .clone()
        .map(|weights| Tensor::cat(vec![weights, more], dimension));
}

fn normal(shape: [usize; 2], seed: u64, device: &Device) -> Tensor<2> {
    let mut random = Random::new(&[seed]);
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| DEVIATION * random.normal()).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use burn::tensor::{Distribution, Tolerance};
    use detection_head::{CONFIG, config};

    use super::*;

    #[test]
    fn the_outputs_of_old_classes_stay() {
        let config = config::read(Path::new(CONFIG)).unwrap();
        let (device, classes) = (Device::flex(), config.classes.len());
        let heads = RoiHeads::new(&config, &device);
        let grown = grown(heads.clone(), 1);
        let pooled = |size: usize| {
            let shape = [2, config.feature_pyramid.as_ref().unwrap().channels, size, size];
            Tensor::<4>::random(shape, Distribution::Default, &device)
        };
        let (boxes, masks) = (
            pooled(config.box_head.pooled_size),
            pooled(config.mask_head.as_ref().unwrap().pooled_size),
        );
        let old = (heads.boxes(boxes.clone()), heads.masks(masks.clone()).unwrap());
        let new = (grown.boxes(boxes), grown.masks(masks).unwrap());

        assert_eq!(new.0.0.dims(), [2, classes + 1]);
        same(new.0.0.slice_dim(1, 0..classes), old.0.0);
        same(new.0.1.clone().slice_dim(1, 0..DELTAS * classes), old.0.1.clone());
        same(new.1.clone().slice_dim(1, 0..classes), old.1.clone());
        // The new class has the mean of the old ones, without the background.
        let deltas = old
            .0
            .1
            .reshape([2, classes, DELTAS])
            .slice_dim(1, 1..classes)
            .mean_dim(1);
        same(new.0.1.slice_dim(1, DELTAS * classes..), deltas.reshape([2, DELTAS]));
        same(
            new.1.slice_dim(1, classes..),
            old.1.slice_dim(1, 1..classes).mean_dim(1),
        );
    }

    fn same<const D: usize>(own: Tensor<D>, expected: Tensor<D>) {
        own.into_data()
            .assert_approx_eq::<f32>(&expected.into_data(), Tolerance::absolute(1e-5));
    }
}
