//! Any bytes as a checkpoint of detectron2 are refused for what is wrong with them, or read. `scripts/fuzz` runs it.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../burn-roi-detection/tests/any_checkpoint.rs"]
mod any_checkpoint;

fuzz_target!(|file: &[u8]| {
    if let Err(wrong) = any_checkpoint::check_pkl(file) {
        panic!("{wrong}");
    }
});
