//! The losses of a step, and how the learner measures them.

use burn::backend::ExecutionError;
use burn::tensor::{Tensor, TensorReadError};
use burn::train::ItemLazy;
use burn::train::metric::{Adaptor, LossInput};

/// What burn-train calls the metric that the sum of the losses is.
pub const LOSS: &str = "Loss";

/// Each is `[1]`.
#[derive(Debug, Clone)]
pub struct Losses {
    pub classes: Tensor<1>,
    pub boxes: Tensor<1>,
    pub masks: Tensor<1>,
}

impl Losses {
    /// torchvision's names of the losses.
    pub const NAMES: [&str; 3] = ["loss_classifier", "loss_box_reg", "loss_mask"];

    pub fn total(&self) -> Tensor<1> {
        self.classes.clone() + self.boxes.clone() + self.masks.clone()
    }

    /// The value of each loss.
    pub fn values(&self) -> Result<[f32; 3], TensorReadError> {
        let [classes, boxes, masks] =
            [&self.classes, &self.boxes, &self.masks].map(|loss| loss.clone().try_into_scalar());
        Ok([classes?, boxes?, masks?])
    }
}

impl ItemLazy for Losses {
    fn sync(self) -> Result<Self, ExecutionError> {
        self.classes.device().flush()?;
        Ok(Self {
            classes: self.classes.without_autodiff(),
            boxes: self.boxes.without_autodiff(),
            masks: self.masks.without_autodiff(),
        })
    }
}

impl Adaptor<LossInput> for Losses {
    fn adapt(&self) -> LossInput {
        LossInput::new(self.total())
    }
}
