//! COCO's evaluation and COCO's files: results compared with pycocotools', which `record.py` records, and errors.

mod bad_input;
mod broken_files;
mod flawed_files;
#[cfg(feature = "models")]
mod labels;
mod recorded;
mod run_lengths;

use proptest::prelude::*;

#[test]
fn any_file_is_read_and_evaluated() {
    let config = ProptestConfig {
        cases: ProptestConfig::default().cases.max(2000),
        ..ProptestConfig::default()
    };
    proptest!(config, |(bytes in proptest::collection::vec(any::<u8>(), 0..150))| {
        if let Err(wrong) = crate::any_annotations::check(&bytes) {
            panic!("{wrong}");
        }
    });
}
