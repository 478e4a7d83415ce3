//! Any call of an operator whose samples are no grid, on Flex: it is refused for what is wrong with it, or gives the
//! numbers of the plain reference and their gradients. `scripts/fuzz` runs it.

#![no_main]

use burn::tensor::Device;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../tests/suite/point_calls/mod.rs"]
mod point_calls;
#[allow(dead_code)]
#[path = "../tests/suite/problem.rs"]
mod problem;
#[allow(dead_code)]
#[path = "../tests/suite/reference.rs"]
mod reference;
#[path = "../tests/suite/reference_crop.rs"]
mod reference_crop;
#[path = "../tests/suite/reference_integrals.rs"]
mod reference_integrals;

fuzz_target!(|bytes: &[u8]| {
    let call = point_calls::any_call::AnyPointCall::read(bytes);
    if let Err(wrong) = call.check(&Device::flex(), true) {
        panic!("{wrong}, for {call:?}");
    }
});
