//! Calls on a server beside the same calls on Flex, which the server has: the same bits and the same refusals.

use burn::tensor::{Device, TensorData};
use burn_roi::RoiError;
use proptest::prelude::*;

use crate::agreement::drawn;
use crate::any_call::AnyCall;
use crate::backends::backends;

#[test]
fn any_call_on_a_server_gives_the_bits_of_its_backend() {
    for backend in backends().iter().filter(|backend| backend.name == "remote") {
        proptest!(drawn(500), |(bytes in proptest::collection::vec(any::<u8>(), 0..400))| {
            let call = AnyCall::read(&bytes);
            // The server refuses its size, which ends the session.
            if call.is_too_large() {
                return Ok(());
            }
            if let Err(wrong) = call.compare_with_flex(&backend.device) {
                panic!("{wrong}, for {call:?}");
            }
        });
    }
}

impl AnyCall {
    /// Whether a server gives the bits of Flex, and refuses what Flex refuses. It does not refuse boxes and indices,
    /// which a client does not read.
    fn compare_with_flex(&self, server: &Device) -> Result<(), String> {
        match (self.numbers(&Device::flex()), self.numbers(server)) {
            (Err(RoiError::BoxNotFinite { .. } | RoiError::BatchIndex { .. }), Ok(_)) => Ok(()),
            (Err(expected), Err(found)) if expected.to_string() == found.to_string() => Ok(()),
            (Ok(expected), Ok(found)) => expected
                .iter()
                .zip(&found)
                .try_for_each(|(expected, found)| same_bits(expected, found)),
            (expected, found) => Err(format!("Flex: {:?}, the server: {:?}", expected.err(), found.err())),
        }
    }

    /// The output, or all gradients.
    fn numbers(&self, device: &Device) -> Result<Vec<TensorData>, RoiError> {
        let Some(gradient) = &self.gradient else {
            return Ok(vec![self.run(device)?]);
        };
        let gradients = self.run_backward(gradient, device)?;
        Ok(gradients.features.into_iter().chain([gradients.boxes]).collect())
    }
}

fn same_bits(expected: &TensorData, found: &TensorData) -> Result<(), String> {
    if expected.dtype() != found.dtype() || expected.shape() != found.shape() {
        let described = |data: &TensorData| format!("{:?} of {:?}", data.shape(), data.dtype());
        return Err(format!(
            "Flex: {}, the server: {}",
            described(expected),
            described(found)
        ));
    }
    match expected.as_bytes() == found.as_bytes() {
        true => Ok(()),
        false => Err("the server gives other bits than Flex".to_string()),
    }
}
