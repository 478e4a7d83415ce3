//! Integers of a device's own dtype.

use burn::tensor::{DType, Int, IntDType, Tensor};

/// The same integers in the dtype that integers have on their device unless said otherwise. An integer above
/// [`largest_kept`] is never one from 0 to the number of a detector's classes afterwards.
pub fn of_device_dtype(integers: Tensor<1, Int>) -> Tensor<1, Int> {
    if is_cast_by_floats(&integers) {
        return integers.float().int();
    }
    let dtype = integers.device().settings().int_dtype;
    cast(integers, dtype)
}

/// The largest integer that [`of_device_dtype`] leaves as it is.
pub fn largest_kept(integers: &Tensor<1, Int>) -> i128 {
    if is_cast_by_floats(integers) {
        // An f32 holds every integer up to this one.
        return 1 << 24;
    }
    largest(integers.device().settings().int_dtype.into())
}

/// burn-router 0.22.1 ends the session of a remote device at a cast of integers.
fn is_cast_by_floats(integers: &Tensor<1, Int>) -> bool {
    let device = integers.device();
    burn_roi::internal::is_remote(&device) && integers.dtype() != device.settings().int_dtype.into()
}

/// An integer that `dtype` does not hold becomes negative. A cast alone makes 1 of 2^32 + 1 in i32.
fn cast(integers: Tensor<1, Int>, dtype: IntDType) -> Tensor<1, Int> {
    let before = integers.dtype();
    if before == dtype.into() {
        return integers;
    }
    let cast = integers.clone().cast(dtype);
    if largest(before) <= largest(dtype.into()) {
        return cast;
    }
    let changed = cast.clone().cast(before).not_equal(integers);
    cast.mask_fill(changed, -1)
}

/// The largest integer of a dtype.
fn largest(dtype: DType) -> i128 {
    let sign = u32::from(!dtype.is_uint());
    (1 << (8 * dtype.size() as u32 - sign)) - 1
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::tensor::{Device, TensorData};

    use super::*;

    /// Casts the values of a tensor of `before`.
    fn cast_values<E: burn::tensor::Element>(values: Vec<E>, dtype: IntDType) -> Vec<i64> {
        let count = values.len();
        let options = (&Device::flex(), E::dtype());
        let integers = Tensor::<1, Int>::from_data(TensorData::new(values, [count]), options);
        cast(integers, dtype).into_data().iter::<i64>().collect()
    }

    #[test]
    fn an_integer_that_does_not_fit_becomes_negative() {
        let found = cast_values(vec![(1i64 << 32) + 1, 3, -5, i64::MIN], IntDType::I32);
        assert_eq!(found, [-1, 3, -5, -1]);
        let found = cast_values(vec![(1u64 << 32) + 1, 3, 1 << 31, u64::MAX], IntDType::I32);
        assert_eq!((found[0], found[1]), (-1, 3));
        assert!(found[2] < 0 && found[3] < 0, "{found:?}");
        let found = cast_values(vec![1u64 << 63, 3, u64::MAX], IntDType::I64);
        assert!(found[0] < 0 && found[1] == 3 && found[2] < 0, "{found:?}");
        assert_eq!(cast_values(vec![200u8, 0], IntDType::I32), [200, 0]);
    }

    #[test]
    fn the_largest_integer_of_a_dtype() {
        let found = [DType::I64, DType::I32, DType::U64, DType::U8].map(largest);
        assert_eq!(
            found,
            [i64::MAX.into(), i32::MAX.into(), u64::MAX.into(), u8::MAX.into()]
        );
    }
}
