//! The stages of a run, with their times.

use std::time::Duration;

use web_time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Pyramid,
    Proposals,
    ProposalBoxes,
    Features,
    RefinementCrops,
    Refinement,
    OutputCrops,
    Output,
}

impl Stage {
    pub const ALL: [Self; 8] = [
        Self::Pyramid,
        Self::Proposals,
        Self::ProposalBoxes,
        Self::Features,
        Self::RefinementCrops,
        Self::Refinement,
        Self::OutputCrops,
        Self::Output,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pyramid => "pyramid",
            Self::Proposals => "proposal network",
            Self::ProposalBoxes => "boxes and NMS",
            Self::Features => "picture as a tensor",
            Self::RefinementCrops => "crops of 24 x 24",
            Self::Refinement => "refinement network",
            Self::OutputCrops => "crops of 48 x 48",
            Self::Output => "output network",
        }
    }
}

/// The times of the stages. A GPU only queues its work, and a network's stage ends when its output is read: on a GPU
/// the time of the crops is in that of the network after them.
#[derive(Debug, Clone, Default)]
pub struct Stages {
    times: [Duration; Stage::ALL.len()],
}

impl Stages {
    /// Runs a part of a stage.
    pub fn time<T>(&mut self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let output = work();
        self.times[stage as usize] += start.elapsed();
        output
    }

    /// Waits for a part of a stage.
    pub async fn wait<T>(&mut self, stage: Stage, work: impl Future<Output = T>) -> T {
        let start = Instant::now();
        let output = work.await;
        self.times[stage as usize] += start.elapsed();
        output
    }

    pub fn of(&self, stage: Stage) -> Duration {
        self.times[stage as usize]
    }

    pub fn total(&self) -> Duration {
        self.times.iter().sum()
    }
}
