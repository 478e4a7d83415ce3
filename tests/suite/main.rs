//! Everything but conformance: backends against each other, dtypes, bad input, options, limits.

#[path = "../support/backends.rs"]
mod backends;

mod against_reference;
mod agreement;
#[cfg(feature = "flex")]
mod any_call;
#[cfg(feature = "flex")]
mod any_calls;
mod bad_input;
#[cfg(feature = "flex")]
mod call_bytes;
mod dtypes;
mod infinite_pixels;
mod limits;
mod multi_scale;
mod options;
mod problem;
mod problems;
mod properties;
mod reference;
mod regions;
mod type_parameter;
mod unsupported;
#[cfg(feature = "flex")]
mod verdict;
