//! Any call on Flex is refused for what is wrong with it, or gives the numbers of the plain reference.
//! `scripts/fuzz` runs it.

#![no_main]

use burn::tensor::Device;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../tests/suite/any_call/mod.rs"]
mod any_call;
#[allow(dead_code)]
#[path = "../tests/suite/problem.rs"]
mod problem;
#[path = "../tests/suite/reference.rs"]
mod reference;
#[path = "../tests/suite/reference_crop.rs"]
mod reference_crop;
#[path = "../tests/suite/reference_integrals.rs"]
mod reference_integrals;

fuzz_target!(|bytes: &[u8]| {
    let call = any_call::AnyCall::read(bytes);
    if let Err(wrong) = call.check(&Device::flex(), true) {
        panic!("{wrong}, for {call:?}");
    }
});
