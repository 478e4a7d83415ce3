//! Any bytes as a file of detectron2: what must hold of what is read of them. The tests use it, and fuzzing.

use burn_roi_detection::weights::detectron2::{Checkpoint, CheckpointError};

/// An archive as torch writes it: entries that are stored. A checksum of 0 is none.
pub fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let [start, size] = [file.len(), bytes.len()].map(|number| (number as u32).to_le_bytes());
        let length = (name.len() as u16).to_le_bytes();
        let sizes = [size, size].concat();
        // Flags, the method, time and checksum; and what an entry of the directory has after the name's length.
        let zeros = [0; 12];
        file.extend(
            [
                b"PK\x03\x04\0\0",
                zeros.as_slice(),
                &sizes,
                &length,
                b"\0\0",
                name.as_bytes(),
                bytes,
            ]
            .concat(),
        );
        let entry = [
            b"PK\x01\x02\0\0\0\0",
            zeros.as_slice(),
            &sizes,
            &length,
            zeros.as_slice(),
            &start,
            name.as_bytes(),
        ];
        directory.extend(entry.concat());
    }
    let [start, length] = [file.len(), directory.len()].map(|number| (number as u32).to_le_bytes());
    let count = (entries.len() as u16).to_le_bytes();
    [
        &file,
        &directory,
        b"PK\x05\x06\0\0\0\0".as_slice(),
        &count,
        &count,
        &length,
        &start,
        b"\0\0",
    ]
    .concat()
}

/// Reads bytes as the pickle of an archive of torch, which has a storage. What is read is at most twice the file.
pub fn check_pth(pickle: &[u8]) -> Result<(), String> {
    let file = archive(&[("a/data.pkl", pickle), ("a/data/0", &[1; 64])]);
    check_size(Checkpoint::from_pth(&file), &file)
}

/// Reads bytes as a checkpoint. What is read of a file is at most twice its size.
pub fn check_pkl(file: &[u8]) -> Result<(), String> {
    check_size(Checkpoint::from_pkl(file), file)
}

fn check_size(read: Result<Checkpoint, CheckpointError>, file: &[u8]) -> Result<(), String> {
    let Ok(checkpoint) = read else {
        return Ok(());
    };
    let read: usize = checkpoint.tensors.values().map(|data| data.bytes().len()).sum();
    match read <= 2 * file.len() {
        true => Ok(()),
        false => Err(format!("{read} bytes were read of a file of {}", file.len())),
    }
}
