//! What `prepare` makes of models, good and bad.

mod attributes;
mod bad_models;
mod build;
mod external_data;
mod folding;
mod mutations;
mod names;
mod suppression;
