//! Remote: a device of another machine, over `burn-remote`. Each call is one custom operation that the client queues
//! and does not wait for; the server runs it by the functions that [`crate::remote::register`] registers there.
//!
//! - [`message`]: the names of the operations, and an operator as the scalars of one. [`client`] queues them.
//! - [`kernel`]: a kernel with its tensors, which a client sends and a server runs.
//! - [`server`]: what a server says that it can do.

use burn::backend::Remote;
use burn::backend::tensor::FloatTensor;
use burn::tensor::DType;

use super::{DeviceKind, RegionCall, RegionKernels, support::DeviceSupport};

mod client;
pub mod kernel;
pub mod message;
pub mod server;

use client::send;
use message::Operation;

impl RegionKernels for Remote {
    fn pool(features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        send(Operation::Pool, Some(features), None, call)
    }

    fn pool_level(pooled: FloatTensor<Self>, features: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        send(Operation::PoolLevel, Some(features), Some(pooled), call)
    }

    fn average_gradient(gradient: FloatTensor<Self>, call: RegionCall<Self>) -> FloatTensor<Self> {
        send(Operation::AverageGradient, None, Some(gradient), call)
    }

    fn maximum_gradient(
        gradient: FloatTensor<Self>,
        features: FloatTensor<Self>,
        call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        send(Operation::MaximumGradient, Some(features), Some(gradient), call)
    }

    fn boxes_gradient(
        gradient: FloatTensor<Self>,
        features: FloatTensor<Self>,
        call: RegionCall<Self>,
    ) -> FloatTensor<Self> {
        send(Operation::BoxesGradient, Some(features), Some(gradient), call)
    }
}

/// What Burn's feature `fusion` makes of the remote backend, by whoever turned it on.
///
/// Burn 0.22.1 then keeps graphs of calls on a remote device, and replays one for calls that differ from it: 19 tests
/// of the suite ended their session so, with `Expected int handle, got float`.
struct Kind<B>(std::marker::PhantomData<B>);

// Each build uses one of the two constants.
#[allow(dead_code)]
impl<R: burn_router::RouterChannel> Kind<burn_router::BackendRouter<R>> {
    const IS_FUSED: bool = false;
}

/// What holds for any other type: the constant of the type itself comes first.
#[allow(dead_code)]
trait AnyKind {
    const IS_FUSED: bool = true;
}

impl<B> AnyKind for Kind<B> {}

impl DeviceSupport for Remote {
    /// Boxes are on another machine, and reading them would wait for it.
    fn device_kind(_device: &Self::Device) -> DeviceKind {
        if Kind::<Remote>::IS_FUSED {
            DeviceKind::Unsupported
        } else {
            DeviceKind::Accelerator
        }
    }

    /// The server says no by itself, when the tensor is read.
    fn holds(_device: &Self::Device, _bytes: usize) -> bool {
        true
    }

    fn pools_dtype(device: &Self::Device, dtype: DType) -> bool {
        match dtype {
            // Every backend pools f32, so that a detector never waits for the server's answer.
            DType::F32 => true,
            DType::F64 | DType::F16 | DType::BF16 => server::pools(device, dtype),
            _ => false,
        }
    }
}
