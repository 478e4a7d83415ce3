//! What users reported, one test a report.

mod anchors;
mod masks;
mod run_lengths;
