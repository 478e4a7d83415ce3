//! The positions of a vision transformer's patches, for maps of any size.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};

use crate::cubic::CubicTaps;
use crate::models::image_list::Taps;

/// The embedding of each patch's place: `[1, H, W, C]`. It is resized as torch's bicubic `interpolate` does, without
/// aligned corners.
///
/// - `embeddings`: `[1, positions, C]`, those of a square row by row, after that of the class token if there is one.
pub fn absolute_positions(embeddings: Tensor<3>, class_token: bool, [height, width]: [usize; 2]) -> Tensor<4> {
    let [_, positions, channels] = embeddings.dims();
    let first = usize::from(class_token);
    let side = (positions - first).isqrt();
    let square = embeddings.slice_dim(1, first..positions);
    if [height, width] == [side; 2] {
        return square.reshape([1, height, width, channels]);
    }
    let (dtype, device) = (square.dtype(), square.device());
    let [rows, columns] = [height, width].map(|asked| resizing(side, CubicTaps::of(side, asked).taps(), &device));
    let square = square.cast(DType::F32).reshape([side, side * channels]);
    let lines = rows.matmul(square).reshape([height, side, channels]);
    columns.unsqueeze::<3>().matmul(lines).unsqueeze().cast(dtype)
}

/// The embedding of the distance of each query from each key, along an axis of `side` patches: `[side, side, C]`. They
/// are resized as torch's linear `interpolate` does, without aligned corners.
///
/// - `embeddings`: `[distances, C]`, from the most negative distance on.
pub fn relative_positions(embeddings: Tensor<2>, side: usize) -> Tensor<3> {
    let ([given, channels], asked) = (embeddings.dims(), 2 * side - 1);
    let (dtype, device) = (embeddings.dtype(), embeddings.device());
    let embeddings = if given == asked {
        embeddings
    } else {
        let taps = Taps::of_axis(given, asked)
            .into_iter()
            .map(|taps| (taps.pixels, taps.weights));
        resizing(given, taps, &device)
            .matmul(embeddings.cast(DType::F32))
            .cast(dtype)
    };
    let distances = (0..side).flat_map(|query| (0..side).map(move |key| (query + side - 1 - key) as i64));
    let distances = TensorData::new(distances.collect::<Vec<_>>(), [side * side]);
    let distances = Tensor::<1, Int>::from_data(distances, &device);
    embeddings.select(0, distances).reshape([side, side, channels])
}

/// The matrix `[asked, given]` that resizes an axis of `given` values. Each row has the weights of one new value.
fn resizing<const N: usize>(
    given: usize,
    taps: impl ExactSizeIterator<Item = ([usize; N], [f32; N])>,
    device: &Device,
) -> Tensor<2> {
    let shape = [taps.len(), given];
    let mut matrix = vec![0.0; shape[0] * given];
    for (row, (places, weights)) in matrix.chunks_exact_mut(given).zip(taps) {
        for (place, weight) in places.into_iter().zip(weights) {
            row[place] += weight;
        }
    }
    Tensor::from_data(TensorData::new(matrix, shape), device)
}
