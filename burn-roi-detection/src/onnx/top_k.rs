//! ONNX `TopK`.

use std::cmp::Ordering;

use burn::tensor::kind::Basic;
use burn::tensor::{Int, Tensor, TensorData};

use crate::arguments;
use crate::error::DetectionError;
use crate::forms::blocking_forms;
use burn_roi::internal::{integers, is_host, read};

blocking_forms!(
    /// ONNX `TopK`: the largest or the smallest elements along an axis, in order, and where they are.
    ///
    /// - `input`: a tensor of any sizes, of any float or integer dtype.
    /// - `k`: how many elements, 0 to the size of the axis.
    /// - `largest`: whether the largest are wanted, and otherwise the smallest.
    /// - Returns the elements and their indices along `axis`. Both have the sizes of `input`, but `k` along `axis`. The
    ///   indices are of the device's integer dtype.
    ///
    /// Of equal elements the one with the lower index comes first. NaN is larger than every number.
    ///
    /// The elements are read back to the host, as those of Burn's sort are. Burn's `topk_with_indices` computes on a
    /// GPU, and in Burn 0.22.1 is wrong on Mesa's software driver: of the 100 largest of 6720 elements it gave one.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_roi_detection::onnx;
    ///
    /// let scores = Tensor::<2>::from_floats([[0.1, 0.9, 0.5], [0.7, 0.2, 0.7]], &Device::default());
    /// let (scores, indices) = onnx::top_k(scores, 2, 1, true);
    /// assert_eq!(scores.try_into_vec_as::<f32>().unwrap(), [0.9, 0.5, 0.7, 0.7]);
    /// assert_eq!(indices.try_into_vec_as::<i32>().unwrap(), [1, 2, 0, 2]);
    /// ```
    pub async fn top_k<const D: usize, K: Basic>(
        input: Tensor<D, K>,
        k: i64,
        axis: usize,
        largest: bool,
    ) -> Result<(Tensor<D, K>, Tensor<D, Int>), DetectionError> {
        //! Async form of [`top_k`]. Use it on WebGPU in a browser, which cannot block.
        //!
        //! # Errors
        //!
        //! `RoiError::Option`: `axis` is not an axis of `input`, or `k` is not 0 to its size.

        let mut sizes = input.dims();
        let (size, k) = check(&sizes, k, axis)?;
        let (before, after) = (sizes[..axis].iter().product(), sizes[axis + 1..].iter().product());
        sizes[axis] = k;
        let device = input.device();
        if sizes.contains(&0) {
            let elements = Tensor::empty(sizes, (&device, input.dtype()));
            return Ok((elements, Tensor::empty(sizes, &device)));
        }
        let data = read(is_host(&device), || input.to_data_async()).await?;
        let extents = [before, size, after];
        let indices = if input.dtype().is_float() {
            let numbers: Vec<f64> = data.iter().collect();
            indices(&numbers, extents, k, in_order(largest, compare_floats))
        } else {
            indices(&integers(&data), extents, k, in_order(largest, i128::cmp))
        };
        let indices = Tensor::from_data(TensorData::new(indices, sizes), &device);
        Ok((input.gather(axis, indices.clone()), indices))
    }
);

/// The size of the axis, and how many elements are wanted.
fn check(sizes: &[usize], k: i64, axis: usize) -> Result<(usize, usize), DetectionError> {
    let size = *sizes
        .get(axis)
        .ok_or_else(|| arguments::option("axis", axis, "less than the rank of `input`"))?;
    let wanted = usize::try_from(k).ok().filter(|&wanted| wanted <= size);
    let wanted = wanted.ok_or_else(|| arguments::option("k", k, "0 to the size of `input` along `axis`"));
    Ok((size, wanted?))
}

/// The order in which elements are wanted.
fn in_order<T>(largest: bool, compare: impl Fn(&T, &T) -> Ordering) -> impl Fn(&T, &T) -> Ordering {
    move |first, second| match largest {
        true => compare(second, first),
        false => compare(first, second),
    }
}

/// -0 and 0 are equal. NaN is larger than every number.
fn compare_floats(first: &f64, second: &f64) -> Ordering {
    let nan = first.is_nan().cmp(&second.is_nan());
    first.partial_cmp(second).unwrap_or(nan)
}

/// The indices along the middle axis of the `k` elements that come first, one set for each place along the others.
fn indices<T>(
    elements: &[T],
    [before, size, after]: [usize; 3],
    k: usize,
    order: impl Fn(&T, &T) -> Ordering,
) -> Vec<i64> {
    let mut chosen = vec![0; before * k * after];
    let mut places: Vec<usize> = Vec::with_capacity(size);
    for outer in 0..before {
        for inner in 0..after {
            let element = |place: usize| &elements[(outer * size + place) * after + inner];
            let compare =
                |&first: &usize, &second: &usize| order(element(first), element(second)).then(first.cmp(&second));
            places.clear();
            places.extend(0..size);
            if k < size {
                places.select_nth_unstable_by(k, compare);
            }
            places[..k].sort_unstable_by(compare);
            for (rank, &place) in places[..k].iter().enumerate() {
                chosen[(outer * k + rank) * after + inner] = place as i64;
            }
        }
    }
    chosen
}
