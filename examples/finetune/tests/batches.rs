//! The data set of coins, and batches of it.

use std::path::Path;

use burn::tensor::TensorData;
use clap::Parser;
use find_objects::config;

use crate::arguments::Arguments;

fn arguments(more: &[&str]) -> Arguments {
    Arguments::parse_from([&["finetune", "--steps", "5", "--batch-size", "2"], more].concat())
}

/// The pictures, boxes and masks of the batches of a run.
fn made(first: usize, more: &[&str]) -> Vec<[TensorData; 3]> {
    let arguments = arguments(more);
    let pictures = arguments.read(arguments.training()).unwrap();
    let config = config::read(&arguments.config).unwrap();
    let source = arguments.batches(&pictures, &config).unwrap();
    let made = source.prefetch(first..arguments.steps.get(), arguments.threads());
    let tensors = made.map(|step| {
        let batch = step.unwrap().remove(0);
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
fn annotations_of_ones_own_are_those_of_the_test() {
    let arguments = arguments(&["--coco", "own/all.json"]);
    assert_eq!(arguments.training(), ["own/all.json", "own"].map(Path::new));
    assert_eq!(arguments.test(), arguments.training());
}

#[test]
fn each_half_has_twelve_coins() {
    let arguments = arguments(&[]);
    for (half, crowds) in [(arguments.training(), 0), (arguments.test(), 1)] {
        let pictures = arguments.read(half).unwrap();
        assert_eq!(pictures.problems(), []);
        let dataset = pictures.dataset();
        let coins = dataset.annotations().iter().filter(|annotation| !annotation.is_crowd);
        assert_eq!(coins.count(), 12, "{}", half[0].display());
        assert_eq!(dataset.annotations().len(), 12 + crowds);
        for annotation in dataset.annotations() {
            let area = f64::from(dataset.mask_of(annotation).expect("a mask").area());
            assert!((area - annotation.area).abs() <= 2.0, "{area} {annotation:?}");
        }
    }
}
