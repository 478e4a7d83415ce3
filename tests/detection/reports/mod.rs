//! What users reported: one function a report, whose name says the case.

mod boxes;
mod integers;
mod losses;
