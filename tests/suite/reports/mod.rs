//! What users reported: one function a report, whose name says the case.

mod dtypes;
mod pooling;
mod sizes;
