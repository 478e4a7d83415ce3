//! Tests of `prepare`, with valid and malformed models.

mod attributes;
mod bad_models;
mod build;
mod external_data;
mod folding;
mod mutations;
mod names;
mod recognized;
mod suppression;
