//! Files with some bytes changed are read or refused. They never panic or take memory without bound.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::hostile_torch_files::{checkpoint, floats};
use crate::any_checkpoint::{check_pkl, check_pth};

/// Opcodes and lengths, which damage more than other bytes.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![
        any::<u8>(),
        select(b"\0\x01\xff().NKXCcRbtusehQ\x80\x85\x86\x87\x89\x8c\x93\x94\x95".to_vec())
    ]
}

fn pickles() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/detectron2/pickles");
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

/// A file in which bytes are replaced, and a range is moved to another place.
fn mutated(files: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let changes = vec((any::<Index>(), byte()), 0..6);
    let moved = proptest::option::of([any::<Index>(), any::<Index>(), any::<Index>()]);
    (select(files), changes, moved).prop_map(|(mut file, changes, moved)| {
        for (index, byte) in changes {
            let length = file.len();
            file[index.index(length)] = byte;
        }
        if let Some(places) = moved {
            let [mut start, mut end, to] = places.map(|place| place.index(file.len()));
            if start > end {
                (start, end) = (end, start);
            }
            let range = file[start..end].to_vec();
            file.splice(to..to, range);
        }
        file
    })
}

fn pickle_of_torch() -> Vec<u8> {
    let [w, v] = [([2, 8], [8, 1]), ([8, 2], [1, 8])].map(|(shape, strides)| floats(16, &shape, &strides));
    checkpoint(&[("w", w), ("v", v)])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn checkpoints(file in mutated(pickles())) {
        check_pkl(&file).unwrap();
    }

    #[test]
    fn pickles_of_torch(pickle in mutated(vec![pickle_of_torch()])) {
        check_pth(&pickle).unwrap();
    }

    #[test]
    fn any_pickle(opcodes in vec(byte(), 0..200), protocol in 2_u8..6) {
        check_pkl(&[&[0x80, protocol], opcodes.as_slice()].concat()).unwrap();
    }
}
