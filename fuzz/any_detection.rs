//! Any call of the detection module on Flex is refused for what is wrong with it, or gives a consistent result.
//! `scripts/fuzz` runs it.

#![no_main]

use burn::tensor::Device;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../burn-roi-detection/tests/any_detection/mod.rs"]
mod any_detection;

fuzz_target!(|bytes: &[u8]| {
    let call = any_detection::AnyDetection::read(bytes);
    if let Err(wrong) = call.check(&Device::flex()) {
        panic!("{wrong}, for {call:?}");
    }
});
