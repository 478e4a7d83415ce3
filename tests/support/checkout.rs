//! The folder of the crate, whose files tests read.

use std::path::PathBuf;

/// The folder that cargo names in the environment of a test. `scripts/gpu/run` names another one, because it runs the
/// tests on a machine that has not built them. Without either, the folder that the tests were built in.
pub fn folder() -> PathBuf {
    match std::env::var_os("CARGO_MANIFEST_DIR") {
        Some(folder) => folder.into(),
        None => env!("CARGO_MANIFEST_DIR").into(),
    }
}
