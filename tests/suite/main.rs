//! Everything but conformance: backends against each other, dtypes, bad input, options, limits.

#[path = "../support/backends.rs"]
mod backends;

mod agreement;
mod bad_input;
mod dtypes;
mod limits;
mod multi_scale;
mod options;
mod problem;
mod regions;
mod type_parameter;
