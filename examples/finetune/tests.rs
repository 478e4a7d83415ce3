//! The data set of coins, and batches of it.

use burn::tensor::{Device, TensorData};
use clap::Parser;
use detection_head::config;

use crate::arguments::Arguments;
use crate::batches::{Pictures, batches};

fn arguments(more: &[&str]) -> Arguments {
    Arguments::parse_from([&["finetune", "--steps", "5", "--batch-size", "2"], more].concat())
}

/// The pictures, boxes and masks of the batches of a run.
fn made(first: usize, more: &[&str]) -> Vec<[TensorData; 3]> {
    let arguments = arguments(more);
    let pictures = Pictures::read(&arguments.coco, &arguments.images).unwrap();
    let config = config::read(&arguments.config).unwrap();
    let made = batches(&pictures, &config, &Device::flex(), first, &arguments);
    let tensors = made.map(|batch| {
        let batch = batch.unwrap();
        let truth = batch.truth[1].clone();
        let masks = truth.masks.expect("the config has a mask head");
        [
            batch.images.tensors.into_data(),
            truth.boxes.into_data(),
            masks.into_data(),
        ]
    });
    tensors.collect()
}

#[test]
fn batches_do_not_depend_on_the_threads_or_on_an_interruption() {
    let options = ["--min-size", "96,160", "--seed", "3"];
    let one = made(0, &options);
    assert!(one == made(0, &[&options[..], &["--threads", "3"]].concat()));
    assert!(one[2..] == made(2, &options)[..]);
    assert!(one != made(0, &options[..2]));
    // Some are mirror images, and some are of another size.
    assert!(one.iter().any(|batch| batch[0].shape() != one[0][0].shape()));
}

#[test]
fn each_half_has_twelve_coins() {
    let arguments = arguments(&[]);
    for (path, crowds) in [(&arguments.coco, 0), (&arguments.test_coco, 1)] {
        let dataset = Pictures::read(path, &arguments.images).unwrap().dataset;
        let coins = dataset.annotations().iter().filter(|annotation| !annotation.is_crowd);
        assert_eq!(coins.count(), 12, "{}", path.display());
        assert_eq!(dataset.annotations().len(), 12 + crowds);
        for annotation in dataset.annotations() {
            let area = f64::from(dataset.mask_of(annotation).expect("a mask").area());
            assert!((area - annotation.area).abs() <= 2.0, "{area} {annotation:?}");
        }
    }
}
