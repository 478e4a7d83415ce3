//! Any COCO file is refused for what is wrong with it, or read, mended and evaluated. `scripts/fuzz` runs it.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../burn-roi-detection/tests/any_annotations.rs"]
mod any_annotations;

fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = any_annotations::check(bytes) {
        panic!("{wrong}");
    }
});
