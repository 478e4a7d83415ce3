//! Any call on a volume, on Flex: it is refused for what is wrong with it, or gives the numbers of the plain reference.
//! `scripts/fuzz` runs it.

#![no_main]

use burn::tensor::Device;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../tests/suite/problem.rs"]
mod problem;
#[allow(dead_code)]
#[path = "../tests/suite/reference.rs"]
mod reference;
#[allow(dead_code)]
#[path = "../tests/suite/reference_crop.rs"]
mod reference_crop;
#[path = "../tests/suite/reference_integrals.rs"]
mod reference_integrals;
#[allow(dead_code)]
#[path = "../tests/suite/volumes/mod.rs"]
mod volumes;

fuzz_target!(|bytes: &[u8]| {
    let call = volumes::any_call::AnyVolumeCall::read(bytes);
    if let Err(wrong) = call.check(&Device::flex(), true) {
        panic!("{wrong}, for {call:?}");
    }
});
