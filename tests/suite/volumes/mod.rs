//! Operators on volumes.

mod against_reference;
mod bad_input;
mod gradients;
mod like_maps;
mod problem;
mod reference;
mod strategies;
mod tubes;
