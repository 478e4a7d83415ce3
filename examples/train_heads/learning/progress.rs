//! Shows the learner's progress: a bar, and a line for each epoch.

use burn::train::logger::{EvaluationProgressLogger, TrainingProgressLogger};
use burn::train::metric::{MetricDefinition, MetricId, NumericEntry};
use burn::train::renderer::{
    EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation, MetricsRendererTraining,
};
use detection_head::progress_bar;
use indicatif::ProgressBar;

use super::losses::LOSS;

/// What burn-train calls the pictures that are trained on.
const TRAINING: &str = "train";

pub struct Progress {
    bar: ProgressBar,
    epoch: usize,
    epochs: usize,
    is_training: bool,
    /// The mean losses of this epoch, of the pictures that are trained on and of others.
    means: [Option<f64>; 2],
}

impl Progress {
    pub fn new() -> Self {
        Self {
            bar: ProgressBar::hidden(),
            epoch: 0,
            epochs: 0,
            is_training: false,
            means: [None; 2],
        }
    }

    fn loss(&mut self, state: MetricState, split: usize) {
        let MetricState::Numeric(entry, Some(value)) = state else {
            return;
        };
        if entry.metric_id != MetricId::new(LOSS.to_string().into()) {
            return;
        }
        if let NumericEntry::Final(mean) = value {
            self.means[split] = Some(mean);
        }
        self.bar.set_message(format!(
            "epoch {} of {}, loss {:.3}",
            self.epoch,
            self.epochs,
            value.current()
        ));
    }
}

impl TrainingProgressLogger for Progress {
    fn start(&mut self, epochs: usize, first: usize, _items: Option<usize>, _label: Option<&str>) {
        (self.epoch, self.epochs) = (first, epochs);
    }

    fn start_split(&mut self, split: &str, batches: usize) {
        self.is_training = split == TRAINING;
        if self.is_training {
            self.bar = progress_bar(batches as u64);
        }
    }

    fn update_split(&mut self, batches: usize) {
        if self.is_training {
            self.bar.set_position(batches as u64);
        }
    }

    fn end_split(&mut self) {}

    fn update_epoch(&mut self, epoch: usize) {
        self.bar.finish_and_clear();
        let [training, others] = self.means.map(|mean| mean.unwrap_or(f64::NAN));
        println!(
            "epoch {epoch} of {}: mean loss {training:.3}, of pictures that are not trained on {others:.3}",
            self.epochs
        );
        self.epoch = epoch + 1;
    }

    fn end(&mut self) {
        self.bar.finish_and_clear();
    }

    fn log_event_training(&mut self, _event: String) {}
}

impl MetricsRendererTraining for Progress {
    fn update_train(&mut self, state: MetricState) {
        self.loss(state, 0);
    }

    fn update_valid(&mut self, state: MetricState) {
        self.loss(state, 1);
    }
}

impl MetricsRenderer for Progress {
    fn manual_close(&mut self) {}

    fn register_metric(&mut self, _definition: MetricDefinition) {}
}

// The learner does not evaluate: `evaluation/` does, on whole pictures.

impl MetricsRendererEvaluation for Progress {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl EvaluationProgressLogger for Progress {
    fn start_global_progress(&mut self, _tests: usize) {}

    fn start_test(&mut self, _name: &str, _items: usize) {}

    fn update_test_progress(&mut self, _items: usize) {}

    fn end_test(&mut self) {}

    fn end_global_progress(&mut self) {}

    fn log_event_evaluation(&mut self, _event: String) {}
}
