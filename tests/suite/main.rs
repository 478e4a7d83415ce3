//! Everything but conformance: backends against each other, dtypes, bad input, options, limits.
//!
//! A `problem` is a valid call, and `strategies` draws them at random. `any_call` reads calls from bytes, valid or not:
//! `calls` and the fuzz target make them; `reference` is what both are compared with. `point_calls` is the same for
//! operators whose samples are no grid, and `volumes` is all of it for three axes.

#[path = "../support/backends.rs"]
mod backends;
#[path = "../support/checkout.rs"]
mod checkout;
#[cfg(feature = "flex")]
#[path = "../support/strict_config.rs"]
mod strict_config;

mod against_reference;
mod agreement;
#[cfg(feature = "flex")]
mod any_call;
mod bad_input;
// By this name it starts among the first: it takes the longest, and one thread.
#[cfg(feature = "flex")]
mod calls;
mod configs;
mod documents;
#[cfg(feature = "flex")]
mod drawings;
mod dtypes;
mod gradients;
mod in_parts;
mod infinite_pixels;
mod large_output;
mod limits;
mod multi_scale;
mod options;
mod own_channels;
mod point_calls;
mod points;
mod precise;
mod problem;
mod properties;
mod reference;
mod reference_crop;
mod reference_integrals;
mod regions;
#[cfg(all(feature = "remote", feature = "flex", not(feature = "fusion")))]
mod remote_calls;
mod reports;
mod steps;
mod strategies;
mod type_parameter;
mod unsupported;
#[cfg(feature = "flex")]
mod used_memory;
mod volumes;
mod wide_maps;
mod worked_examples;
