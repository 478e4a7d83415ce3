//! What a server says that it can do: asked once for each device, and only where the answer is needed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use burn::backend::Remote;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::Device;
use burn::tensor::{DType, Shape, TensorData};

use super::message::{ABOUT, VERSION};
use super::register;
use crate::error::RoiError;

/// The dtypes that a server is asked for, in the order of its answer.
pub const DTYPES: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

/// The shape of a server's answer, in f32: its version, and 1 for each of [`DTYPES`] that it pools, or else 0.
pub const ANSWER: [usize; 1] = [1 + DTYPES.len()];

/// What servers have answered, by device.
static ANSWERS: Mutex<Option<HashMap<String, [bool; DTYPES.len()]>>> = Mutex::new(None);

/// Whether the server of a device pools a dtype. Waits for it the first time.
///
/// A server that does not answer has ended the session, so that the call itself fails when it is read: this says yes.
pub fn pools(device: &Device<Remote>, dtype: DType) -> bool {
    let key = format!("{device:?}");
    let known = ANSWERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|answers| answers.get(&key).copied());
    let Some(pools) = known.or_else(|| burn::tensor::try_read_sync(ask(device))?.ok()) else {
        return true;
    };
    ANSWERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_or_insert_default()
        .insert(key, pools);
    DTYPES
        .iter()
        .position(|&asked| asked == dtype)
        .is_some_and(|place| pools[place])
}

/// Asks the server of a device which dtypes it pools.
///
/// # Errors
///
/// [`RoiError::RemoteServer`] where it has no region operators, or those of another version.
pub async fn ask(device: &Device<Remote>) -> Result<[bool; DTYPES.len()], RoiError> {
    let error = |reason| RoiError::RemoteServer {
        device: format!("{device:?}"),
        reason,
    };
    let answer = register(device, ABOUT, &[], Shape::new(ANSWER), DType::F32, Vec::new());
    let answer = Remote::float_into_data(answer).await.map_err(|reason| {
        error(format!(
            "it ended the session, as a server does on which `burn_roi::remote::register` was not called ({reason})"
        ))
    })?;
    read(&answer).map_err(error)
}

/// A server's answer, or what is wrong with it.
fn read(answer: &TensorData) -> Result<[bool; DTYPES.len()], String> {
    let numbers: Vec<f32> = answer.iter::<f32>().collect();
    match numbers.split_first() {
        Some((&version, rest)) if version == VERSION as f32 => rest
            .iter()
            .map(|&number| number == 1.0)
            .collect::<Vec<_>>()
            .try_into()
            .map_err(|_| format!("its answer is {numbers:?}")),
        Some((version, _)) => Err(format!("its region operators have version {version}")),
        None => Err("its answer is empty".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_or_refused_in_words() {
        let answer = |numbers: &[f32]| read(&TensorData::new(numbers.to_vec(), [numbers.len()]));
        assert_eq!(answer(&[1.0, 0.0, 1.0, 1.0, 0.0]), Ok([false, true, true, false]));
        let other = answer(&[2.0, 0.0, 1.0, 1.0, 0.0]).unwrap_err();
        assert_eq!(other, "its region operators have version 2");
        assert!(answer(&[1.0]).is_err());
        assert!(answer(&[]).is_err());
    }
}
