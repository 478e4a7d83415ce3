//! What operators share that suppress boxes for each class of each image.

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::arguments;
use crate::error::DetectionError;

/// Checks boxes, `[N, K, columns]`, and scores, `[N, C, K]`. Returns N, C and K.
pub fn check(
    boxes: &Tensor<3>,
    scores: &Tensor<3>,
    columns: usize,
    expected: &'static str,
) -> Result<[usize; 3], DetectionError> {
    let ([images, count, found], [of_images, classes, of_boxes]) = (boxes.dims(), scores.dims());
    arguments::check_shape("boxes", found == columns, &boxes.dims(), expected)?;
    let fits = [of_images, of_boxes] == [images, count];
    let expected = "[N, C, K], with N and K of `boxes`";
    arguments::check_shape("scores", fits, &scores.dims(), expected)?;
    arguments::device("scores", scores, "boxes", boxes)?;
    Ok([images, classes, count])
}

/// `[image, class, box]` of all boxes that are kept.
///
/// - `boxes`: of all images in turn, `count` of each.
/// - `scores`: of each image, of each of its classes, of each box.
/// - `kept`: for the boxes of an image and their scores for a class, the indices of boxes in the result's order.
pub fn indices<B>(
    boxes: &[B],
    scores: &[f64],
    [classes, count]: [usize; 2],
    kept: impl Fn(&[B], &[f64]) -> Vec<usize>,
    device: &Device,
) -> Tensor<2, Int> {
    let mut rows = Vec::new();
    for (at, scores) in scores.chunks(count.max(1)).enumerate() {
        let (image, class) = (at / classes, at % classes);
        let of_class = kept(&boxes[image * count..(image + 1) * count], scores);
        let indices = of_class.into_iter().flat_map(|index| [image, class, index]);
        rows.extend(indices.map(|index| index as i64));
    }
    let found = rows.len() / 3;
    Tensor::from_data(TensorData::new(rows, [found, 3]), device)
}
