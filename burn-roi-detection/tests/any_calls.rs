//! Calls with anything in them: host backends refuse them for what is wrong with them, or give consistent results. The
//! fuzz target does the same for longer, with Flex only.

use proptest::prelude::*;

use crate::any_detection::AnyDetection;
use crate::backends::{Backend, backends};

#[test]
fn any_call_is_refused_or_consistent() {
    let backends: Vec<Backend> = backends().into_iter().filter(Backend::is_host).collect();
    let config = ProptestConfig {
        cases: ProptestConfig::default().cases.max(1500),
        ..ProptestConfig::default()
    };
    proptest!(config, |(bytes in proptest::collection::vec(any::<u8>(), 0..200))| {
        let call = AnyDetection::read(&bytes);
        for backend in &backends {
            if call.dtypes().into_iter().all(|dtype| backend.supports(dtype))
                && let Err(wrong) = call.check(&backend.device)
            {
                panic!("{}: {wrong}, for {call:?}", backend.name);
            }
        }
    });
}
