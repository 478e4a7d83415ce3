//! detectron2's checkpoints and configs.

mod hostile_pickles;
mod mutated_files;
mod pickles;
