//! What imported ONNX graphs call, besides region operators: `NonMaxSuppression` (opset 10 and 11), `TopK` and `Resize`
//! as onnxruntime computes them, operators that Burn refuses for tensors without elements, mmdeploy's
//! `NMSRotated`, and TensorRT's plugins.

mod extremes;
mod indexing;
pub mod mmdeploy;
mod non_max_suppression;
mod per_class;
mod resize;
mod shapes;
mod softmax;
pub mod tensorrt;
mod top_k;

pub use extremes::extreme;
pub use indexing::{gather_nd, scatter_nd};
pub use non_max_suppression::*;
pub use resize::{
    AspectRatioPolicy, NearestMode, Resize, ResizeMode, ResizeTo, ResizeTransformation, resize, try_resize,
};
pub use shapes::{expand, flatten, reshape, squeeze, unsqueeze};
pub use softmax::{log_softmax_of_all_from, softmax_of_all_from};
pub use top_k::{top_k, top_k_async, try_top_k};
