//! detectron2's checkpoints and configs.

mod configs;
mod hostile_pickles;
mod hostile_torch_files;
mod mutated_files;
mod pickles;
mod torch_files;
