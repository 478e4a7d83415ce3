//! Batches of an epoch.

use burn_roi_detection::train::BatchConfig;

use crate::bad_input::assert_error;

/// 40 portraits, landscapes and squares of several shapes.
fn sizes() -> Vec<[usize; 2]> {
    let shape = |index: usize| [[480, 640], [640, 480], [500, 500], [300, 900], [900, 300]][index % 5];
    (0..40).map(shape).collect()
}

#[test]
fn each_sample_is_in_one_batch() {
    let config = BatchConfig {
        seed: 7,
        ..BatchConfig::new(3)
    };
    let batches = config.epoch(&sizes(), 2);
    let mut all: Vec<usize> = batches.concat();
    assert_ne!(all, (0..40).collect::<Vec<_>>());
    all.sort();
    assert_eq!(all, (0..40).collect::<Vec<_>>());
    assert!(batches.iter().all(|batch| (1..=3).contains(&batch.len())));
    // A group of 8 samples has three batches.
    assert_eq!(batches.len(), 5 * 3);
}

#[test]
fn a_batch_has_samples_of_one_shape() {
    let sizes = sizes();
    for factor in [0, 1, 3] {
        let config = BatchConfig {
            aspect_ratio_group_factor: factor,
            ..BatchConfig::new(4)
        };
        for batch in config.epoch(&sizes, 0) {
            let is_landscape = |&sample: &usize| sizes[sample][1] >= sizes[sample][0];
            let landscapes = batch.iter().filter(|sample| is_landscape(sample)).count();
            assert!(landscapes == 0 || landscapes == batch.len(), "{factor}: {batch:?}");
            // The shapes here are in groups of their own.
            if factor == 3 {
                assert!(
                    batch.iter().all(|&sample| sizes[sample] == sizes[batch[0]]),
                    "{factor}: {batch:?}"
                );
            }
        }
    }
}

#[test]
fn seed_and_epoch_decide_the_order() {
    let of = |seed, epoch| {
        BatchConfig {
            seed,
            ..BatchConfig::new(4)
        }
        .epoch(&sizes(), epoch)
    };
    assert_eq!(of(1, 3), of(1, 3));
    assert_ne!(of(1, 3), of(1, 4));
    assert_ne!(of(1, 3), of(2, 3));
    assert_eq!(BatchConfig::new(4).epoch(&[], 0), Vec::<Vec<usize>>::new());
}

#[test]
fn options_out_of_range() {
    assert_error(
        BatchConfig::new(0).try_epoch(&[], 0),
        "`batch_size` is 0, but must be above 0",
    );
    assert_error(
        BatchConfig {
            aspect_ratio_group_factor: 1001,
            ..BatchConfig::new(1)
        }
        .try_epoch(&[], 0),
        "`aspect_ratio_group_factor` is 1001, but must be at most 1000",
    );
}
