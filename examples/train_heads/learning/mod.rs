//! The heads, their losses, and the run that trains them.

mod growth;
mod heads;
mod losses;
mod progress;
mod run;

pub use growth::grown;
pub use heads::TrainedHeads;
pub use losses::{LOSS, Losses};
pub use run::{Run, Settings};
