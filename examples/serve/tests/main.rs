//! Load and faults: what a service must survive, with models that fail on purpose and with the program itself.

mod client;
mod detectron2;
#[path = "../../../tests/support/detectron2_run.rs"]
mod detectron2_run;
mod faults;
mod files;
mod hostile;
mod models;
#[path = "../../../tests/support/pickle.rs"]
mod pickle;
mod pictures;
mod program;
