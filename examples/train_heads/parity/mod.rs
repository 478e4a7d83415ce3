//! Repeats a training run of torchvision, which `record.py` recorded, and compares each loss and the trained weights.
//!
//! The pictures, the proposals and the order in which samples are drawn come from the recording. The features, the
//! choice of samples, the targets, the heads, the losses, the gradients and the optimizer are computed here, by the
//! learner's own steps.

mod batches;
mod table;

use burn::lr_scheduler::constant::ConstantLr;
use burn::module::Module;
use burn::optim::SgdConfig;
use burn::optim::momentum::MomentumConfig;
use burn::train::Learner;
use burn_roi_detection::models::{Detector, RoiHeads};
use burn_roi_detection::weights::{NameTable, StateDict};
use detection_head::Recording;

use crate::data::Frozen;
use crate::error::Error;
use crate::learning::{Losses, TrainedHeads};
use batches::{Batches, setting};
use table::{Table, Weights};

/// Compares the recorded steps of a detector's heads. It has the weights that the recording began with.
pub fn compare(detector: Detector, recording: &Recording) -> Result<(), Error> {
    let frozen = Frozen::new(detector.clone())?;
    let batches = Batches::new(&frozen, recording)?;
    let recorded = recording.tensor("losses")?.values.as_chunks::<3>().0;
    let (heads, losses) = train(&detector, &batches, recorded.len(), recording)?;
    let start = head_weights(&detector)?;
    let end = head_weights(&with_heads(detector, heads))?;

    let mut table = Table::default();
    println!("{:<48} {:<52} largest relative difference", "loss", "");
    for (place, name) in Losses::NAMES.into_iter().enumerate() {
        let of_steps = |steps: &[[f32; 3]]| steps.iter().map(|step| step[place]).collect::<Vec<_>>();
        table.loss(name, &of_steps(&losses), &of_steps(recorded));
    }
    let about = "relative to the largest weight";
    println!(
        "\n{:<48} {about:<52} relative to the largest change",
        "weights after the last step"
    );
    table.weights(&start, &end, recording)?;
    table.finish()
}

/// The trained heads, and the losses of each step.
fn train(
    detector: &Detector,
    batches: &Batches<'_>,
    steps: usize,
    recording: &Recording,
) -> Result<(RoiHeads, Vec<[f32; 3]>), Error> {
    let momentum = setting(recording, "momentum")?;
    // Burn's default dampening is 0.1, and torch's is 0.
    let momentum = MomentumConfig::new().with_momentum(momentum).with_dampening(0.0);
    let optimizer = SgdConfig::new().with_momentum(Some(momentum)).init();
    let heads = TrainedHeads::new(detector.model().roi_heads.clone(), detector.config(), 1);
    let heads = heads.train().fork(&detector.device().clone().autodiff());
    let mut learner = Learner::new(heads, optimizer, ConstantLr::new(setting(recording, "rate")?));
    let mut losses = Vec::new();
    for step in 0..steps {
        let output = learner.train_step(batches.of_step(step)?);
        learner.lr_step();
        learner.optimizer_step(output.grads);
        losses.push(output.item.values()?);
    }
    Ok((learner.model().valid().heads, losses))
}

fn with_heads(mut detector: Detector, heads: RoiHeads) -> Detector {
    detector.model_mut().roi_heads = heads;
    detector
}

/// The weights of a detector's heads, by torchvision's names.
fn head_weights(detector: &Detector) -> Result<Weights, Error> {
    let mut state = StateDict::of(detector, NameTable::torchvision)?.tensors;
    state.retain(|name, _| name.starts_with("roi_heads."));
    Ok(state)
}
