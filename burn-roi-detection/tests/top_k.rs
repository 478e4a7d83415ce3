//! ONNX `TopK`.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_roi_detection::onnx::{top_k, try_top_k};

use crate::backends::backends;

/// Runs a test on every backend.
fn on_each(test: impl Fn(&Device)) {
    for backend in backends() {
        println!("{}", backend.name);
        test(&backend.device);
    }
}

/// The indices that are chosen. What is chosen must be the elements there.
fn chosen<const D: usize>(input: Tensor<D>, k: i64, axis: usize, largest: bool) -> Vec<i64> {
    let (elements, indices) = top_k(input.clone(), k, axis, largest);
    let gathered = input.gather(axis, indices.clone());
    let [elements, gathered] = [elements, gathered].map(|tensor| tensor.try_into_vec_as::<f32>().unwrap());
    assert_eq!(format!("{elements:?}"), format!("{gathered:?}"));
    indices.into_data().iter::<i64>().collect()
}

#[test]
fn of_equal_elements_the_first_comes_first() {
    on_each(|device| {
        let input = Tensor::<1>::from_floats([1.0, 2.0, 0.0, 2.0, -0.0, 2.0], device);
        assert_eq!(chosen(input.clone(), 2, 0, true), [1, 3]);
        assert_eq!(chosen(input.clone(), 6, 0, true), [1, 3, 5, 0, 2, 4]);
        assert_eq!(chosen(input, 3, 0, false), [2, 4, 0]);
    });
}

#[test]
fn nan_is_the_largest() {
    on_each(|device| {
        let input = Tensor::<1>::from_floats([1.0, f32::NAN, f32::INFINITY], device);
        assert_eq!(chosen(input.clone(), 2, 0, true), [1, 2]);
        assert_eq!(chosen(input, 2, 0, false), [0, 2]);
    });
}

#[test]
fn elements_are_compared_along_any_axis() {
    on_each(|device| {
        let input = Tensor::<1>::from_floats([3.0, 1.0, 2.0, 9.0, 7.0, 8.0, 4.0, 6.0], device).reshape([2, 2, 2]);
        assert_eq!(chosen(input.clone(), 1, 0, true), [1, 1, 1, 0]);
        assert_eq!(chosen(input.clone(), 1, 1, true), [0, 1, 0, 0]);
        assert_eq!(chosen(input, 2, 2, false), [1, 0, 0, 1, 0, 1, 0, 1]);
    });
}

/// A detector asks for so many scores. From 100 on, burn-cubecl's own kernel chose others.
#[test]
fn a_thousand_of_many_are_chosen() {
    let count = 6720;
    // No two are equal, and no neighbours are neighbours in order.
    let numbers: Vec<f32> = (0..count).map(|place| ((place * 1009) % count) as f32).collect();
    let mut expected: Vec<i64> = (0..count as i64).collect();
    expected.sort_by(|&first, &second| numbers[second as usize].total_cmp(&numbers[first as usize]));
    on_each(|device| {
        let input = Tensor::<1>::from_floats(numbers.as_slice(), device).reshape([1, count]);
        assert_eq!(chosen(input, 1000, 1, true), expected[..1000]);
    });
}

/// f64 does not hold every integer of 64 bits.
#[test]
fn large_integers_are_not_rounded() {
    let large = i64::MAX - 1;
    for backend in backends().iter().filter(|backend| backend.is_host()) {
        let options = (&backend.device, DType::I64);
        let input = Tensor::<1, Int>::from_data(TensorData::from([large, large + 1, large - 1]), options);
        let (elements, indices) = top_k(input, 2, 0, true);
        assert_eq!(
            elements.into_data().iter::<i64>().collect::<Vec<_>>(),
            [large + 1, large]
        );
        assert_eq!(indices.into_data().iter::<i64>().collect::<Vec<_>>(), [1, 0]);
    }
}

#[test]
fn nothing_is_chosen_of_nothing() {
    on_each(|device| {
        assert_eq!(top_k(Tensor::<2>::zeros([0, 5], device), 3, 1, true).0.dims(), [0, 3]);
        assert_eq!(top_k(Tensor::<2>::zeros([4, 5], device), 0, 1, true).1.dims(), [4, 0]);
    });
}

#[test]
fn what_is_not_there_is_an_error() {
    on_each(|device| {
        let input = Tensor::<1>::zeros([3], device);
        for k in [4, -1] {
            let text = try_top_k(input.clone(), k, 0, true).unwrap_err().to_string();
            let expected = format!("`k` is {k}, but must be 0 to the size of `input` along `axis`");
            assert_eq!(text, expected);
        }
        let text = try_top_k(input, 1, 1, true).unwrap_err().to_string();
        assert_eq!(text, "`axis` is 1, but must be less than the rank of `input`");
    });
}
