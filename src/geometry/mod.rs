//! Where samples and bins fall: no tensors, no backends, no frameworks.
//!
//! - [`axis`](single::axis): one axis of one region, its samples, their bounds and taps.
//! - [`bins`](single::bins): quantized bins.
//! - [`area`](single::area): which level of a feature pyramid a box belongs to.
//! - [`axes`]: an operator's two axes, planned alike.
//! - [`convention`]: what a framework chooses, as values.
//! - [`plan`]: what a host executor needs of a region, computed once for all channels.
//!
//! `area`, `axis` and `bins` are compiled twice, for coordinates of f32 ([`single`]) and of f64 ([`double`]).
//! With a CubeCL backend the same functions are compiled into its kernels.

pub mod axes;
pub mod convention;
#[allow(clippy::duplicate_mod)]
pub mod double;
pub mod plan;
#[allow(clippy::duplicate_mod)]
pub mod single;

#[cfg(test)]
mod tests;
