//! Any bytes as a checkpoint of detectron2, or as the pickle of a file of torch, are refused for what is wrong with
//! them, or read. `scripts/fuzz` runs it.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../burn-roi-detection/tests/any_checkpoint.rs"]
mod any_checkpoint;

fuzz_target!(|file: &[u8]| {
    if let Err(wrong) = any_checkpoint::check_pkl(file).and_then(|()| any_checkpoint::check_pth(file)) {
        panic!("{wrong}");
    }
});
