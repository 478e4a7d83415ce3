//! The numbers of features, and the numbers that they are summed in.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod half;
mod lanes;
mod number;
mod transpose;

pub use number::{Number, Sum};
#[cfg(target_arch = "x86_64")]
pub use transpose::avx;
pub use transpose::deinterleave;

/// A generic function, of the numbers that a dtype names.
macro_rules! of_dtype {
    ($dtype:expr, $function:ident) => {
        match $dtype {
            burn::tensor::DType::F64 => $function::<f64>,
            burn::tensor::DType::F32 => $function::<f32>,
            burn::tensor::DType::F16 => $function::<burn::tensor::f16>,
            burn::tensor::DType::BF16 => $function::<burn::tensor::bf16>,
            dtype => unreachable!("a tensor of {dtype:?} is refused before"),
        }
    };
}
pub(in crate::backend::flex) use of_dtype;
