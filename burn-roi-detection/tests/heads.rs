//! Heads with the weights of torchvision's modules, compared with their results.

use burn::module::{Param, RunningState};
use burn::nn::Linear;
use burn::nn::conv::{Conv2d, ConvTranspose2d};
use burn::tensor::{Device, Tensor, Tolerance};
use burn_roi_detection::{
    ConvBlock, ConvBlockConfig, FastRcnnConvFcHeadConfig, FastRcnnPredictorConfig, MaskRcnnHeadsConfig,
    MaskRcnnPredictorConfig, Norm, NormKind,
};

use crate::backends::backends;
use crate::cases::{Case, check_all};

const TOLERANCE: f64 = 1e-4;

#[test]
fn two_mlp_head() {
    check_all("two_mlp", |case, backend| {
        let weights = Weights::new(case, &backend.device);
        let mut head = FastRcnnConvFcHeadConfig::new(48, [1, 1], vec![], vec![6, 6]).init(&backend.device);
        for (layer, key) in head.fcs.iter_mut().zip(["fc6", "fc7"]) {
            weights.linear(key, layer);
        }
        let given = case.floats("given", &backend.device);
        case.assert_floats(0, head.forward(given), TOLERANCE, backend);
    });
}

#[test]
fn predictor() {
    check_all("predictor", |case, backend| {
        let weights = Weights::new(case, &backend.device);
        let mut head = FastRcnnPredictorConfig::new(6, 3).init(&backend.device);
        weights.linear("cls_score", &mut head.cls_score);
        weights.linear("bbox_pred", &mut head.bbox_pred);
        let (logits, deltas) = head.forward(case.floats("given", &backend.device));
        case.assert_floats(0, logits, TOLERANCE, backend);
        case.assert_floats(1, deltas, TOLERANCE, backend);
    });
}

#[test]
fn convolutions_and_linear_layers() {
    check_all("conv_fc", |case, backend| {
        let weights = Weights::new(case, &backend.device);
        let mut head = FastRcnnConvFcHeadConfig::new(3, [4, 4], vec![4, 5], vec![6, 7])
            .with_norm(case.option::<bool>("normalized").then_some(NormKind::Batch))
            .init(&backend.device);
        for (block, key) in head.convs.iter_mut().zip(["0", "1"]) {
            weights.block(key, block);
        }
        // Module 2 flattens, and module 4 is a ReLU.
        for (layer, key) in head.fcs.iter_mut().zip(["3", "5"]) {
            weights.linear(key, layer);
        }
        let given = case.floats("given", &backend.device);
        case.assert_floats(0, head.forward(given), TOLERANCE, backend);
    });
}

#[test]
fn mask_heads() {
    check_all("mask_heads", |case, backend| {
        let weights = Weights::new(case, &backend.device);
        let mut head = MaskRcnnHeadsConfig::new(3, vec![4, 5])
            .with_norm(case.option::<bool>("normalized").then_some(NormKind::Batch))
            .init(&backend.device);
        for (block, key) in head.layers.iter_mut().zip(["0", "1"]) {
            weights.block(key, block);
        }
        let given = case.floats("given", &backend.device);
        case.assert_floats(0, head.forward(given), TOLERANCE, backend);
    });
}

#[test]
fn mask_predictor() {
    check_all("mask_predictor", |case, backend| {
        let weights = Weights::new(case, &backend.device);
        let mut head = MaskRcnnPredictorConfig::new(3, 4, 5).init(&backend.device);
        weights.transposed("conv5_mask", &mut head.conv5_mask);
        weights.convolution("mask_fcn_logits", &mut head.mask_fcn_logits);
        let given = case.floats("given", &backend.device);
        case.assert_floats(0, head.forward(given), TOLERANCE, backend);
    });
}

#[test]
fn block_without_activation() {
    check_all("conv_block", |case, backend| {
        let mut block = ConvBlockConfig::new(3, 4, 1)
            .with_activation(false)
            .with_epsilon(1e-2)
            .init(&backend.device);
        block_weights(case, &backend.device, &mut block);
        let given = case.floats("given", &backend.device);
        case.assert_floats(0, block.forward(given), TOLERANCE, backend);
    });
}

