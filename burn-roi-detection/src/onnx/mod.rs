//! What imported ONNX graphs call, besides region operators: `NonMaxSuppression` (opset 10 and 11) and `TopK` as
//! onnxruntime 1.31 computes them, shapes of tensors without elements, and TensorRT's plugins.

mod non_max_suppression;
mod shapes;
pub mod tensorrt;
mod top_k;

pub use non_max_suppression::{
    NonMaxSuppression, non_max_suppression, non_max_suppression_async, try_non_max_suppression,
};
pub use shapes::{expand, flatten, reshape};
pub use top_k::{top_k, top_k_async, try_top_k};
