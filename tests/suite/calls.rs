//! Calls with anything in them, for the output or for its gradients: every backend refuses them for what is wrong with
//! them, or gives the numbers of the plain reference. The fuzz targets do the same for longer, with Flex only.

use proptest::prelude::*;

use crate::agreement::drawn;
use crate::any_call::AnyCall;
use crate::backends::{Backend, backends};
use crate::point_calls::any_call::any_calls;

/// The reference takes a microsecond a sample, unoptimized: one drawn call of 42 million took a minute. The fuzz
/// targets make such calls.
const MOST_SAMPLES: f64 = 1e6;

fn check(call: &AnyCall, backends: &[Backend]) {
    if call.fixed_samples() > MOST_SAMPLES && !call.is_too_large() {
        return;
    }
    let mut first: Option<(&str, Option<String>)> = None;
    for backend in backends {
        if !call.dtypes().into_iter().all(|dtype| backend.supports(dtype)) {
            continue;
        }
        // NdArray copies what it expands. A server ends the session when it refuses an output for its size.
        let refuses_sizes = !matches!(backend.name, "ndarray" | "remote");
        if call.rounds() > backend.most_rounds() || call.is_too_large() && !refuses_sizes {
            continue;
        }
        let refused = match call.check(&backend.device, backend.is_host()) {
            Ok(refused) => refused,
            Err(wrong) => panic!("{}: {wrong}, for {call:?}", backend.name),
        };
        // Host backends give the same text; numbers were compared.
        if backend.is_host() {
            let (name, expected) = first.get_or_insert((backend.name, refused.clone()));
            assert_eq!(&refused, expected, "{} and {name}, for {call:?}", backend.name);
        }
    }
}

#[test]
fn any_call_is_refused_or_right() {
    let backends = backends();
    proptest!(drawn(40), |(bytes in proptest::collection::vec(any::<u8>(), 0..400))| {
        check(&AnyCall::read(&bytes), &backends);
    });
}

#[test]
fn any_call_of_points_is_refused_or_right() {
    let backends = backends();
    proptest!(drawn(40), |(call in any_calls())| {
        for backend in backends.iter().filter(|backend| backend.supports(call.other_dtype())) {
            if let Err(wrong) = call.check(&backend.device, backend.is_host()) {
                panic!("{}: {wrong}, for {call:?}", backend.name);
            }
        }
    });
}

/// What the fuzz target found, and a little of what it tried.
#[test]
fn the_corpus_is_refused_or_right() {
    let backends = backends();
    let corpus = crate::checkout::folder().join("fuzz/regressions");
    let files = std::fs::read_dir(corpus).expect("the corpus should be there");
    let mut count = 0;
    for file in files {
        let bytes = std::fs::read(file.expect("a file").path()).expect("a file's bytes");
        check(&AnyCall::read(&bytes), &backends);
        count += 1;
    }
    assert!(count > 0, "the corpus is empty");
}
