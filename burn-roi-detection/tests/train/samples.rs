//! Samples and their mirror images.

use burn_roi_detection::train::{Object, Sample, mirrored_keypoints};

use crate::bad_input::assert_error;

fn sample() -> Sample {
    let object = Object {
        mask: vec![true, true, false, false, true, false],
        keypoints: vec![[0.5, 1.0, 2.0], [2.5, 0.0, 1.0], [1.0, 1.0, 0.0]],
        ..Object::new([0.0, 0.0, 2.0, 2.0], 1)
    };
    Sample::new([2, 3], (0..18).collect(), vec![object])
}

#[test]
fn a_mirror_image() {
    let flipped = sample().flip(&mirrored_keypoints(&["left_hand", "right_hand", "nose"]));
    assert_eq!(flipped.pixels[..9], [6, 7, 8, 3, 4, 5, 0, 1, 2]);
    assert_eq!(flipped.pixels[9..], [15, 16, 17, 12, 13, 14, 9, 10, 11]);
    let object = &flipped.objects[0];
    assert_eq!(object.corners, [1.0, 0.0, 3.0, 2.0]);
    assert_eq!(object.mask, [false, true, true, false, true, false]);
    // The hands change places, and the nose has no label.
    assert_eq!(object.keypoints, [[0.5, 0.0, 1.0], [2.5, 1.0, 2.0], [0.0; 3]]);
}

#[test]
fn the_mirror_image_of_a_mirror_image_is_the_sample() {
    let mut sample = sample();
    sample.objects[0].keypoints.pop();
    for mirrored in [&[1, 0][..], &[], &[0, 9]] {
        assert_eq!(sample.clone().flip(mirrored).flip(mirrored), sample, "{mirrored:?}");
    }
}

#[test]
fn keypoints_whose_names_have_no_side() {
    assert_eq!(
        mirrored_keypoints(&["left_eye", "nose", "right_eye", "left_ear"]),
        [2, 1, 0, 3]
    );
    assert_eq!(mirrored_keypoints::<&str>(&[]), Vec::<usize>::new());
}

#[test]
fn samples_that_do_not_fit() {
    let of = |size, bytes, object| Sample::try_new(size, vec![0; bytes], vec![object]);
    let object = |corners, label| Object::new(corners, label);
    let fits = object([0.0, 0.0, 1.0, 1.0], 1);
    assert!(of([2, 3], 18, fits.clone()).is_ok());
    assert_error(
        of([0, 3], 0, fits.clone()),
        "`size` is [0, 3], but must be above 0 in height and in width",
    );
    assert_error(
        of([2, 3], 6, fits.clone()),
        "`pixels` has length 6, but must have length 18: one for each channel of each pixel of `size`",
    );
    for (corners, text) in [
        ([1.0, 0.0, 1.0, 1.0], "[1.0, 0.0, 1.0, 1.0]"),
        ([0.0, f32::NAN, 1.0, 1.0], "[0.0, NaN, 1.0, 1.0]"),
    ] {
        assert_error(
            of([2, 3], 18, object(corners, 1)),
            &format!(
                "`objects[_].corners` row 0 of image 0 is {text}, but must be finite, with x1 below x2 and y1 below y2"
            ),
        );
    }
    assert_error(
        of([2, 3], 18, object([0.0, 0.0, 1.0, 1.0], 0)),
        "`objects[_].label` row 0 of image 0 is 0, but must be above 0, which is the background",
    );
    let mask = vec![true; 5];
    assert_error(
        of([2, 3], 18, Object { mask, ..fits }),
        "`objects[_].mask` row 0 of image 0 is of 5 pixels, but must be empty, or of all pixels of the picture",
    );
}
