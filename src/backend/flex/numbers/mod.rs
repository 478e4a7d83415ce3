//! The numbers of features, and the numbers that they are summed in.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod half;
mod lanes;
mod number;
mod transpose;

pub use lanes::{dispatch_gradient, has_lanes};
pub use number::{Numbers, NumbersMut, Sum};
#[cfg(target_arch = "x86_64")]
pub use transpose::{avx, has_avx};
pub use transpose::{deinterleave, interleave};

/// A generic function, of the type that numbers of a dtype are summed in.
macro_rules! of_sums {
    ($dtype:expr, $function:ident) => {
        match $dtype {
            burn::tensor::DType::F64 => $function::<f64>,
            burn::tensor::DType::F32 | burn::tensor::DType::F16 | burn::tensor::DType::BF16 => $function::<f32>,
            dtype => unreachable!("a tensor of {dtype:?} is refused before"),
        }
    };
}
pub(in crate::backend::flex) use of_sums;
