//! What users reported: one function a report, whose name says the case.

mod anchors;
mod boxes;
mod integers;
mod losses;
mod masks;
mod run_lengths;
