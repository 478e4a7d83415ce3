//! The operators on another machine: what a server registers, and the check that a client makes of it.
//!
//! With the feature `remote`, the operators run on a device that Burn's `burn-remote` serves. A call sends one message,
//! and one more for each further level of a feature pyramid. Calls return at once: an error on the server appears when
//! a tensor is read. The server runs the kernels of its own backend, and the results have that backend's bits.
//!
//! A server registers the operators for its backend, beside any custom operations:
//!
//! ```no_run
//! use burn::backend::Flex;
//! use burn::server::{CustomOpRegistry, RemoteServer, WebSocketTransport};
//! use burn::tensor::Device;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut operations = CustomOpRegistry::<Flex>::new();
//! burn_roi::remote::register(&mut operations);
//!
//! // Listens on this machine only. `WebSocketTransport::new` listens on all interfaces, without a password.
//! let listener = std::net::TcpListener::bind("127.0.0.1:3000")?;
//! RemoteServer::new([Device::flex()])
//!     .with_custom_ops(operations)
//!     .serve(WebSocketTransport::from_listener(listener))?;
//! # Ok(())
//! # }
//! ```
//!
//! A client opens a device of the server, checks it once, and uses it like any other device:
//!
//! ```no_run
//! use burn::remote::RemoteHost;
//! use burn::tensor::{Device, Tensor};
//! use burn_roi::{RoiAlignConfig, Rois, remote, roi_align};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::remote_options(&RemoteHost::websocket("ws://127.0.0.1:3000")).init()?;
//! remote::check(&device)?;
//!
//! let features = Tensor::<4>::ones([1, 256, 50, 68], &device);
//! let boxes = Tensor::<2>::from_floats([[40.0, 40.0, 160.0, 200.0]], &device);
//! let pooled = roi_align(features, &Rois::from_images(vec![boxes]), RoiAlignConfig::new([7, 7]));
//! # let _ = pooled;
//! # Ok(())
//! # }
//! ```
//!
//! # Values
//!
//! The client does not check boxes, and the server does not refuse them. Whatever the server's backend is, the output
//! of a box that is not finite, or has an invalid batch index, is the out-of-bounds value, as on a GPU.
//! [`Rois::validate`](crate::Rois::validate) finds such boxes.
//!
//! # A client is not trusted
//!
//! The server checks the options, shapes and dtypes of a message, as the `try_` functions do. If it refuses a message,
//! the client's session ends when the output is used, and the server's log says why. Other sessions go on. Burn's
//! engine trusts its clients in other ways: one may allocate all memory, which ends every session, and it may make the
//! server connect to any address. WebSocket connections are not encrypted. A session is authenticated only if the
//! server has an authorizer, and a connection never is. So serve on an address that only trusted machines reach.
//!
//! # On failure
//!
//! - A server without the operators, or one that has refused a message, ends the session. The client's next read then
//!   fails with `RecvError(())`: `try_into_data` returns it as an error, and `into_data` panics. Before the first call,
//!   [`check`] returns an error that says what is wrong.
//! - Each client process has one session per device. After the session ends the device stays unusable, even if the
//!   server restarts. Use another device index, or another host name of the same server.
//! - If no server listens at the address, `init` returns an error after 16 seconds.
//! - With the feature `fusion`, Burn 0.22.1 caches graphs of calls on a remote device and can replay the wrong one. In
//!   such a build the operators return an error for a remote device.
//! - A cast of integers to another integer dtype ends the session with burn-router 0.22.1. Cast before you send.

mod host;
mod message;
mod options;
mod refused;
mod run;
mod tensors;
#[cfg(test)]
#[path = "../../tests/messages/mod.rs"]
mod tests;

use burn::backend::DispatchDevice;
use burn::server::CustomOpRegistry;
use burn::tensor::Device;
use burn_ir::BackendIr;

use crate::backend::remote::message::{ABOUT, Operation};
use crate::backend::remote::server;
use crate::backend::{RoiBackend, is_supported};
use crate::error::{RoiError, unsupported};
use crate::read_back::wait;

/// Registers the operators for a server whose devices belong to backend `B`: `Flex`, `NdArray` or `Cube`.
///
/// The registry keeps its other operations. All added names begin with `burn_roi.`. `B` must be the backend of the
/// server's devices, or the server does not start. All CubeCL runtimes are one backend, `burn::backend::Cube`.
pub fn register<B: RoiBackend + BackendIr>(registry: &mut CustomOpRegistry<B>) {
    for operation in Operation::ALL {
        registry.register(operation.id(), move |handles, message, _device| {
            run::run::<B>(operation, handles, message);
        });
    }
    registry.register(ABOUT, run::about::<B>);
}

/// Checks that the server of a remote device has this version's operators. It waits for the server's answer. For a
/// device that is not remote it returns `Ok`.
///
/// Call it before the first operator: a server without the operators ends the session. `check` caches the server's
/// dtypes per address and device index. Call it again after the server was replaced.
///
/// # Errors
///
/// [`RoiError::RemoteServer`]; [`RoiError::Backend`] in a build with `fusion`; [`RoiError::SynchronousRead`] in a
/// browser.
pub fn check(device: &Device) -> Result<(), RoiError> {
    wait("check", "check_async", check_async(device))
}

/// Async form of [`check`]. Use it in a browser, which cannot block.
///
/// # Errors
///
/// [`RoiError::RemoteServer`]; [`RoiError::Backend`] in a build with `fusion`.
pub async fn check_async(device: &Device) -> Result<(), RoiError> {
    let device = device.clone().inner();
    match device.as_dispatch() {
        DispatchDevice::Remote(_) if !is_supported(&device) => Err(unsupported("device", &device)),
        DispatchDevice::Remote(device) => server::ask(device).await.map(drop),
        #[allow(unreachable_patterns)]
        _ => Ok(()),
    }
}
