//! [`TrainerConfig`]: the options of a trainer.

use burn::optim::decay::WeightDecayConfig;
use burn::optim::momentum::MomentumConfig;
use burn::optim::{ModuleOptimizer, SgdConfig};

use super::half_precision::HalfPrecision;
use super::loss_config::DetectorLossConfig;
use super::schedule::LearningRateSchedule;
use crate::arguments;
use crate::configs::configs;
use crate::error::DetectionError;

configs! {
/// How a [`Trainer`](super::Trainer) trains. The defaults match torchvision's reference training.
pub struct TrainerConfig {
    /// The learning rate of each step.
    pub learning_rate: LearningRateSchedule,
    /// The momentum of SGD. From 0 to 1; 0 for no momentum.
    pub momentum: f64 = 0.9,
    /// The factor of the weight that each step adds to its gradient. Finite, 0 or above.
    pub weight_decay: f64 = 1e-4,
    /// The largest norm of all gradients together. Above 0. `None`: no limit.
    pub max_gradient_norm: Option<f64> = None,
    /// How many of the backbone's stages stay frozen, counted from the input; torchvision's fine-tuning freezes 2. A
    /// ResNet has five stages: the stem and four layers. The stages of a MobileNetV3 are the stem, each block, and the
    /// last convolution. Those of a vision transformer are the embeddings of patches and positions, and each block. A
    /// larger number freezes all.
    pub frozen_stages: usize = 2,
    /// How the losses are computed.
    pub losses: DetectorLossConfig = DetectorLossConfig::new(),
    /// The dtype of the layers, whose weights stay f32. `None`: f32.
    pub half_precision: Option<HalfPrecision> = None,
    /// The seed of the anchors and proposals that losses are computed from.
    pub seed: u64 = 0,
}
}

impl TrainerConfig {
    pub(super) fn optimizer(&self) -> ModuleOptimizer {
        // Burn's default dampening is 0.1, and torch's is 0.
        let momentum = MomentumConfig::new().with_momentum(self.momentum).with_dampening(0.0);
        let decay = WeightDecayConfig::new(self.weight_decay as f32);
        SgdConfig::new()
            .with_momentum((self.momentum > 0.0).then_some(momentum))
            .with_weight_decay((self.weight_decay > 0.0).then_some(decay))
            .init()
    }

    pub(super) fn check(&self) -> Result<(), DetectionError> {
        self.learning_rate.check()?;
        let (momentum, decay) = (self.momentum, self.weight_decay);
        arguments::check("momentum", (0.0..=1.0).contains(&momentum), momentum, "from 0 to 1")?;
        let fits = decay.is_finite() && decay >= 0.0;
        arguments::check("weight_decay", fits, decay, "finite, and 0 or above")?;
        let norm = self.max_gradient_norm.unwrap_or(f64::INFINITY);
        arguments::check("max_gradient_norm", norm > 0.0, norm, "above 0")
    }
}
