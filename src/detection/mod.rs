//! What a two-stage detector needs around the region operators.
