//! Mutated models result in an error or a model, never in a panic.
//!
//! `BURN_ROI_ONNX_MUTATIONS=100000 cargo test --release -p burn-roi-onnx --test suite mutations` tries 100000.

use std::fs;
use std::path::{Path, PathBuf};

use burn_roi_onnx::prepare;

/// SplitMix64, with a fixed seed so that failures are reproducible.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Changes a few bytes, or cuts, repeats or moves a part.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let (first, second) = (random.below(bytes.len()), random.below(bytes.len()));
        let part = first.min(second)..first.max(second).min(first.min(second) + 64);
        match random.below(6) {
            0 => bytes[first] ^= 1 << random.below(8),
            1 => bytes[first] = random.next() as u8,
            2 => bytes[first] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            3 => bytes.truncate(first),
            4 => {
                bytes.drain(part);
            }
            _ => {
                let copy = bytes[part].to_vec();
                bytes.splice(second..second, copy);
            }
        }
    }
}

fn graphs() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut graphs: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    graphs.sort();
    assert!(graphs.len() > 50);
    graphs
}

#[test]
fn no_mutation_panics() {
    let count = std::env::var("BURN_ROI_ONNX_MUTATIONS").map_or(2000, |count| count.parse().unwrap());
    let graphs = graphs();
    // The unmutated graphs must be accepted, except those that only test a refusal.
    let refused = graphs.iter().filter(|(_, bytes)| prepare(bytes, None).is_err()).count();
    assert_eq!(refused, 8, "of the graphs as they are");
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..count {
        let mut random = Random(seed);
        let (path, bytes) = &graphs[random.below(graphs.len())];
        let mut bytes = bytes.clone();
        mutate(&mut bytes, &mut random);
        let result = std::panic::catch_unwind(|| prepare(&bytes, None).map(|_| ()));
        match result {
            Ok(Ok(())) => accepted += 1,
            Ok(Err(_)) => refused += 1,
            Err(_) => panic!("the mutation {seed} of {} panics", path.display()),
        }
    }
    println!("{accepted} mutations are models, and {refused} are refused");
    assert!(refused > count / 4, "only {refused} of {count} mutations are refused");
}
