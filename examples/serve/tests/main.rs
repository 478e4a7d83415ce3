//! Load and faults: what a service must survive, with models that fail on purpose and with the program itself.

mod client;
mod faults;
mod files;
mod hostile;
mod models;
mod pictures;
mod program;
