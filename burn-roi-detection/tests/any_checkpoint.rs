//! Any bytes as a file of detectron2: what must hold of what is read of them. The tests use it, and fuzzing.

use burn_roi_detection::weights::detectron2::Checkpoint;

/// Reads bytes as a checkpoint. What is read of a file is at most twice its size.
pub fn check_pkl(file: &[u8]) -> Result<(), String> {
    let Ok(checkpoint) = Checkpoint::from_pkl(file) else {
        return Ok(());
    };
    let read: usize = checkpoint.tensors.values().map(|data| data.bytes().len()).sum();
    match read <= 2 * file.len() {
        true => Ok(()),
        false => Err(format!("{read} bytes were read of a file of {}", file.len())),
    }
}