/// Where it is trained, it is a matrix product.
#[test]
fn a_convolution_of_single_pixels_trains_as_burns_own() {
    for backend in backends() {
        let device = backend.device.clone().autodiff();
        let block = ConvBlockConfig::new(3, 4, 1).with_activation(false).with_norm(None);
        let block = block.init(&device);
        let conv = &block.conv;
        assert!(conv.weight.is_require_grad());
        let numbers = |count, step: f32| {
            let numbers = (0..2 * 4 * 5 * 6).map(|place| (step * place as f32).sin());
            Tensor::<1>::from_floats(numbers.collect::<Vec<_>>().as_slice(), &device).slice(0..count)
        };
        let given = || numbers(2 * 3 * 5 * 6, 0.7).reshape([2, 3, 5, 6]).require_grad();
        let factors = numbers(2 * 4 * 5 * 6, 1.3).reshape([2, 4, 5, 6]);
        let results = |maps: Tensor<4>, output: Tensor<4>| {
            let gradients = (output.clone() * factors.clone()).sum().backward();
            let bias = conv
                .bias
                .as_ref()
                .expect("a bias")
                .grad(&gradients)
                .expect("its gradient");
            [
                output.inner(),
                maps.grad(&gradients).expect("the maps' gradient"),
                conv.weight.grad(&gradients).expect("the weights' gradient"),
                bias.reshape([1, 4, 1, 1]),
            ]
        };
        let (maps, others) = (given(), given());
        let here = results(maps.clone(), block.forward(maps));
        let burns = results(others.clone(), conv.forward(others));
        for (here, burns) in here.into_iter().zip(burns) {
            here.into_data()
                .assert_approx_eq::<f32>(&burns.into_data(), Tolerance::absolute(1e-4));
        }
    }
}

/// The weights of a block that is a whole case: the keys have no prefix.
fn block_weights(case: &Case, device: &Device, block: &mut ConvBlock) {
    let weights = Weights::new(case, device);
    weights.convolution("0", &mut block.conv);
    weights.norm("1", block);
}

/// The weights of a case.
struct Weights<'a> {
    case: &'a Case,
    device: &'a Device,
}

impl<'a> Weights<'a> {
    fn new(case: &'a Case, device: &'a Device) -> Self {
        Self { case, device }
    }

    fn get<const D: usize>(&self, key: &str) -> Tensor<D> {
        self.case.floats(&format!("weights.{key}"), self.device)
    }

    /// torch's weight has a row for each output, and Burn's has a column.
    fn linear(&self, key: &str, layer: &mut Linear) {
        let weight = self.get::<2>(&format!("{key}.weight")).transpose();
        assert_eq!(layer.weight.dims(), weight.dims(), "{key}");
        layer.weight = Param::from_tensor(weight);
        layer.bias = Some(Param::from_tensor(self.get(&format!("{key}.bias"))));
    }

    fn convolution(&self, key: &str, layer: &mut Conv2d) {
        let weight = self.get::<4>(&format!("{key}.weight"));
        assert_eq!(layer.weight.dims(), weight.dims(), "{key}");
        layer.weight = Param::from_tensor(weight);
        if layer.bias.is_some() {
            layer.bias = Some(Param::from_tensor(self.get(&format!("{key}.bias"))));
        }
    }

    fn transposed(&self, key: &str, layer: &mut ConvTranspose2d) {
        let weight = self.get::<4>(&format!("{key}.weight"));
        assert_eq!(layer.weight.dims(), weight.dims(), "{key}");
        layer.weight = Param::from_tensor(weight);
        layer.bias = Some(Param::from_tensor(self.get(&format!("{key}.bias"))));
    }

    fn block(&self, key: &str, block: &mut ConvBlock) {
        self.convolution(&format!("{key}.0"), &mut block.conv);
        self.norm(&format!("{key}.1"), block);
    }

    fn norm(&self, key: &str, block: &mut ConvBlock) {
        let Some(Norm::Batch(norm)) = &mut block.norm else {
            return;
        };
        norm.gamma = Param::from_tensor(self.get(&format!("{key}.weight")));
        norm.beta = Param::from_tensor(self.get(&format!("{key}.bias")));
        norm.running_mean = RunningState::new(self.get(&format!("{key}.running_mean")));
        norm.running_var = RunningState::new(self.get(&format!("{key}.running_var")));
    }
}
