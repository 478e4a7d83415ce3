//! Operators on volumes.
//!
//! A [`problem`] is a valid call, [`strategies`] draws them at random, [`any_call`] changes them into calls that may be
//! wrong, as the fuzz target does, and [`reference`] is what both are compared with.

#[cfg(test)]
mod against_reference;
pub mod any_call;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod gradients;
#[cfg(test)]
mod like_maps;
#[cfg(test)]
mod nndetection;
pub mod problem;
pub mod reference;
pub mod strategies;
#[cfg(test)]
mod tubes;
