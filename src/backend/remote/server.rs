//! What a server says that it can do: asked by [`check`](crate::remote::check), and else once for each device where the
//! answer is needed.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use burn::backend::Remote;
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::Device;
use burn::tensor::{DType, Shape, TensorData};

use super::client::register;
use super::message::{ABOUT, VERSION};
use crate::error::RoiError;

/// The dtypes that a server is asked for, in the order of its answer.
pub const DTYPES: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::BF16];

/// The shape of a server's answer, in f32: its version, and 1 for each of [`DTYPES`] that it pools, or else 0.
pub const ANSWER: [usize; 1] = [1 + DTYPES.len()];

/// Whether the server of a device pools a dtype. Waits for it the first time.
///
/// A server that does not answer has ended the session, so that the call itself fails when it is read: this says yes.
pub fn pools(device: &Device<Remote>, dtype: DType) -> bool {
    let known = answers().get(&key(device)).copied();
    let Some(pools) = known.or_else(|| burn::tensor::try_read_sync(ask(device))?.ok()) else {
        return true;
    };
    DTYPES
        .iter()
        .position(|&asked| asked == dtype)
        .is_some_and(|place| pools[place])
}

fn answers() -> MutexGuard<'static, HashMap<String, [bool; DTYPES.len()]>> {
    static ANSWERS: LazyLock<Mutex<HashMap<String, [bool; DTYPES.len()]>>> = LazyLock::new(Mutex::default);
    // A panic leaves a whole map.
    ANSWERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The address of the server and the index of the device there.
fn key(device: &Device<Remote>) -> String {
    format!("{device:?}")
}

/// Asks the server of a device which dtypes it pools, and remembers the answer in place of an earlier one: another
/// server may have come to the same address.
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
        format!(
            "it ended the session, as a server does on which `burn_roi::remote::register` was not called ({reason})"
        )
    });
    let pools = answer.and_then(|answer| read(&answer));
    match &pools {
        Ok(pools) => answers().insert(key(device), *pools),
        Err(_) => answers().remove(&key(device)),
    };
    pools.map_err(error)
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
#[path = "../../../tests/messages/answers.rs"]
mod tests;
